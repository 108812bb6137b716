import { virtualAmbient } from "@oaas/foundation/virtual";
import { isJsonObject, type JsonObject, type KubeObject } from "@oaas/kube-core";
import type { ServedKind, ServerController } from "../cluster-objects.ts";
import { typed } from "../objects/cluster-view.ts";
import * as resources from "../objects/resources.ts";
import type { Condition, Pod } from "../objects/typed.ts";
import { MemoryCluster } from "./memory-cluster.ts";

const CLUSTER_SCOPED = new Set(["namespaces", "nodes", "persistentvolumes"]);

/** Every kind the controllers know. */
export const ALL_KINDS: readonly ServedKind[] = Object.values(resources)
  .filter((value): value is resources.Resource => typeof value === "object" && "resource" in value)
  .map(({ group, resource, kind }) => ({ group, resource, kind, isNamespaced: !CLUSTER_SCOPED.has(resource) }));

/** A cluster in memory on virtual time, and the controllers one starts in it. */
export class Lab {
  readonly ambient = virtualAmbient(1);
  readonly time = this.ambient.time;
  readonly cluster: MemoryCluster;
  readonly #controllers: ServerController[] = [];
  readonly problems: unknown[] = [];

  constructor(kinds: readonly ServedKind[] = ALL_KINDS) {
    this.cluster = new MemoryCluster(this.time, this.ambient.ids, kinds);
  }

  get ports(): {
    readonly objects: MemoryCluster;
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

  /** Lets everything happen that happens at once. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 100_000; turn += 1) {
      await Promise.resolve();
      if (turn > 100 && this.#controllers.every((controller) => controller.isIdle())) return;
    }
    throw new Error("the controllers do not come to rest");
  }

  /** Lets time pass, with all that happens meanwhile. Long times pass in longer strides: what is rare needs no fine clock. */
  async pass(ms: number): Promise<void> {
    const end = this.time.monotonic() + ms;
    await this.settle();
    while (this.time.monotonic() < end) {
      const left = end - this.time.monotonic();
      await this.time.advance(this.time.pendingTimers === 0 ? left : Math.min(left, Math.max(50, ms / 1000)));
      await this.settle();
    }
  }

  async create(kind: resources.Resource, object: object): Promise<JsonObject> {
    const made = await this.cluster.create(kind, {
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      ...object,
    });
    if (!made.ok) throw new Error(made.error.message ?? "refused");
    await this.settle();
    return made.value;
  }

  async change(kind: resources.Resource, name: string, change: (object: JsonObject) => object): Promise<void> {
    const object = this.object(kind, name);
    const result = await this.cluster.update(kind, change(object) as JsonObject);
    if (!result.ok) throw new Error(result.error.message ?? "refused");
    await this.settle();
  }

  object(kind: resources.Resource, name: string): JsonObject {
    const isPlain = CLUSTER_SCOPED.has(kind.resource);
    const found = this.cluster.get(kind, isPlain ? { name } : { namespace: "default", name });
    if (!found) throw new Error(`there is no ${kind.kind} ${name}`);
    return found;
  }

  /** `reason: message (×count)` of every Event, in the order of their making. */
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
    const { create, update, status, delete: deleted } = this.cluster.writes;
    const sum = create + update + status + deleted;
    const since = sum - this.#counted;
    this.#counted = sum;
    return since;
  }

  #counted = 0;
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
