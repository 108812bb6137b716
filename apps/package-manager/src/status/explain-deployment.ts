import type { Explanation, FindingWire } from "@oaas/contracts/rest";
import type { ClusterName, DeploymentKey, UnitId, OperationStatus } from "@oaas/models";
import type { UnitReport } from "../ports.ts";

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
    summary: summaryOf(key, worst, sorted, operation),
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

/** The deepest finding of the worst branch. */
function rootCause(finding: FindingWire): FindingWire {
  const [worst] = finding.causes
    .filter(({ verdict }) => verdict !== "healthy")
    .toSorted((a, b) => SEVERITY[b.verdict] - SEVERITY[a.verdict]);
  return worst === undefined ? finding : rootCause(worst);
}

/** An unreachable cluster may recover, so it counts as transient. */
function verdictOf({ finding }: ClusterFinding): Explanation["verdict"] {
  return finding?.verdict ?? "transient";
}

function severity(one: ClusterFinding): number {
  return SEVERITY[verdictOf(one)];
}

function summaryOf(
  key: DeploymentKey,
  worst: ClusterFinding | undefined,
  all: readonly ClusterFinding[],
  operation: OperationStatus | undefined,
): string {
  const progress =
    operation?.state === "running"
      ? ` Operation ${operation.kind} is in progress (${operation.done}/${operation.total}).`
      : "";
  if (worst === undefined) return `${key} is not placed in a cluster yet.${progress}`;
  if (verdictOf(worst) === "healthy") {
    return `${key} is healthy in ${all.length === 1 ? "its cluster" : `all ${all.length} clusters`}.${progress}`;
  }
  if (worst.finding === undefined) return `${key} in ${worst.cluster}: ${worst.error ?? "no information"}.${progress}`;
  const { level, name, message } = rootCause(worst.finding);
  const where = level === "class" ? "" : ` ${level} ${name}:`;
  return `${key} in ${worst.cluster}:${where} ${message}.${progress}`.replaceAll("..", ".");
}

function actionOf({ cluster, finding, error }: ClusterFinding): string {
  if (finding === undefined) return error === undefined ? "" : `check why cluster "${cluster}" is unreachable`;
  const cause = rootCause(finding);
  return cause.suggested_action === "" ? finding.suggested_action : cause.suggested_action;
}
