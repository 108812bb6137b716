import { randomInt, timestamp } from "@oaas/foundation";
import { hashJson } from "@oaas/foundation/hash";
import type { KubeObject, Stored } from "@oaas/kube-core";
import type { StoreNode } from "@oaas/test-store";
import type { Manifest } from "../../../apps/class-runtime-manager/src/rendering/model/rendered.ts";
import type { Pod } from "../../../apps/class-runtime-manager/src/lifecycle/observation/observed-objects.ts";
import { resolveEnvironment, type StorePod } from "../../../packages/test-store/src/runner/pod-environment.ts";
import type { World } from "./world.ts";

export const NAMESPACE = "shop";
const STORE_CONTAINER = "odgm";
/** A pod that is deleted keeps running for this time: the store ignores SIGTERM. */
const GRACE_MS = 5_000;
const MAX_CREATE_MS = 2_000;
const MAX_START_MS = 3_000;
const MAX_BACKOFF_MS = 4_000;

/** How a node answers the class runtime manager. */
export type Answering = "well" | "slowly" | "wrongly";

/** A pod of the state store, and the node that runs in it. */
export interface SimPod {
  readonly workload: string;
  readonly index: number;
  readonly template: StoreTemplate;
  readonly revision: string;
  readonly name: string;
  readonly uid: string;
  readonly createdAtMs: number;
  startedAtMs: number | undefined;
  deletedAtMs: number | undefined;
  restarts: number;
  node: StoreNode | undefined;
  shardsCondition: { readonly status: "True" | "False"; readonly lastTransitionTime: string } | undefined;
  answering: Answering;
}

interface StoreTemplate {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: NonNullable<StorePod["spec"]> & {
    readonly readinessGates?: readonly { readonly conditionType: string }[];
  };
}

type StatefulSet = Manifest & {
  readonly spec: { readonly replicas: number; readonly template: StoreTemplate };
  readonly status: { readonly updateRevision: string; readonly observedGeneration: number };
};

type ConfigMap = Manifest & { readonly data: Readonly<Record<string, string>> };

/** The Kubernetes objects of one class in one cluster: ConfigMap, StatefulSets with OnDelete, and their pods. */
export class SimCluster {
  readonly name: string;
  readonly #world: World;
  readonly #children = new Map<string, Stored<KubeObject>>();
  readonly pods = new Map<string, SimPod>();
  /** Grows with each change of a child or a pod. */
  version = 0;
  #generation = 0;
  #uids = 0;

  constructor(name: string, world: World) {
    this.name = name;
    this.#world = world;
  }

