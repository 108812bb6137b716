import type { FindingWire } from "@oaas/contracts/rest";
import type { ClusterName, DeploymentKey, UnitId } from "@oaas/models";
import type { UnitReport } from "../ports.ts";
import type { Explanation, OperationStatus } from "../use-cases.ts";

/** What one cluster has to say about why a unit is as it is. */
export interface ClusterFinding {
  readonly cluster: ClusterName;
  readonly unitId: UnitId;
  readonly finding?: FindingWire;
  /** Why the cluster could not be asked. */
  readonly error?: string;
}

const SEVERITY = { healthy: 0, transient: 1, permanent: 2 } as const satisfies Record<Explanation["verdict"], number>;

/** The chain over all clusters: the verdict is the worst, and the summary names the deepest cause behind it. */
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

/** What can be said where the manager cannot explain: no more than its own words. */
export function findingFromReport(report: UnitReport): FindingWire {
  const { condition, message = report.phase ?? condition, runtime } = report;
  const verdict = condition === "running" ? "healthy" : condition === "down" ? "permanent" : "transient";
  return createFinding(runtime.classKey, verdict, message, {
    causes: (runtime.status?.functions ?? [])
      .filter(({ ready }) => ready === false)
      .map((one) => ({
        ...createFinding(one.functionKey, "transient", one.message ?? "it is not ready", { reason: one.reason ?? "" }),
        level: "function",
      })),
  });
}

/** A finding about a class, with what is said. */
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

/** The last finding of the worst chain: what all above it follows from. */
function deepestCause(finding: FindingWire): FindingWire {
  const [worst] = finding.causes
    .filter(({ verdict }) => verdict !== "healthy")
    .toSorted((a, b) => SEVERITY[b.verdict] - SEVERITY[a.verdict]);
  return worst === undefined ? finding : deepestCause(worst);
}

/** A cluster that cannot be asked may be well again soon; nobody can call it healthy meanwhile. */
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
  const work =
    operation?.state === "running" ? ` A ${operation.kind} is under way (${operation.done}/${operation.total}).` : "";
  if (worst === undefined) return `${key} is in no cluster yet.${work}`;
  if (verdictOf(worst) === "healthy") {
    return `${key} is healthy in ${all.length === 1 ? "its cluster" : `all ${all.length} clusters`}.${work}`;
  }
  if (worst.finding === undefined) return `${key} in ${worst.cluster}: ${worst.error ?? "nothing is known"}.${work}`;
  const { level, name, message } = deepestCause(worst.finding);
  const where = level === "class" ? "" : ` ${level} ${name}:`;
  return `${key} in ${worst.cluster}:${where} ${message}.${work}`.replaceAll("..", ".");
}

function actionOf({ cluster, finding, error }: ClusterFinding): string {
  if (finding === undefined) return error === undefined ? "" : `see why cluster "${cluster}" cannot be reached`;
  const cause = deepestCause(finding);
  return cause.suggested_action === "" ? finding.suggested_action : cause.suggested_action;
}
