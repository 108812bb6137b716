import { z } from "zod";
import { view } from "../fields.ts";
import { resourceReferenceView } from "./class-runtime.ts";

const VERDICTS = ["healthy", "transient", "permanent"] as const;

const LEVELS = ["class", "function", "odgm", "workload", "pod", "node", "event"] as const;

/** One thing that was looked at, and below it what explains it. */
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

/** A finding as it is sent. */
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
    level: "What kind of thing was looked at.",
    name: "Its name.",
    resource: "The object in the cluster; null when it is none.",
    verdict: "Well, mended by waiting (`transient`), or not without somebody (`permanent`).",
    reason: "Why, in one word.",
    message: "The same in a sentence.",
    suggested_action: "What to do.",
    since: "Since when it is so; null when nobody knows.",
    count: "How often it happened; null when it is not counted.",
    causes: "What explains it, each perhaps with causes of its own.",
  },
);

/** What was found in one cluster. */
export const clusterFindingView = view(
  { cluster: z.string(), unit_id: z.string(), finding: findingView.nullable(), error: z.string().nullable() },
  {
    cluster: "The cluster.",
    unit_id: "The id of the unit there.",
    finding: "What was found; null when the cluster could not be asked.",
    error: "Why it could not be asked; null when it could.",
  },
);

/** Why a deployment is not ready, cluster by cluster, with what to do about it. */
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
    key: "The key of the deployment.",
    summary: "The cause in a sentence.",
    verdict: "The worst of its clusters.",
    suggested_action: "What to do.",
    clusters: "Cluster by cluster, from the class down to the event of a pod.",
    observed_at: "When it was looked at.",
  },
);
