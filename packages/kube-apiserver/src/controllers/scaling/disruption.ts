import { selectsLabels, type Status } from "@oaas/kube-core";
import { conditionIn } from "../objects/conditions.ts";
import { isFinished, isReady, isTerminating } from "../objects/pods.ts";
import { wholeSeconds } from "../objects/time.ts";
import type { Budget, Condition, Pod } from "../objects/typed.ts";

export type BudgetStatus = NonNullable<Budget["status"]>;

/** The verdict on an eviction: allowed, allowed at the cost of a budget, or rejected. */
export type EvictionVerdict<T extends Budget> = { readonly costs?: T } | { readonly error: Status };

/** Whether a pod may be evicted. Finished and not yet ready pods are always allowed. */
export function decideEviction<T extends Budget>(pod: Pod, budgets: readonly T[]): EvictionVerdict<T> {
  if (isFinished(pod) || pod.status?.phase === "Pending" || isTerminating(pod)) return {};
  const concerned = budgets.filter(
    ({ metadata, spec }) =>
      metadata.namespace === pod.metadata.namespace && selectsLabels(spec?.selector, pod.metadata.labels),
  );
  const [budget, ...more] = concerned;
  if (budget === undefined) return {};
  if (more.length > 0) return { error: { status: "Failure", code: 500, message: SEVERAL_BUDGETS } };
  const {
    disruptionsAllowed = 0,
    currentHealthy = 0,
    desiredHealthy = 0,
    observedGeneration = 0,
  } = budget.status ?? {};
  // An unhealthy pod may be evicted while enough others are healthy.
  const isTolerant = budget.spec?.unhealthyPodEvictionPolicy === "AlwaysAllow";
  if (!isReady(pod) && (isTolerant || (currentHealthy >= desiredHealthy && desiredHealthy > 0))) return {};
  const { name, generation = 0 } = budget.metadata;
  if (observedGeneration < generation)
    return createDenial(`The disruption budget ${name} is still being processed by the server.`, RETRY_SECONDS);
  if (disruptionsAllowed > 0) return { costs: budget };
  return createDenial(formatExhausted(budget, currentHealthy, desiredHealthy));
}

function formatExhausted({ metadata: { name }, status }: Budget, current: number, desired: number): string {
  const condition = conditionIn(status?.conditions, "DisruptionAllowed");
  if (condition?.reason === "SyncFailed")
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${condition.message ?? ""}`;
  return current <= desired
    ? `The disruption budget ${name} needs ${desired} healthy pods and has ${current} currently`
    : `The disruption budget ${name} does not allow evicting pods currently`;
}

/** The budget after an eviction: the controller recounts once it sees the pod terminate. */
export function recordDisruption<T extends Budget>(budget: T, pod: string, now: number): T {
  const before = budget.status ?? {};
  const disruptionsAllowed = (before.disruptionsAllowed ?? 0) - 1;
  const disruptedPods = { ...before.disruptedPods, [pod]: wholeSeconds(now) };
  const status: BudgetStatus = { ...before, disruptionsAllowed, disruptedPods };
  const conditions = disruptionsAllowed === 0 ? { conditions: setDisruptionConditions(budget, status, now) } : {};
  return { ...budget, status: { ...status, ...conditions } };
}

/** The conditions of a budget with this status. */
export function setDisruptionConditions(budget: Budget, status: BudgetStatus, now: number): readonly Condition[] {
  const before = conditionIn(budget.status?.conditions, "DisruptionAllowed");
  const isAllowed = (status.disruptionsAllowed ?? 0) > 0;
  const value = isAllowed ? "True" : "False";
  const condition: Condition = {
    type: "DisruptionAllowed",
    status: value,
    observedGeneration: budget.metadata.generation ?? 1,
    lastTransitionTime: before?.status === value ? (before.lastTransitionTime ?? "") : wholeSeconds(now),
    reason: isAllowed ? "SufficientPods" : "InsufficientPods",
    message: "",
  };
  const others = budget.status?.conditions?.filter(({ type }) => type !== "DisruptionAllowed") ?? [];
  return [...others, condition];
}

const SEVERAL_BUDGETS =
  "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";

/** Retry delay while the controller recounts. */
const RETRY_SECONDS = 10;

function createDenial(cause: string, retryAfterSeconds?: number): { readonly error: Status } {
  const causes = [{ reason: "DisruptionBudget", message: cause }];
  return {
    error: {
      status: "Failure",
      code: 429,
      reason: "TooManyRequests",
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: { causes, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) },
    },
  };
}