  get children(): readonly KubeObject[] {
    return [...this.#children.values()];
  }

  child(kind: string, name: string): KubeObject | undefined {
    return this.#children.get(`${kind}/${name}`);
  }

  /** Applies the rendered objects of the state store, and deletes those that are not rendered any more. */
  apply(manifests: readonly Manifest[], kept: ReadonlySet<string>): void {
    const names = new Set([...kept, ...manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`)]);
    for (const manifest of manifests) this.#put(manifest);
    for (const key of this.#children.keys()) if (!names.has(key)) this.#delete(key);
    this.#reconcileSets();
  }

  #put(manifest: Manifest): void {
    const key = `${manifest.kind}/${manifest.metadata.name}`;
    const digest = digestOf(manifest);
    const before = this.#children.get(key);
    if (before?.metadata.annotations?.["sim/digest"] === digest) return;
    const metadata = {
      ...manifest.metadata,
      annotations: { "sim/digest": digest },
      uid: before?.metadata.uid ?? `${this.name}-${key}`,
      resourceVersion: String((this.#generation += 1)),
      generation: this.#generation,
      creationTimestamp: before?.metadata.creationTimestamp ?? timestamp(this.#world.now),
    };
    this.version += 1;
    const template = (manifest as Partial<StatefulSet>).spec?.template;
    const status =
      manifest.kind === "StatefulSet"
        ? { status: { updateRevision: hashJson(template).slice(0, 10), observedGeneration: this.#generation } }
        : {};
    this.#children.set(key, { ...manifest, metadata, ...status } as unknown as Stored<KubeObject>);
  }

  #delete(key: string): void {
    this.#children.delete(key);
    for (const pod of this.pods.values()) if (key === `StatefulSet/${pod.workload}`) this.delete(pod.name, pod.uid);
  }

  #sets(): readonly StatefulSet[] {
    return this.children.filter((child): child is StatefulSet => child.kind === "StatefulSet");
  }

  /** Kubernetes removes pods above the number of replicas, and creates the missing ones. */
  #reconcileSets(): void {
    for (const set of this.#sets()) {
      const name = set.metadata.name ?? "";
      for (const pod of this.pods.values()) {
        if (pod.workload === name && pod.index >= set.spec.replicas) this.delete(pod.name, pod.uid);
      }
      for (let index = 0; index < set.spec.replicas; index += 1) {
        if (!this.pods.has(`${name}-${index}`)) this.#create(set, index);
      }
    }
  }

  #create(set: StatefulSet, index: number): void {
    const workload = set.metadata.name ?? "";
    const pod: SimPod = {
      workload,
      index,
      template: set.spec.template,
      revision: set.status.updateRevision,
      name: `${workload}-${index}`,
      uid: `${this.name}-${(this.#uids += 1)}`,
      createdAtMs: this.#world.now,
      startedAtMs: undefined,
      deletedAtMs: undefined,
      restarts: 0,
      node: undefined,
      shardsCondition: undefined,
      answering: "well",
    };
    this.pods.set(pod.name, pod);
    this.#startLater(pod, this.#draw(MAX_START_MS));
  }

  #startLater(pod: SimPod, delayMs: number): void {
    this.#world.after(delayMs, () => void this.#start(pod));
  }

  async #start(pod: SimPod): Promise<void> {
    if (this.pods.get(pod.name) !== pod || pod.node !== undefined || pod.deletedAtMs !== undefined) return;
    const container = pod.template.spec.containers?.find(({ name }) => name === STORE_CONTAINER);
    if (container === undefined) throw new TypeError(`${pod.name} has no container of a state store`);
    const env = await resolveEnvironment(this.#object(pod), container, async (name) => {
      return (this.child("ConfigMap", name) as ConfigMap | undefined)?.data;
    });
    pod.node = this.#world.network.start(env, { name: `${this.name}/${pod.name}`, cluster: this.name });
    pod.startedAtMs = this.#world.now;
    this.#world.trace(`${this.name}: ${pod.name} (${pod.uid}) starts as node ${pod.node.id}`);
    this.#world.changed();
  }

  /** Deletes a pod, unless another one has taken its name. */
  delete(name: string, uid: string): boolean {
    const pod = this.pods.get(name);
    if (pod?.uid !== uid || pod.deletedAtMs !== undefined) return false;
    this.#world.trace(`${this.name}: ${name} (${uid}) is deleted`);
    this.#world.obligations.losesMemory(pod.node, "planned");
    pod.deletedAtMs = this.#world.now;
    pod.node?.signal("SIGTERM");
    this.#world.after(GRACE_MS, () => this.#end(pod));
    return true;
  }

  #end(pod: SimPod): void {
    pod.node?.kill();
    pod.node = undefined;
    if (this.pods.get(pod.name) === pod) this.pods.delete(pod.name);
    this.#world.after(this.#draw(MAX_CREATE_MS), () => {
      this.#reconcileSets();
      this.#world.changed();
    });
    this.#world.changed();
  }

  /** The container dies, and the kubelet starts it again in the same pod. */
  crash(pod: SimPod): void {
    if (pod.node === undefined) return;
    this.#world.trace(`${this.name}: ${pod.name} (${pod.uid}) crashes`);
    this.#world.obligations.losesMemory(pod.node, "fault");
    pod.node.kill();
    pod.node = undefined;
    pod.startedAtMs = undefined;
    pod.restarts += 1;
    if (pod.deletedAtMs === undefined) this.#startLater(pod, this.#draw(MAX_BACKOFF_MS));
    this.#world.changed();
  }

  /** The node of the cluster is lost with the pod. */
  evict(pod: SimPod): void {
    this.#world.trace(`${this.name}: ${pod.name} (${pod.uid}) is evicted`);
    this.#world.obligations.losesMemory(pod.node, "fault");
    pod.deletedAtMs ??= this.#world.now;
    this.#end(pod);
  }

  podObjects(): readonly Pod[] {
    return [...this.pods.values()].map((pod) => this.#object(pod));
  }

  isReady(pod: SimPod): boolean {
    const hasGate = pod.template.spec.readinessGates !== undefined;
    return (
      pod.node !== undefined && pod.deletedAtMs === undefined && (!hasGate || pod.shardsCondition?.status === "True")
    );
  }

  /** Pods as the API server shows them; it truncates times to seconds. */
  #object(pod: SimPod): Pod {
    const { name, uid, startedAtMs, deletedAtMs, shardsCondition } = pod;
    const state = startedAtMs === undefined ? {} : { running: { startedAt: seconds(startedAtMs) } };
    const conditions = shardsCondition === undefined ? [] : [{ type: "oaas.io/shards", ...shardsCondition }];
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name,
        namespace: NAMESPACE,
        uid,
        creationTimestamp: seconds(pod.createdAtMs),
        ...(deletedAtMs === undefined ? {} : { deletionTimestamp: seconds(deletedAtMs) }),
        labels: {
          ...pod.template.metadata?.labels,
          "controller-revision-hash": pod.revision,
          "apps.kubernetes.io/pod-index": String(pod.index),
        },
      },
      spec: pod.template.spec,
      status: {
        phase: startedAtMs === undefined ? "Pending" : "Running",
        podIP: "10.0.0.1",
        conditions,
        containerStatuses: [{ name: STORE_CONTAINER, restartCount: pod.restarts, state }],
      },
    };
  }

  #draw(maxMs: number): number {
    return randomInt(this.#world.random, maxMs);
  }
}

const digests = new WeakMap<object, string>();

function digestOf(manifest: Manifest): string {
  let digest = digests.get(manifest);
  if (digest === undefined) digests.set(manifest, (digest = hashJson(manifest)));
  return digest;
}

function seconds(ms: number): string {
  return timestamp(Math.floor(ms / 1000) * 1000);
}
