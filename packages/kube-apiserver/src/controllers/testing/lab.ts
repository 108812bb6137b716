import { virtualAmbient } from "@oaas/foundation/virtual";
import { isJsonObject, type JsonObject, type KubeObject } from "@oaas/kube-core";
import type { ClusterObjects, ObjectChange, ServedKind, ServerController } from "../cluster-objects.ts";
import { typed } from "../objects/cluster-view.ts";
import * as resources from "../objects/resources.ts";
import type { Condition, Pod } from "../objects/typed.ts";
import { ApiServer } from "../../server.ts";
import { builtInKinds } from "../../kinds/built-in/built-in-kinds.ts";
import { MemoryCluster } from "./memory-cluster.ts";

const CLUSTER_SCOPED = new Set(["clusterroles", "namespaces", "nodes", "persistentvolumes"]);

/** Every kind the controllers know. */
export const ALL_KINDS: readonly ServedKind[] = Object.values(resources)
  .filter((value): value is resources.Resource => typeof value === "object" && "resource" in value)
  .map(({ group, resource, kind }) => ({ group, resource, kind, isNamespaced: !CLUSTER_SCOPED.has(resource) }));

/** The server under the controllers: a small stand-in, or the embedded server. */
export const TEST_SERVERS = ["memory", "server"] as const;
export type TestServer = (typeof TEST_SERVERS)[number];

/** A cluster on virtual time, with the controllers started in it. */
export class Lab {
  readonly ambient: ReturnType<typeof virtualAmbient>;
  readonly time: Lab["ambient"]["time"];
  readonly problems: unknown[] = [];
  /** Every change, for timelines. */
  readonly history: ObjectChange[] = [];
  readonly #controllers: ServerController[] = [];
  #cluster: ClusterObjects | undefined;
  #counted = 0;

  private constructor(seed: number) {
    this.ambient = virtualAmbient(seed);
    this.time = this.ambient.time;
  }

  static async on(ground: TestServer, seed = 1): Promise<Lab> {
    const lab = new Lab(seed);
    const { time, ambient } = lab;
    if (ground === "memory") {
      lab.#cluster = new MemoryCluster(time, ambient.ids, ALL_KINDS);
    } else {
      const server = new ApiServer({ clock: time, timers: time, ids: ambient.ids, kinds: builtInKinds() });
      await server.start();
      lab.#cluster = server.objects;
      lab.#controllers.push({
        name: "server",
        start: () => undefined,
        stop: () => undefined,
        isIdle: () => server.isIdle(),
      });
      for (const kind of ALL_KINDS.filter(({ group }) => group.includes("knative"))) {
        const created = await server.objects.create(DEFINITIONS, definitionOf(kind), "tester");
        if (!created.ok) throw new Error(created.error.message);
        await lab.settle();
      }
    }
    lab.cluster.onChange((change) => void lab.history.push(change));
    return lab;
  }

  get cluster(): ClusterObjects {
    if (!this.#cluster) throw new Error("use Lab.on");
    return this.#cluster;
  }

  get ports(): {
    readonly objects: ClusterObjects;
    readonly clock: Lab["time"];
    readonly timers: Lab["time"];
    readonly onProblem: (problem: unknown) => void;
  } {
    return {
      objects: this.cluster,
      clock: this.time,
      timers: this.time,
      onProblem: (problem) => void this.problems.push(problem),
    };
  }

  async start(...controllers: readonly ServerController[]): Promise<void> {
    this.#controllers.push(...controllers);
    for (const controller of controllers) controller.start();
    await this.settle();
  }

  /** Runs everything that happens at once. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 100_000; turn += 1) {
      await Promise.resolve();
      if (turn > 100 && this.#controllers.every((controller) => controller.isIdle())) return;
    }
    throw new Error("the controllers do not become idle");
  }

  /** Advances time with everything that happens in between. Long times are advanced in larger steps. */
  async pass(ms: number): Promise<void> {
    const end = this.time.monotonic() + ms;
    await this.settle();
    while (this.time.monotonic() < end) {
      const remaining = end - this.time.monotonic();
      await this.time.advance(this.time.pendingTimers === 0 ? remaining : Math.min(remaining, Math.max(50, ms / 1000)));
      await this.settle();
    }
  }

  async create(kind: resources.Resource, object: object): Promise<JsonObject> {
    const created = await this.cluster.create(
      kind,
      {
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        ...object,
      },
      "tester",
    );
    if (!created.ok) throw new Error(created.error.message ?? "refused");
    await this.settle();
    return created.value;
  }

  async change(kind: resources.Resource, name: string, change: (object: JsonObject) => object): Promise<void> {
    const object = this.object(kind, name);
    const result = await this.cluster.update(kind, change(object) as JsonObject, "tester");
    if (!result.ok) throw new Error(result.error.message ?? "refused");
    await this.settle();
  }

  object(kind: resources.Resource, name: string): JsonObject {
    const isPlain = CLUSTER_SCOPED.has(kind.resource);
    const found = this.cluster.get(kind, isPlain ? { name } : { namespace: "default", name });
    if (!found) throw new Error(`there is no ${kind.kind} ${name}`);
    return found;
  }

  /** `reason: message (×count)` of every Event, in creation order. */
  events(filter: (event: EventObject) => boolean = () => true): string[] {
    return this.cluster
      .list(resources.EVENTS)
      .map((event) => event as unknown as EventObject)
      .filter(filter)
      .sort((a, b) => (order(a) < order(b) ? -1 : 1))
      .map(
        ({ type, reason, message, count }) => `${type} ${reason}: ${message}${(count ?? 1) > 1 ? ` (×${count})` : ""}`,
      );
  }

  pods(): readonly Pod[] {
    return this.cluster.list(resources.PODS).map((pod) => typed<Pod>(pod));
  }

  /** Writes since the last call. */
  written(): number {
    const since = this.history.length - this.#counted;
    this.#counted = this.history.length;
    return since;
  }
}

const DEFINITIONS = { group: "apiextensions.k8s.io", resource: "customresourcedefinitions" };

/** As permissive as Knative's definitions. */
function definitionOf({ group, resource, kind }: ServedKind): JsonObject {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${resource}.${group}` },
    spec: {
      group,
      names: { kind, plural: resource, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, schema, subresources: { status: {} } }],
    },
  };
}

export interface EventObject extends KubeObject {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count?: number;
  readonly involvedObject: { readonly kind: string; readonly name: string };
}

function order(event: EventObject): string {
  return event.metadata.name?.split(".").at(-1)?.padStart(20, "0") ?? "";
}

/** `Type=Status(Reason)` of each condition. */
export function conditionsText(object: JsonObject): string {
  const status = object["status"];
  const conditions =
    isJsonObject(status) && Array.isArray(status["conditions"]) ? (status["conditions"] as unknown as Condition[]) : [];
  return conditions
    .map(({ type, status: is, reason }) => `${type}=${is}${reason === undefined ? "" : `(${reason})`}`)
    .join(" ");
}

export const template = (image = "example.test/web:1", labels = { app: "web" }): object => ({
  metadata: { labels },
  spec: { containers: [{ name: "web", image }] },
});

export const deployment = (name = "web", spec: object = {}): object => ({
  metadata: { name, namespace: "default" },
  spec: {
    replicas: 3,
    progressDeadlineSeconds: 600,
    selector: { matchLabels: { app: name } },
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
    template: template("example.test/web:1", { app: name }),
    ...spec,
  },
});
