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

/** A condition of a class runtime about its requirements. */
export interface NfrCondition {
  /** `NfrObserved` or `NfrEnforced`. */
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** A change by enforcement. */
export interface EnforcementAction {
  readonly at: string;
  readonly from: number;
  readonly to: number;
  readonly lane: string;
}

/** What enforcement remembers of one dimension of one component. */
export interface EnforcementDimensionState {
  readonly component: string;
  readonly dimension: string;
  /** Reason of the last decision not to act, such as `cooldown`. */
  readonly lastSkip?: string;
  readonly lastAction?: EnforcementAction;
  readonly frozenUntil?: string;
  /** In the last hour. */
  readonly directionChanges: number;
}

/** A decision with everything that is needed to recompute it. */
export interface RecordedDecision {
  readonly component: string;
  readonly dimension: string;
  readonly appliedAt: string;
  readonly digest: string;
  /** Name of the Kubernetes Event of the change. */
  readonly eventName: string;
  /** Settings, input and outcome, as JSON. */
  readonly record: string;
}

/** The state of enforcement of one class runtime. */
export interface EnforcementReport {
  readonly conditions: readonly NfrCondition[];
  readonly states: readonly EnforcementDimensionState[];
  /** Newest first. */
  readonly decisions: readonly RecordedDecision[];
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
