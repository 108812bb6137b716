import type { Signal } from "../samples.ts";

/** What the analyzer noticed about the data. */
export type FindingReason =
  /** No signal has a sample. */
  | "no-data"
  /** A signal that a requirement needs has no sample. */
  | "signal-missing"
  /** The newest sample is too old. */
  | "data-outdated"
  | "too-few-samples"
  | "too-few-requests"
  /** Steps of the window have no sample. */
  | "gap"
  /** Samples with a time after now were dropped. */
  | "future-samples"
  /** NaN, infinite, negative or implausibly large values were dropped. */
  | "invalid-values"
  | "unordered-samples"
  | "duplicate-samples"
  /** A counter fell, because a pod was replaced. */
  | "counter-reset"
  | "restarts"
  | "oom-kills"
  /** Replicas started in the window. */
  | "cold-start"
  | "cpu-throttled"
  /** The state of the analyzer was lost. */
  | "history-lost"
  /** Another revision of the code, or other resources: the capacity is learnt again. */
  | "revision-changed"
  /** Latency is above its requirement at every load: more replicas do not help. */
  | "latency-independent-of-load";

/** One observation about the data, for programs and for people. */
export interface Finding {
  readonly reason: FindingReason;
  /** The signals it concerns; empty when it concerns the component. */
  readonly signals: readonly Signal[];
  /** One sentence with the numbers; of the first signal when there are several. */
  readonly detail: string;
}
