import type { KubeObject, ObjectRef } from "@oaas/kube-core";
import type { Expected, ExpectedFunction, Observation, OdgmReading, Problem } from "../observation/observation.ts";
import { toObservedEvent } from "../observation/observed-event.ts";
import type { EventObject, Node, Pod, Workload } from "../observation/observed-objects.ts";

/** Kinds by their short names in scenarios. */
const KINDS: Readonly<Record<string, readonly [apiVersion: string, kind: string]>> = {
  deployment: ["apps/v1", "Deployment"],
  statefulset: ["apps/v1", "StatefulSet"],
  daemonset: ["apps/v1", "DaemonSet"],
  job: ["batch/v1", "Job"],
  knative: ["serving.knative.dev/v1", "Service"],
  service: ["v1", "Service"],
  configmap: ["v1", "ConfigMap"],
  pod: ["v1", "Pod"],
  scaledobject: ["keda.sh/v1alpha1", "ScaledObject"],
};

const START_MS = Date.parse("2026-01-01T00:00:00Z");

/** `deployment/order` as a reference. */
export function refFrom(word: string): ObjectRef {
  const [short = "", name = ""] = word.split("/");
  const found = KINDS[short];
  if (found === undefined) throw new Error(`unknown kind: ${word}`);
  return { apiVersion: found[0], kind: found[1], name };
}

/** A class and its cluster, changed step by step. */
export class SimulatedCluster {
  nowMs = START_MS;
  generation = 1;
  deleting = false;
  template: Expected["template"] | undefined = { name: "dev", basis: "score" };
  telemetry: Expected["telemetry"];
  monitoring: Expected["monitoring"];
  reading: OdgmReading | undefined;
  problems: Problem[] = [];
  odgm: Expected["odgm"];
  readonly functions = new Map<string, ExpectedFunction>();
  readonly objects = new Map<string, Workload>();
  readonly replicaSets = new Map<string, Workload>();
  readonly pods = new Map<string, Pod>();
  readonly nodes = new Map<string, Node>();
  readonly events: EventObject[] = [];
  #uids = 0;

  get now(): string {
    return new Date(this.nowMs).toISOString();
  }

  /** Time since the start, as scenarios print it. */
  since(moment: string | undefined): string {
    return moment === undefined ? "?" : `+${(Date.parse(moment) - START_MS) / 1000}s`;
  }

  addFunction(
    key: string,
    workload: ObjectRef | undefined,
    runtime: ExpectedFunction["runtime"],
    replicas = 1,
    replicasOwner?: string,
  ): void {
    const service = workload?.name ?? "";
    this.functions.set(key, {
      functionKey: key,
      runtime,
      workload,
      service: workload?.kind === "Service" ? "" : service,
      port: runtime === "workload" ? 80 : 0,
      predictedUrl:
        runtime === "workload" ? `http://${service}.shop.svc:80` : runtime === "odgm" ? `wasm://${key}` : "",
      replicas,
      replicasOwner,
    });
  }

  /** Creates all desired children that do not exist yet. */
  applyAll(): void {
    for (const child of this.#wantedChildren()) {
      const key = `${child.apiVersion}/${child.kind}/${child.metadata.name}`;
      if (!this.objects.has(key)) this.objects.set(key, this.#created(child));
    }
  }

  /** Changes one object of the cluster. */
  change(ref: ObjectRef, with_: (object: Workload) => Workload): void {
    const key = `${ref.apiVersion}/${ref.kind}/${ref.name}`;
    const object = this.objects.get(key);
    if (object === undefined) throw new Error(`${ref.kind} ${ref.name} does not exist`);
    this.objects.set(key, with_(object));
  }

  remove(ref: ObjectRef): void {
    if (ref.kind === "Pod") this.pods.delete(ref.name);
    else this.objects.delete(`${ref.apiVersion}/${ref.kind}/${ref.name}`);
  }

  addPod(
    name: string,
    of: ObjectRef,
    status: Pod["status"],
    more: { node?: string; replicaSet?: string; revision?: string } = {},
  ): void {
    const labels: Record<string, string> = of.apiVersion.startsWith("serving")
      ? {
          "serving.knative.dev/service": of.name,
          ...(more.revision === undefined ? {} : { "serving.knative.dev/revision": more.revision }),
        }
      : { app: of.name };
    const created = this.pods.get(name)?.metadata.creationTimestamp ?? this.now;
    this.pods.set(name, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name,
        namespace: "shop",
        uid: `uid-${name}`,
        labels,
        creationTimestamp: created,
        ...(more.replicaSet === undefined
          ? {}
          : {
              ownerReferences: [
                { apiVersion: "apps/v1", kind: "ReplicaSet", name: more.replicaSet, uid: more.replicaSet },
              ],
            }),
      },
      spec: more.node === undefined ? {} : { nodeName: more.node },
      ...(status === undefined ? {} : { status }),
    });
  }

  observation(): Observation {
    const expected =
      this.template === undefined
        ? undefined
        : {
            template: this.template,
            children: this.#wantedChildren(),
            functions: [...this.functions.values()],
            odgm: this.odgm,
            telemetry: this.telemetry,
            monitoring: this.monitoring,
          };
    return {
      subject: {
        apiVersion: "oaas.io/v1alpha1",
        kind: "ClassRuntime",
        namespace: "shop",
        name: "order",
        uid: "uid-order",
      },
      generation: this.generation,
      deleting: this.deleting,
      expected: this.deleting ? undefined : expected,
      problems: this.problems,
      children: [...this.objects.values()],
      pods: [...this.pods.values()],
      arePodsKnown: true,
      replicaSets: [...this.replicaSets.values()],
      nodes: [...this.nodes.values()],
      events: this.events.map(toObservedEvent),
      odgmReading: this.reading,
    };
  }

  #wantedChildren(): KubeObject[] {
    const make = ({ apiVersion, kind, name }: ObjectRef, spec?: Workload["spec"]): Workload => ({
      apiVersion,
      kind,
      metadata: { name, namespace: "shop" },
      ...(spec === undefined ? {} : { spec }),
    });
    const runs = ({ name }: ObjectRef, replicas: number): Workload["spec"] => ({
      replicas,
      selector: { matchLabels: { app: name } },
    });
    const functions = [...this.functions.values()].flatMap(({ workload, service, replicas = 1 }) =>
      workload === undefined
        ? []
        : [
            make(workload, runs(workload, replicas)),
            ...(service === "" ? [] : [make({ apiVersion: "v1", kind: "Service", name: service })]),
          ],
    );
    if (this.odgm === undefined) return functions;
    const { workloads, replicas } = this.odgm;
    return [
      ...workloads.flatMap((workload) => [
        make(workload, runs(workload, replicas / workloads.length)),
        make({ apiVersion: "v1", kind: "Service", name: `${workload.name}-svc` }),
      ]),
      ...functions,
    ];
  }

  #created(child: KubeObject): Workload {
    this.#uids += 1;
    const metadata = { ...child.metadata, uid: `uid-${this.#uids}`, generation: 1, creationTimestamp: this.now };
    return { ...child, metadata };
  }
}
