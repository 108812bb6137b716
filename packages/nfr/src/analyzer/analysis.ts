import type { Compliance, ComplianceStatus, Requirement } from "../compliance.ts";
import type { Urgency } from "../enforcement.ts";
import type { Recommendation } from "../recommendation.ts";
import type { ComponentSamples, Series, Signal } from "../samples.ts";
import type { CapacityCurve, CapacityEstimate } from "./capacity.ts";
import type { Finding } from "./finding.ts";
import type { RequestHistory } from "./request-history.ts";
import type { AnalyzerSettings } from "./settings.ts";

/** The requirements of a component. Absent: no requirement. */
export interface RequirementTargets {
  readonly minThroughputRps?: number;
  readonly maxLatencyMs?: number;
  /** The percentile that `maxLatencyMs` limits. Default: 99. */
  readonly latencyPercentile?: 50 | 95 | 99;
  /** 0 to 1. */
  readonly availability?: number;
  /** The largest share of failed requests, 0 to 1. */
  readonly maxErrorRate?: number;
}

/** The replicas of a component and what its user allows. */
export interface ComponentScale {
  /** Desired replicas now; replicas that are starting count. */
  readonly current: number;
  /** The minimum of the user or plan. Default: 1. */
  readonly min?: number;
  /** The smallest of all maximums that are known. */
  readonly max?: number;
  /** Whether zero replicas are possible, as with Knative. */
  readonly canScaleToZero?: boolean;
  /** Per replica, when stated. */
  readonly cpuRequestMillicores?: number;
  /** The share of the requested CPU that replicas use at most, when stated. */
  readonly cpuTarget?: number;
}

/** Everything one analysis depends on. */
export interface AnalysisInput {
  readonly nowMs: number;
  /** A function key, or `odgm`. */
  readonly component: string;
  readonly requirements: RequirementTargets;
  readonly scale: ComponentScale;
  /** The samples of the last `settings.windowMs`. */
  readonly samples: ComponentSamples;
  /**
   * Requests, errors and slow requests of up to three days at a coarse step such as 5m, to fill the request history after
   * a start. Samples that the state contains already are ignored, so that it may be passed again at any time.
   */
  readonly history?: RequestSeries;
  /** Changes when the code or the resources of a replica change: the capacity is then learnt again. */
  readonly revision?: string;
  /** The state of the previous analysis; absent at the first one or when it was lost. */
  readonly state?: AnalyzerState;
  /** The target of replicas in the last written recommendation, when the state was lost. */
  readonly previousTarget?: number;
  /** The capacity that was stored before the state was lost. The target then follows it again. */
  readonly restoredCurve?: CapacityCurve;
  /** The names of the queries, for the basis. Default: the name of the signal. */
  readonly queries?: Readonly<Partial<Record<Signal, string>>>;
  readonly settings: AnalyzerSettings;
}

/** The series that error budgets are computed from. */
export type RequestSeries = Readonly<
  Partial<Record<"requests_per_second" | "errors_per_second" | "slow_requests_per_second", Series>>
>;

/** What the analyzer remembers of one component. Plain JSON and bounded. */
export interface AnalyzerState {
  /** Since when each requirement has its status. */
  readonly verdicts: Readonly<Partial<Record<Requirement, Verdict>>>;
  readonly curve: CapacityCurve;
  /** Requests of the last three days; can be rebuilt from `AnalysisInput.history`. */
  readonly requests: RequestHistory;
  /** The last target of replicas. */
  readonly target?: number;
  /** Not below this target until the time, because history was lost. */
  readonly hold?: { readonly target: number; readonly untilMs: number };
  /** Since when the worst ratio to a requirement is at or above `settings.urgentRatio`. */
  readonly urgentSinceMs?: number;
}

export interface Verdict {
  readonly status: ComplianceStatus;
  readonly sinceMs: number;
}

/** The result for one component. */
export interface Analysis {
  /** Empty when nothing is known: the last recommendation stands until it expires. */
  readonly recommendations: readonly Recommendation[];
  readonly compliance: readonly Compliance[];
  readonly urgency: Urgency;
  /** How bad the worst requirement is, as a ratio to its target; absent when unknown. */
  readonly badness?: number;
  /** What is known about the capacity of one replica. */
  readonly capacity: CapacityEstimate;
  /** The same with the samples of this window, which the next analysis uses. */
  readonly learntCapacity: CapacityEstimate;
  readonly findings: readonly Finding[];
  /** The age of the newest sample. */
  readonly dataAgeMs?: number;
  readonly state: AnalyzerState;
}
