import type { Explanation, FindingWire } from "@oaas/contracts/rest";
import type { ClusterName, DeploymentKey, UnitId, OperationStatus } from "@oaas/models";
import type { UnitReport } from "../ports.ts";
import { summarizeCluster } from "./explanation-summary.ts";

/** The explanation of a unit by one cluster. */
export interface ClusterFinding {
  readonly cluster: ClusterName;
  readonly unitId: UnitId;
  readonly finding?: FindingWire;
  /** Why the cluster is unreachable. */
  readonly error?: string;
}

const SEVERITY = { healthy: 0, transient: 1, permanent: 2 } as const satisfies Record<Explanation["verdict"], number>;

/** Combines the findings of all clusters: the worst verdict, and a summary with its root cause. */
export function explainDeployment(
  key: DeploymentKey,
  clusters: readonly ClusterFinding[],
  operation: OperationStatus | undefined,
  observedAt: string,
): Explanation {
  const sorted = clusters.toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1));
  const worst = sorted.reduce<ClusterFinding | undefined>(
    (before, next) => (before === undefined || severity(next) > severity(before) ? next : before),
    undefined,
  );
  return {
    key,
    verdict: worst === undefined ? "transient" : verdictOf(worst),
    summary: `${summaryOf(key, worst, sorted)}${progressText(operation)}`,
    suggestedAction: worst === undefined ? "" : actionOf(worst),
    clusters: sorted,
    observedAt,
  };
}

/** The finding for a manager that does not support explain, from its status report. */
export function findingFromReport(report: UnitReport): FindingWire {
  const { condition, message = report.phase ?? condition, runtime } = report;
  const isFailed = condition === "down" || condition === "degraded";
  const verdict = condition === "running" ? "healthy" : isFailed ? "permanent" : "transient";
  return createFinding(runtime.classKey, verdict, message, {
    causes: (runtime.status?.functions ?? [])
      .filter(({ ready }) => ready === false)
      .map((one) => ({
        ...createFinding(one.functionKey, "transient", one.message ?? "not ready", { reason: one.reason ?? "" }),
        level: "function",
      })),
  });
}

/** The finding about a unit whose latest revision has not reached the cluster: no verdict about that revision. */
export function beforeChange(finding: FindingWire): FindingWire {
  return {
    ...finding,
    verdict: "transient",
    message: "The latest revision has not reached the cluster yet; the objects below are of the revision before.",
    suggested_action: "",
  };
}

/** A finding about a class. */
export function createFinding(
  name: string,
  verdict: FindingWire["verdict"],
  message: string,
  rest: Partial<FindingWire> = {},
): FindingWire {
  return {
    level: "class",
    name,
    resource: null,
    verdict,
    reason: "",
    message,
    suggested_action: "",
    since: null,
    count: null,
    causes: [],
    ...rest,
  };
}

/** An unreachable cluster may recover, so it counts as transient. */
function verdictOf({ finding }: ClusterFinding): Explanation["verdict"] {
  return finding?.verdict ?? "transient";
}

function severity(one: ClusterFinding): number {
  return SEVERITY[verdictOf(one)];
}

function actionOf({ cluster, finding, error }: ClusterFinding): string {
  if (finding === undefined) return error === undefined ? "" : `Check why cluster "${cluster}" is unreachable.`;
  return finding.suggested_action;
}

/** One sentence for people: the cause, the clusters that share it, and whether waiting helps. */
function summaryOf(key: DeploymentKey, worst: ClusterFinding | undefined, all: readonly ClusterFinding[]): string {
  if (worst === undefined) return `${key} is not placed in a cluster yet.`;
  if (verdictOf(worst) === "healthy")
    return `${key} is healthy in ${all.length === 1 ? "its cluster" : `all ${all.length} clusters`}.`;
  const same = all.filter((one) => severity(one) === severity(worst) && causeOf(one) === causeOf(worst));
  return summarizeCluster({
    finding: worst.finding,
    error: worst.error,
    action: actionOf(worst),
    clusters: same.map(({ cluster }) => cluster),
    isOnlyCluster: all.length === 1,
  });
}

function causeOf({ finding, error }: ClusterFinding): string {
  return finding?.message ?? error ?? "";
}

function progressText(operation: OperationStatus | undefined): string {
  if (operation?.state !== "running") return "";
  return ` Operation ${operation.kind} is in progress (${operation.done}/${operation.total}).`;
}
