/** The numbers behind a recommendation. */
export interface NfrEvidence {
  /** Window of the samples, such as `10m`. */
  readonly window: string;
  /** Query of the signal that set the target. */
  readonly query: string;
  readonly values: Readonly<Record<string, number>>;
  /** Floor that set the target, such as `min_scale`. */
  readonly floor?: string;
  /** Limit that cut the target, such as `max_scale`. */
  readonly ceiling?: string;
}

/** How a recommendation was applied. */
export interface NfrAppliedChange {
  readonly action: string;
  readonly lane: string;
  /** Differs from the target when a limit cut the change. */
  readonly recommended?: number;
  /** Field that was changed. */
  readonly path: string;
  readonly clampedBy?: string;
  readonly appliedAt: string;
  readonly policyVersion: string;
  /** Digest of the inputs of the decision. */
  readonly digest: string;
}

/** A value that a cluster recommends or applied for one dimension of one component. */
export interface NfrRecommendation {
  /** Function key, or `odgm`. */
  readonly component: string;
  /** `replicas`, `cpu` (millicores) or `memory` (bytes). */
  readonly dimension: string;
  readonly target: number;
  readonly lowerBound?: number;
  readonly upperBound?: number;
  /** The value in effect when it was computed; of an applied change, the value before. */
  readonly current?: number;
  readonly confidence?: number;
  /** The computation in words. */
  readonly basis?: string;
  readonly evidence?: NfrEvidence;
  readonly observedAt?: string;
  readonly validUntil?: string;
  readonly applied?: NfrAppliedChange;
}

/** How fast the error budget is spent; 1 spends it exactly over the period of the objective. */
export interface NfrBurnRate {
  readonly longWindow: string;
  readonly shortWindow: string;
  /** Absent with too few requests. */
  readonly longRate?: number;
  readonly shortRate?: number;
}

/** One requirement of one component and its measurement. */
export interface NfrMeasurement {
  /** Field of the requirement, such as `max_latency_ms`. */
  readonly requirement: string;
  /** Function key or `odgm`; empty for the class. */
  readonly component: string;
  /** `met`, `violated` or `unknown`, if the manager reports it. */
  readonly status?: string;
  /** Why the status is unknown. */
  readonly reason?: string;
  readonly required: number;
  readonly observed?: number;
  readonly unit: string;
  readonly window?: string;
  readonly since?: string;
  readonly errorBudgetLeft?: number;
  readonly burnRates: readonly NfrBurnRate[];
}

/** Compliance with each requirement. */
export interface NfrCompliance {
  readonly overall: string;
  readonly throughput?: string;
  readonly latency?: string;
  readonly availability?: string;
  readonly errorRate?: string;
  readonly lastChecked: string;
  readonly measurements?: readonly NfrMeasurement[];
}
