import type { OdgmStatus, StateStoreRestart } from "@oaas/contracts/grpc";
import { omitUndefined } from "@oaas/contracts/rest";
import { StoreRestartState, type StateStoreStatus, type StoreRestart } from "@oaas/models";
import { nonEmpty } from "./non-empty.ts";

/** The part of a state store that runs in one cluster. Managers of earlier releases report fields up to 10. */
export function stateStoreFromWire(odgm: OdgmStatus): StateStoreStatus {
  return omitUndefined({
    ready: odgm.ready,
    desiredReplicas: odgm.desiredReplicas,
    readyReplicas: odgm.readyReplicas,
    shardType: nonEmpty(odgm.shardType),
    writable: odgm.writable,
    missingShards: odgm.missingShards.map(({ nodeId, collection, partition }) => ({
      nodeId: Number(nodeId),
      collection,
      partition,
    })),
    restart: odgm.restart && restartFromWire(odgm.restart),
    reason: nonEmpty(odgm.reason),
    message: nonEmpty(odgm.message),
  });
}

const STATES: Readonly<Record<string, StoreRestartState>> = {
  Pending: StoreRestartState.pending,
  Refused: StoreRestartState.refused,
  WaitingForTurn: StoreRestartState.waitingForTurn,
  Restarting: StoreRestartState.restarting,
};

/** An unknown state of a newer manager counts as restarting: no other node gets a turn meanwhile. */
function restartFromWire({ state, reason, message, nodes }: StateStoreRestart): StoreRestart {
  return {
    state: STATES[state] ?? StoreRestartState.restarting,
    reason,
    message,
    nodes: nodes.map(Number).toSorted((a, b) => a - b),
  };
}
