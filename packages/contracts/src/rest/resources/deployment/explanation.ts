import { z } from "zod";
import { view } from "../../reading/fields.ts";
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
export const findingView: z.ZodType<FindingWire> = view(
  {
    level: z.enum(LEVELS),
    name: z.string(),
    resource: resourceReferenceView.nullable(),
    verdict: z.enum(VERDICTS),
    reason: z.string(),
    message: z.string(),
    suggested_action: z.string(),
    since: z.string().nullable(),
    count: z.int().nullable(),
    causes: z.lazy(() => z.array(findingView)),
  },
  {
    level: "Kind of the inspected object.",
    name: "Name of the inspected object.",
    resource: "Kubernetes object; null when the finding is not about one.",
    verdict: "`healthy`, `transient` (resolves by itself) or `permanent` (needs action).",
    reason: "Machine-readable reason (one CamelCase word).",
    message: "Human-readable message.",
    suggested_action: "Suggested action.",
    since: "Start time; null when unknown.",
    count: "Number of occurrences; null when not counted.",
    causes: "Causes of this finding, recursively.",
  },
);

/** Findings in one cluster. */
export const clusterFindingView = view(
  { cluster: z.string(), unit_id: z.string(), finding: findingView.nullable(), error: z.string().nullable() },
  {
    cluster: "Cluster name.",
    unit_id: "Deployment unit id.",
    finding: "Root finding; null when the cluster is unreachable.",
    error: "Error of the request to the cluster; null if none.",
  },
);

/** Why a deployment is not ready, per cluster, with suggested actions. */
export const explanationView = view(
  {
    key: z.string(),
    summary: z.string(),
    verdict: z.enum(VERDICTS),
    suggested_action: z.string(),
    clusters: z.array(clusterFindingView),
    observed_at: z.string(),
  },
  {
    key: "Deployment key.",
    summary: "The root cause in one sentence.",
    verdict: "The worst verdict across its clusters.",
    suggested_action: "Suggested action.",
    clusters: "Findings per cluster, from the class down to pod events.",
    observed_at: "Time of the observation.",
  },
);
