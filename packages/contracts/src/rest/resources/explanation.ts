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
export const findingView: z.ZodType<FindingWire> = view({
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
});

/** Why a deployment is not ready, cluster by cluster, with what to do about it. */
export const explanationView = view({
  key: z.string(),
  summary: z.string(),
  verdict: z.enum(VERDICTS),
  suggested_action: z.string(),
  clusters: z.array(
    view({
      cluster: z.string(),
      unit_id: z.string(),
      /** Null when the cluster could not be asked; `error` says why. */
      finding: findingView.nullable(),
      error: z.string().nullable(),
    }),
  ),
  observed_at: z.string(),
});
