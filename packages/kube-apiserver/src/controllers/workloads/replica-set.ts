import { equalJson, labelOf, type Status, type Stored } from "@oaas/kube-core";
import {
  create,
  createDecision,
  remove,
  updateStatus,
  type Decision,
  type Step,
  type WriteStep,
} from "../loop/decision.ts";
import { conditionIn, withCondition, withoutCondition } from "../objects/conditions.ts";
import { isActive, isAvailable, isReady, isTerminating, nextAvailableInMs } from "../objects/pods.ts";
import { PODS, REPLICA_SETS } from "../objects/resources.ts";
import type { Pod, ReplicaSet, ReplicaSetStatus } from "../objects/typed.ts";
import { createPodFromTemplate, creationEvents, deletionEvents } from "./pod-from-template.ts";

export interface ReplicaSetState {
  readonly replicaSet: Stored<ReplicaSet>;
  /** All pods it controls. */
  readonly pods: readonly Stored<Pod>[];
  readonly now: number;
}

/** The maximum number of pods created or deleted in one pass, as in the real controller. */
const BURST = 500;

/** Creates or deletes pods to match the desired count, then reports the actual count. */
export function decideReplicaSet(state: ReplicaSetState): Decision {
  const { replicaSet, pods, now } = state;
  const active = pods.filter(isActive);
  const isGoing = replicaSet.metadata.deletionTimestamp !== undefined;
  const changes = isGoing ? [] : createPodSteps(replicaSet, active);
  if (changes.length > 0) return createDecision(changes);
  const settled = active.length === (replicaSet.spec.replicas ?? 1);
  const status = computeStatus(state, settled ? "clear" : "keep");
  const waitMs = nextAvailableInMs(active, replicaSet.spec.minReadySeconds ?? 0, now);
  return createDecision([createStatusStep(replicaSet, status)], waitMs);
}

/** The condition after failed creations or deletions; it stays until all pods exist. */
export function handleReplicaSetError(state: ReplicaSetState, verb: WriteStep["do"], error: Status): Decision {
  const reason = verb === "delete" ? "FailedDelete" : "FailedCreate";
  return createDecision([
    createStatusStep(state.replicaSet, computeStatus(state, { reason, message: error.message ?? "" })),
  ]);
}

function createPodSteps(replicaSet: Stored<ReplicaSet>, active: readonly Stored<Pod>[]): Step[] {
  const missing = (replicaSet.spec.replicas ?? 1) - active.length;
  if (missing > 0) {
    const pod = createPodFromTemplate(replicaSet, replicaSet.spec.template);
    return Array.from({ length: Math.min(missing, BURST) }, () => create(PODS, pod, creationEvents(replicaSet)));
  }
  return sortForDeletion(active)
    .slice(0, Math.min(-missing, BURST))
    .map((pod) => remove(PODS, pod, {}, deletionEvents(replicaSet, pod)));
}

const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";
const PHASES = ["Pending", "Unknown", "Running"];

/** Deletion order: without a node, not running, not ready, low cost, crowded, young. */
export function sortForDeletion(pods: readonly Stored<Pod>[]): readonly Stored<Pod>[] {
  const crowd = new Map<string, number>();
  for (const { spec } of pods) crowd.set(spec?.nodeName ?? "", (crowd.get(spec?.nodeName ?? "") ?? 0) + 1);
  const ranked = pods.map((pod) => ({
    pod,
    rank: [
      pod.spec?.nodeName === undefined ? 0 : 1,
      PHASES.indexOf(pod.status?.phase ?? "Pending"),
      isReady(pod) ? 1 : 0,
      Number(pod.metadata.annotations?.[DELETION_COST] ?? 0),
      -(crowd.get(pod.spec?.nodeName ?? "") ?? 0),
      -time(conditionIn(pod.status?.conditions, "Ready")?.lastTransitionTime),
      -Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)),
      -time(pod.metadata.creationTimestamp),
    ],
  }));
  return ranked.sort((a, b) => compare(a.rank, b.rank)).map(({ pod }) => pod);
}

function time(text: string | undefined): number {
  const parsed = Date.parse(text ?? "");
  return Number.isNaN(parsed) ? 0 : parsed;
}

function compare(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((value, at) => value !== b[at]);
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}

type FailureClaim = "clear" | "keep" | { readonly reason: string; readonly message: string };

function computeStatus({ replicaSet, pods, now }: ReplicaSetState, failure: FailureClaim): ReplicaSetStatus {
  const active = pods.filter(isActive);
  const before = replicaSet.status ?? {};
  const labels = Object.entries(replicaSet.spec.template.metadata?.labels ?? {});
  const minReady = replicaSet.spec.minReadySeconds ?? 0;
  const conditions = setFailureCondition(before, failure, now);
  return {
    replicas: active.length,
    ...count(
      "fullyLabeledReplicas",
      active.filter((pod) => labels.every(([key, value]) => labelOf(pod, key) === value)),
    ),
    ...count("readyReplicas", active.filter(isReady)),
    ...count(
      "availableReplicas",
      active.filter((pod) => isAvailable(pod, minReady, now)),
    ),
    terminatingReplicas: pods.filter(isTerminating).length,
    observedGeneration: replicaSet.metadata.generation ?? 1,
    ...(conditions.length === 0 ? {} : { conditions }),
  };
}

function setFailureCondition(
  before: ReplicaSetStatus,
  failure: FailureClaim,
  now: number,
): NonNullable<ReplicaSetStatus["conditions"]> {
  const conditions = before.conditions ?? [];
  if (failure === "keep") return conditions;
  if (failure === "clear") return withoutCondition(conditions, "ReplicaFailure");
  // Keeps the first message: names of rejected pods change with every attempt.
  if (conditionIn(conditions, "ReplicaFailure")) return conditions;
  return withCondition(conditions, { type: "ReplicaFailure", status: "True", ...failure }, now);
}

/** Zero counts are omitted, as with Go's `omitempty`. */
export function count<K extends string>(name: K, items: readonly unknown[]): { readonly [N in K]?: number } {
  return (items.length === 0 ? {} : { [name]: items.length }) as { readonly [N in K]?: number };
}

function createStatusStep(replicaSet: Stored<ReplicaSet>, status: ReplicaSetStatus): Step | undefined {
  return equalJson(status, replicaSet.status ?? {}) ? undefined : updateStatus(REPLICA_SETS, { ...replicaSet, status });
}
