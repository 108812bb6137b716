import { keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import type { InformerPool, InformerView, KubeClient } from "@oaas/kube-runtime";
import type { EventObject, Node, Pod, Workload } from "../../lifecycle/observation/observed-objects.ts";
import { toObservedEvent, type ObservedEvent } from "../../lifecycle/observation/observed-event.ts";
import { FUNCTION_CONTAINER, OWNER_LABEL } from "../../templates/index.ts";
import { CORE_EVENTS, NODES, PODS, REPLICA_SETS } from "../kinds/resource-types.ts";

/**
 * Reads the objects that explain why a class is not ready: pods, ReplicaSets and nodes from caches, events from the
 * server on demand.
 */
export class PodView {
  readonly #client: KubeClient;
  readonly #pods: InformerView<Pod, "owner">;
  readonly #sets: InformerView<Workload, "owner">;
  readonly #nodes: InformerView<Node>;

  constructor(client: KubeClient, pool: InformerPool, namespaces: readonly string[] | undefined) {
    const owned = { labelSelector: OWNER_LABEL };
    const byOwnerLabel = ({ metadata }: Stored<KubeObject>): string[] => [
      `${metadata.namespace ?? ""}/${metadata.labels?.[OWNER_LABEL] ?? ""}`,
    ];
    const indexes = { owner: byOwnerLabel };
    this.#client = client;
    // Optional: without them a class runs, but its status explains less.
    const isOptional = true;
    this.#pods = pool.view(PODS, namespaces, owned, { indexes, trim: slimPod, isOptional });
    this.#sets = pool.view(REPLICA_SETS, namespaces, owned, { indexes, trim: slimSet, isOptional });
    this.#nodes = pool.informer(NODES, {}, { trim: slimNode, isOptional });
  }

  get informers() {
    return { pods: this.#pods, sets: this.#sets };
  }

  /** Whether `podsOf` returns all pods; it returns none without read permission. */
  get arePodsKnown(): boolean {
    return this.#pods.isSynced;
  }

  podsOf(namespace: string, ownerLabel: string): readonly Pod[] {
    return this.#pods.cache.byIndex("owner", `${namespace}/${ownerLabel}`);
  }

  /** The address of a pod; undefined until it has one. */
  ipOf(pod: ObjectKey): string | undefined {
    return this.#pods.get(pod)?.status?.podIP;
  }

  replicaSetsOf(namespace: string, ownerLabel: string): readonly Workload[] {
    return this.#sets.cache.byIndex("owner", `${namespace}/${ownerLabel}`);
  }

  nodesOf(pods: readonly Pod[]): readonly Node[] {
    const names = new Set(pods.map((pod) => pod.spec?.nodeName).filter((name) => name !== undefined));
    return [...names].flatMap((name) => this.#nodes.get({ namespace: "", name }) ?? []);
  }

  /** All nodes; undefined without read permission, as in installations for single namespaces. */
  get nodes(): Iterable<Stored<Node>> | undefined {
    return this.#nodes.isSynced ? this.#nodes.cache.list() : undefined;
  }

  /** Lists the Warning events of these objects from the server. Events are too many to cache and rarely needed. */
  async listWarnings(
    namespace: string,
    objects: readonly KubeObject[],
    signal: AbortSignal,
  ): Promise<readonly ObservedEvent[]> {
    const names = new Set(objects.map((object) => keyOf(object).name));
    const page = await this.#client
      .resource(CORE_EVENTS)
      .list({ namespace, fieldSelector: "type=Warning", limit: 500 }, { signal });
    return page.items
      .filter((event: EventObject) => names.has(event.involvedObject?.name ?? ""))
      .map((event) => toObservedEvent(event));
  }
}

function slimPod({ apiVersion, kind, metadata, spec, status }: Stored<Pod>): Stored<Pod> {
  const { name, namespace, uid, resourceVersion, labels, ownerReferences, creationTimestamp, deletionTimestamp } =
    metadata;
  // Of the managers only those that resized the pod, without their fields.
  const resizers = metadata.managedFields?.filter(({ subresource }) => subresource === "resize");
  const managedFields = resizers?.length
    ? resizers.map(({ manager, subresource }) => ({ manager, subresource }))
    : undefined;
  const slim = {
    name,
    namespace,
    uid,
    resourceVersion,
    labels,
    ownerReferences,
    creationTimestamp,
    deletionTimestamp,
    managedFields,
  };
  const containers = spec?.containers
    ?.filter((container) => container.name === FUNCTION_CONTAINER)
    .map((container) => ({ name: container.name, resources: container.resources }));
  const kept = {
    nodeName: spec?.nodeName,
    restartPolicy: spec?.restartPolicy,
    readinessGates: spec?.readinessGates,
    containers,
  };
  return prune({ apiVersion, kind, metadata: slim, spec: kept, status }) as Stored<Pod>;
}

function slimSet({ apiVersion, kind, metadata, status }: Stored<Workload>): Stored<Workload> {
  const { managedFields: _, ...rest } = metadata;
  return prune({ apiVersion, kind, metadata: rest, status }) as Stored<Workload>;
}

function slimNode({ apiVersion, kind, metadata, spec, status }: Stored<Node>): Stored<Node> {
  const { name, uid, resourceVersion, labels } = metadata;
  const kept = { unschedulable: spec?.unschedulable };
  const { conditions, allocatable } = status ?? {};
  const slim = {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion, labels },
    spec: kept,
    status: { conditions, allocatable },
  };
  return prune(slim) as Stored<Node>;
}

/** Removes undefined members. */
function prune(value: object): object {
  return JSON.parse(JSON.stringify(value)) as object;
}
