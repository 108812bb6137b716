import type { ClusterName, DeploymentKey, UnitId } from "@oaas/models";
import { z } from "zod";
import { field, view } from "../../reading/fields.ts";
import { resourceReferenceView } from "../cluster/class-runtime.ts";

const VERDICTS = ["healthy", "transient", "permanent"] as const;

const LEVELS = ["class", "function", "odgm", "workload", "pod", "node", "event"] as const;

/** One inspected object and the causes of its state. */
export interface FindingWire {
  readonly level: (typeof LEVELS)[number];
  readonly name: string;
  readonly resource: z.output<typeof resourceReferenceView> | null;
  readonly verdict: (typeof VERDICTS)[number];
  readonly reason: string;
  readonly message: string;
  readonly suggested_action: string;
  readonly since: string | null;
  readonly count: number | null;
  readonly causes: readonly FindingWire[];
}

/** The schema of `FindingWire`. */
export const findingView: z.ZodType<FindingWire> = view({
  level: field("Kind of the inspected object.", z.enum(LEVELS)),
  name: field("Name of the inspected object.", z.string()),
  resource: field("Kubernetes object; null when the finding is not about one.", resourceReferenceView.nullable()),
  verdict: field("`healthy`, `transient` (resolves by itself) or `permanent` (needs action).", z.enum(VERDICTS)),
  reason: field("Machine-readable reason (one CamelCase word).", z.string()),
  message: field("Human-readable message.", z.string()),
  suggested_action: field("Suggested action.", z.string()),
  since: field("Start time; null when unknown.", z.string().nullable()),
  count: field("Number of occurrences; null when not counted.", z.int().nullable()),
  causes: field(
    "Causes of this finding, recursively.",
    z.lazy(() => z.array(findingView)),
  ),
});

/** Findings in one cluster. */
export const clusterFindingView = view({
  cluster: field("Cluster name.", z.string()),
  unit_id: field("Deployment unit id.", z.string()),
  finding: field("Root finding; null when the cluster is unreachable.", findingView.nullable()),
  error: field("Error of the request to the cluster; null if none.", z.string().nullable()),
});

/** Why a deployment is not ready, per cluster, with suggested actions. */
export const explanationView = view({
  key: field("Deployment key.", z.string()),
  summary: field("The root cause in one sentence.", z.string()),
  verdict: field("The worst verdict across its clusters.", z.enum(VERDICTS)),
  suggested_action: field("Suggested action.", z.string()),
  clusters: field("Findings per cluster, from the class down to pod events.", z.array(clusterFindingView)),
  observed_at: field("Time of the observation.", z.string()),
});

/** Why a deployment is not ready. */
export interface Explanation {
  readonly key: DeploymentKey;
  readonly summary: string;
  readonly verdict: (typeof VERDICTS)[number];
  readonly suggestedAction: string;
  readonly clusters: readonly {
    readonly cluster: ClusterName;
    readonly unitId: UnitId;
    readonly finding?: FindingWire;
    readonly error?: string;
  }[];
  readonly observedAt: string;
}

export function explanationToWire(explanation: Explanation): z.output<typeof explanationView> {
  const { key, summary, verdict, suggestedAction, observedAt } = explanation;
  const clusters = explanation.clusters.map(({ cluster, unitId, finding = null, error = null }) => {
    return { cluster, unit_id: unitId, finding, error };
  });
  return { key, summary, verdict, suggested_action: suggestedAction, clusters, observed_at: observedAt };
}
