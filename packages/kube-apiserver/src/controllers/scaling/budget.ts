import { controllerOf, equalJson, type IntOrString, scaledCount, selectsLabels, type Stored } from "@oaas/kube-core";
import type { Controller } from "../loop/controller.ts";
import { createDecision, SETTLED, recordEvent, updateStatus, type Decision } from "../loop/decision.ts";
import { watchOwn } from "../loop/controller.ts";
import { typed, type ClusterView } from "../objects/cluster-view.ts";
import { isFinished, isReady, isTerminating } from "../objects/pods.ts";
import { BUDGETS, DEPLOYMENTS, keyOf, nameOfKey, PODS, REPLICA_SETS, STATEFUL_SETS } from "../objects/resources.ts";
import type { Budget, Pod, Workload } from "../objects/typed.ts";
import { setDisruptionConditions, type BudgetStatus } from "./disruption.ts";

export interface BudgetState {
  readonly budget: Stored<Budget>;
  readonly pods: readonly Stored<Pod>[];
  /** The desired pods of the controllers of these pods, once per controller. */
  readonly countDesired: () => number;
  readonly now: number;
}

/** The number of allowed disruptions. */
export function decideBudget(state: BudgetState): Decision {
  const { budget, now } = state;
  const status = computeStatus(state);
  if (equalJson(status, budget.status ?? {})) return SETTLED;
  const isEmpty = state.pods.length === 0;
  return createDecision([
    updateStatus(BUDGETS, {
      ...budget,
      status: { ...status, conditions: setDisruptionConditions(budget, status, now) },
    }),
    isEmpty
      ? recordEvent({ about: budget, type: "Normal", reason: "NoPods", message: "No matching pods found" })
      : undefined,
  ]);
}

function computeStatus({ budget, pods, countDesired }: BudgetState): BudgetStatus {
  const { minAvailable, maxUnavailable } = budget.spec ?? {};
  const isByController = maxUnavailable !== undefined || typeof minAvailable === "string";
  const expectedPods = isByController ? countDesired() : pods.length;
  const desired =
    maxUnavailable === undefined
      ? scaleToCount(minAvailable ?? 0, expectedPods)
      : Math.max(0, expectedPods - scaleToCount(maxUnavailable, expectedPods));
  const currentHealthy = pods.filter((pod) => isReady(pod) && !isTerminating(pod)).length;
  const allowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desired);
  const conditions = budget.status?.conditions;
  return {
    ...(conditions === undefined ? {} : { conditions }),
    currentHealthy,
    desiredHealthy: desired,
    disruptionsAllowed: allowed,
    expectedPods,
    observedGeneration: budget.metadata.generation ?? 1,
  };
}

function scaleToCount(value: IntOrString, total: number): number {
  const count = scaledCount(value, total, "up");
  return count.ok ? count.value : 0;
}

export function budgetController(): Controller {
  return {
    name: "budgets",
    reporter: "controllermanager",
    writer: "kube-controller-manager",
    watches: [
      watchOwn(BUDGETS),
      { kind: PODS, isSecondary: true, keys: (object, view) => budgetsOf(typed(object), view) },
      { kind: DEPLOYMENTS, isSecondary: true, keys: (object, view) => budgetsIn(typed<Workload>(object), view) },
      { kind: STATEFUL_SETS, isSecondary: true, keys: (object, view) => budgetsIn(typed<Workload>(object), view) },
    ],
    decide(key, { view, now }) {
      const { namespace, name } = nameOfKey(key);
      const budget = view.get<Budget>(BUDGETS, namespace, name);
      if (!budget || budget.metadata.deletionTimestamp !== undefined) return SETTLED;
      const pods = view
        .list<Pod>(PODS, namespace)
        .filter((pod) => selectsLabels(budget.spec?.selector, pod.metadata.labels) && !isFinished(pod));
      return decideBudget({ budget, pods, countDesired: () => countDesiredPods(pods, view), now });
    },
  };
}

function budgetsOf(pod: Pod, view: ClusterView): string[] {
  return view
    .list<Budget>(BUDGETS, pod.metadata.namespace)
    .filter(({ spec }) => selectsLabels(spec?.selector, pod.metadata.labels))
    .map(keyOf);
}

/** Scaling a workload changes the meaning of percentages in a budget. */
function budgetsIn({ metadata, spec }: Workload, view: ClusterView): string[] {
  const labels = spec?.template?.metadata?.labels;
  return view
    .list<Budget>(BUDGETS, metadata.namespace)
    .filter((budget) => selectsLabels(budget.spec?.selector, labels))
    .map(keyOf);
}

function countDesiredPods(pods: readonly Stored<Pod>[], view: ClusterView): number {
  const desiredByOwner = new Map<string, number>();
  for (const pod of pods) {
    const scale = scaleOf(pod, view);
    if (scale) desiredByOwner.set(scale.metadata.uid, scale.spec?.replicas ?? 1);
  }
  return [...desiredByOwner.values()].reduce((sum, one) => sum + one, 0);
}

function scaleOf(pod: Stored<Pod>, view: ClusterView): Stored<Workload> | undefined {
  const owner = controllerOf(pod);
  const namespace = pod.metadata.namespace ?? "";
  if (owner?.kind === "StatefulSet") return view.get<Workload>(STATEFUL_SETS, namespace, owner.name);
  if (owner?.kind !== "ReplicaSet") return undefined;
  const set = view.get<Workload>(REPLICA_SETS, namespace, owner.name);
  const above = set && controllerOf(set);
  return above?.kind === "Deployment" ? view.get<Workload>(DEPLOYMENTS, namespace, above.name) : set;
}
