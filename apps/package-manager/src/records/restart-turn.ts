import type { ClusterName, RestartTurn, UnitId } from "@oaas/models";

/**
 * The restart of one node of a state store with members in several clusters.
 *
 * There is at most one record per deployment. It is stored before the turn is granted and deleted when the turn is over, so
 * that no crash leaves two nodes restarting.
 */
export interface RestartTurnRecord {
  /** The same in each repeated call: the class runtime manager grants it once. */
  readonly id: string;
  /** See `ownerOf`. */
  readonly owner: string;
  readonly cluster: ClusterName;
  readonly unitId: UnitId;
  readonly namespace?: string;
  readonly nodeId: number;
  readonly since: string;
  /** The last response of the class runtime manager; absent while no call was answered. */
  readonly answer?: {
    /** False when the node needs no restart any more: the manager does not use the turn from then on. */
    readonly accepted: boolean;
    readonly atMs: number;
  };
}

/** The turn in the form of the API. */
export function restartTurn({ id, cluster, nodeId, since }: RestartTurnRecord): RestartTurn {
  return { id, cluster, nodeId, since };
}
