import type { ClassRuntime, ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { KubeObject, ObjectKey, Stored } from "@oaas/kube-core";
import type { OdgmReading } from "../lifecycle/observation/observation.ts";
import { odgmNames } from "../rendering/plan/names.ts";
import { lastReading } from "./verdict.ts";

/** The state store of a class, from its status: endpoints to query and expected partitions. */
export interface Grid {
  readonly uid: string;
  readonly key: ObjectKey;
  /** Service of all nodes. */
  readonly service: string;
  /** Headless Service of the nodes. */
  readonly nodesService: string;
  readonly port: number;
  /** Nodes in this cluster. */
  readonly nodes: number;
  /** Whether other clusters have nodes too; then partitions may be served elsewhere. */
  readonly isShared: boolean;
  readonly collections: readonly { readonly name: string; readonly partitions: number; readonly replicas: number }[];
  /** The node that a shard is assigned to, by shard id; empty without planned assignments. */
  readonly nodeOfShard: ReadonlyMap<number, number>;
  /** The last reading in the status. */
  readonly lastReading: OdgmReading | undefined;
}

/**
 * The state store to query; undefined when the class has none, when it is not available, or when the class is being
 * deleted.
 */
export function gridOf(
  { metadata }: Stored<KubeObject>,
  status: ClassRuntimeStatus | undefined,
  spec: Pick<ClassRuntime["spec"], "odgm_config"> | undefined,
): Grid | undefined {
  const odgm = status?.odgm_cluster_status;
  const { namespace, uid, deletionTimestamp } = metadata;
  if (!odgm?.service || !odgm.ready_replicas || !namespace || deletionTimestamp !== undefined) return undefined;
  const [host = "", port = ""] = odgm.service.split(":");
  const nodes = odgm.desired_replicas ?? 1;
  const everywhere = new Set(Object.values(spec?.odgm_config?.env_node_ids ?? {}).flat());
  const isShared = everywhere.size > nodes;
  return {
    uid,
    key: { namespace, name: metadata.name },
    service: `${host.split(".")[0] ?? ""}.${namespace}`,
    nodesService: `${odgmNames(metadata.name).pods}.${namespace}`,
    port: Number(port) || 80,
    nodes,
    isShared,
    lastReading: lastReading(odgm, isShared),
    collections: (odgm.collections_status ?? []).map(
      ({ name, partition_count: partitions = 0, replica_count: replicas = 1 }) => ({ name, partitions, replicas }),
    ),
    nodeOfShard: nodesOfShards(spec?.odgm_config),
  };
}

function nodesOfShards(config: ClassRuntime["spec"]["odgm_config"]): ReadonlyMap<number, number> {
  const assignments = Object.values(config?.collection_assignments ?? {}).flat();
  return new Map(
    assignments.flatMap(({ replica = [], shard_ids: ids = [] }) =>
      ids.flatMap((id, index) => {
        const node = replica[index];
        return node === undefined ? [] : [[id, node] as const];
      }),
    ),
  );
}
