import type { GrantRestartRequest } from "@oaas/contracts/grpc";
import { invalidArgument, type Clock } from "@oaas/foundation";
import type { KubeObject } from "@oaas/kube-core";
import type { StoredClass } from "../../classes/ports.ts";
import type { Pod } from "../../lifecycle/observation/observed-objects.ts";
import {
  answerTurn,
  formatRestartRecord,
  parseRestartRecord,
  RESTARTS_ANNOTATION,
} from "../../state-store/restart-record.ts";
import { isRunning, readRunningStore } from "../../state-store/running-store.ts";
import { ownerLabelValue } from "../../templates/index.ts";

/** Dependencies of turns. */
export interface GrantRestartDeps {
  readonly clock: Clock;
  /** The objects with the owner reference of a class, from the cache. */
  readonly childrenOf: (uid: string) => readonly KubeObject[];
  readonly podsOf: (namespace: string, ownerLabel: string) => readonly Pod[];
  /** Sets or removes an annotation of this version of a class. Throws a conflict fault if it changed since. */
  readonly annotate: (object: StoredClass, name: string, value: string | null, signal: AbortSignal) => Promise<void>;
}

/**
 * Records a turn, which the leader uses when it reconciles the class. The record is durable before the answer, so that a
 * turn that the caller takes for declined is never used.
 */
export async function grantRestart(
  object: StoredClass,
  { nodeId, turnId }: Pick<GrantRestartRequest, "nodeId" | "turnId">,
  deps: GrantRestartDeps,
  signal: AbortSignal,
): Promise<boolean> {
  if (turnId === "" || turnId.length > MAX_TURN_ID)
    throw invalidArgument("turn_id", [{ path: "$.turn_id", message: `must have 1 to ${MAX_TURN_ID} characters` }]);
  const { uid, namespace, name } = object.metadata;
  const store = readRunningStore(deps.childrenOf(uid), deps.podsOf(namespace, ownerLabelValue(name ?? "")));
  const node = store?.members.find((member) => member.nodeId === Number(nodeId));
  const restart = object.status?.odgm_cluster_status?.restart;
  const isWaiting = restart?.state === "WaitingForTurn" || restart?.state === "Restarting";
  const before = object.metadata.annotations?.[RESTARTS_ANNOTATION];
  const { accepted, record } = answerTurn(parseRestartRecord(before), {
    id: turnId,
    nodeId: Number(nodeId),
    podUid: node !== undefined && isRunning(node) ? node.pod.uid : undefined,
    isMember: node !== undefined,
    isNeeded: isWaiting && restart?.nodes?.includes(Number(nodeId)) === true,
    nowMs: deps.clock.now(),
  });
  const after = formatRestartRecord(record);
  if (after !== before) await deps.annotate(object, RESTARTS_ANNOTATION, after ?? null, signal);
  return accepted;
}

const MAX_TURN_ID = 253;
