import { timestamp } from "@oaas/foundation";
import type { NodeAnswer } from "./node-answer.ts";
import { holds } from "./decide-restart.ts";
import {
  isOfRun,
  isRunning,
  SHARDS_CONDITION,
  shardsCondition,
  type MemberPod,
  type RunningStore,
} from "./running-store.ts";
import { partitionsOfNode, type AssignedPartition } from "./store-layout.ts";

/** A pod condition to set. */
export interface ShardGate {
  readonly pod: MemberPod;
  readonly condition: {
    readonly type: string;
    readonly status: "True" | "False";
    readonly reason: string;
    readonly message: string;
    readonly lastTransitionTime: string;
  };
}

/**
 * The changed conditions of pods that wait for their shards. A node that did not answer keeps its condition: its own
 * probes tell whether it lives, and a manager without access to it must not take it out of service.
 */
export function changedGates(
  { layout, members }: RunningStore,
  answers: readonly NodeAnswer[],
  nowMs: number,
): readonly ShardGate[] {
  return members.filter(isRunning).flatMap(({ nodeId, pod }): ShardGate[] => {
    const hasGate = pod.object.spec?.readinessGates?.some(({ conditionType: type }) => type === SHARDS_CONDITION);
    const answer = answers.find((one) => one.nodeId === nodeId && isOfRun(one, pod));
    if (hasGate !== true || answer === undefined) return [];
    const condition = shardState(answer, partitionsOfNode(layout, nodeId));
    if (shardsCondition(pod) === condition.status) return [];
    return [{ pod, condition: { type: SHARDS_CONDITION, ...condition, lastTransitionTime: timestamp(nowMs) } }];
  });
}

function shardState(
  answer: NodeAnswer,
  assigned: readonly AssignedPartition[],
): Pick<ShardGate["condition"], "status" | "reason" | "message"> {
  const missing = assigned.find((partition) => !holds(answer, partition));
  if (missing !== undefined)
    return {
      status: "False",
      reason: "ShardMissing",
      message: `The node lacks partition ${missing.partition} of ${missing.collection}.`,
    };
  const { behind } = answer;
  return behind === undefined
    ? { status: "True", reason: "ShardsHeld", message: "The node has all its shards." }
    : {
        status: "False",
        reason: "CatchingUp",
        message: `The node is not known to have all objects of partition ${behind.partition} of ${behind.collection}.`,
      };
}
