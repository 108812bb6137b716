import type { ClassRuntime, ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { KubeObject, ObjectKey, Stored } from "@oaas/kube-core";
import type { OdgmReading } from "../lifecycle/observation/observation.ts";
import { odgmNames } from "../rendering/plan/names.ts";
import { lastReading } from "./verdict.ts";

/** A class's state store as its status describes it: what there is to ask, and what it should answer. */
export interface Grid {
  readonly uid: string;
  readonly key: ObjectKey;
  /** The Service in front of all nodes. */
  readonly service: string;
  /** The Service behind which each node has an address of its own. */
  readonly nodesService: string;
  readonly port: number;
  /** Nodes in this cluster. */
  readonly nodes: number;
  /** Other clusters hold nodes too, so that a partition need not be served here. */
  readonly isShared: boolean;
  readonly collections: readonly { readonly name: string; readonly partitions: number }[];
  /** What it had said when the status was written. */
  readonly lastReading: OdgmReading | undefined;
}

/** The state store that can be asked; undefined while the class has none, or none that is up, or is going away. */
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
    collections: (odgm.collections_status ?? []).map(({ name, partition_count: partitions = 0 }) => ({
      name,
      partitions,
    })),
  };
}
