import { timestamp } from "@oaas/foundation";
import type { NodeAnswer } from "./node-answer.ts";
import { holds } from "./decide-restart.ts";
import { isRunning, SHARDS_CONDITION, shardsCondition, type MemberPod, type RunningStore } from "./running-store.ts";
import { partitionsOfNode } from "./store-layout.ts";

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
    const answer = answers.find((one) => one.nodeId === nodeId && one.podUid === pod.uid);
    if (hasGate !== true || answer === undefined) return [];
    const missing = partitionsOfNode(layout, nodeId).find((partition) => !holds(answer, partition));
    const status = missing === undefined ? "True" : "False";
    if (shardsCondition(pod) === status) return [];
    const text =
      missing === undefined
        ? { reason: "ShardsHeld", message: "The node has all its shards." }
        : {
            reason: "ShardMissing",
            message: `The node lacks partition ${missing.partition} of ${missing.collection}.`,
          };
    return [{ pod, condition: { type: SHARDS_CONDITION, status, ...text, lastTransitionTime: timestamp(nowMs) } }];
  });
}
