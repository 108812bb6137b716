import { timestamp } from "@oaas/foundation";
import type { Finding, FindingReason } from "@oaas/nfr/analyzer";
import type { StatusCondition } from "../../lifecycle/status/conditions.ts";

/** Whether the requirements of a class are measured. */
export const NFR_OBSERVED = "NfrObserved";

/** Reasons of the condition. */
export type ObservedReason =
  | "MetricsObserved"
  | "PrometheusUnavailable"
  | "QueriesFailed"
  | "NoSeries"
  | "OutdatedData";

export interface ObservedState {
  readonly status: "True" | "Unknown";
  readonly reason: ObservedReason;
  /** Without numbers that change with every tick. */
  readonly message: string;
}

/** What the condition depends on. */
export interface ObservedInput {
  /** Time of the newest sample of the class that was ever read; absent without any. */
  readonly lastDataMs?: number;
  readonly maxDataAgeMs: number;
  readonly nowMs: number;
  /** Signals that cannot be read, with the reason, the same one during an outage. */
  readonly failures: readonly {
    readonly signal: string;
    readonly message: string;
    readonly lastReadMs?: number;
  }[];
  /** The number of signals. */
  readonly signals: number;
  /** Findings about the data of the components. */
  readonly findings?: readonly ComponentFinding[];
}

export interface ComponentFinding extends Pick<Finding, "reason" | "signals"> {
  readonly component: string;
}

/** Findings that last and that users can act on. Others pass, or are in the compliance. */
const LASTING: ReadonlySet<FindingReason> = new Set<FindingReason>([
  "signal-missing",
  "gap",
  "invalid-values",
  "future-samples",
  "unordered-samples",
  "duplicate-samples",
  "cpu-throttled",
  "latency-independent-of-load",
]);

/** Whether a class is observed. A short failure changes nothing while the data is fresh. */
export function observedState(input: ObservedInput): ObservedState {
  const { lastDataMs, maxDataAgeMs, nowMs, failures, signals } = input;
  const isFresh = lastDataMs !== undefined && nowMs - lastDataMs <= maxDataAgeMs;
  const lost = failures.filter(({ lastReadMs }) => lastReadMs === undefined || nowMs - lastReadMs > maxDataAgeMs);
  if (isFresh && lost.length === 0) {
    return { status: "True", reason: "MetricsObserved", message: measuredText(input.findings ?? []) };
  }
  const [first] = lost;
  const since = lastDataMs === undefined ? "no data so far" : `last data at ${timestamp(lastDataMs)}`;
  if (first !== undefined && lost.length === signals) {
    return { status: "Unknown", reason: "PrometheusUnavailable", message: `${first.message}; ${since}.` };
  }
  if (first !== undefined) {
    const names = lost.map(({ signal }) => signal).join(", ");
    return { status: "Unknown", reason: "QueriesFailed", message: `Cannot read ${names}: ${first.message}.` };
  }
  if (lastDataMs === undefined) {
    const message =
      "Prometheus has no series of this class; check that it scrapes the pods and adds the label oaas_owner.";
    return { status: "Unknown", reason: "NoSeries", message };
  }
  return { status: "Unknown", reason: "OutdatedData", message: `Prometheus has no recent samples: ${since}.` };
}

function measuredText(findings: readonly ComponentFinding[]): string {
  const notes = findings.flatMap(({ component, reason, signals }) =>
    LASTING.has(reason) ? [`${component} ${reason}${signals.length === 0 ? "" : ` (${signals.join(", ")})`}`] : [],
  );
  const measured = "The requirements are measured.";
  return notes.length === 0 ? measured : `${measured} Findings: ${notes.sort().join("; ")}.`.slice(0, MAX_MESSAGE);
}

const MAX_MESSAGE = 1024;

/** The condition; its transition time changes with its status only. */
export function observedCondition(
  state: ObservedState,
  previous: StatusCondition | undefined,
  { nowMs, generation }: { readonly nowMs: number; readonly generation: number },
): StatusCondition {
  const since = previous?.status === state.status ? previous.lastTransitionTime : undefined;
  return {
    type: NFR_OBSERVED,
    status: state.status,
    reason: state.reason,
    message: state.message,
    lastTransitionTime: since ?? timestamp(nowMs),
    observedGeneration: generation,
  };
}
