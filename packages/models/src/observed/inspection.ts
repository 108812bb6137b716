/** A requirement, or an amount that is requested of Kubernetes. */
export type SignalTargetKind = "at_least" | "at_most" | "requested";

/** One measured signal of one component over a range. */
export interface SignalSeries {
  /** Function key, or `odgm`. */
  readonly component: string;
  /** Such as `requests_per_second`. */
  readonly signal: string;
  /** One for each step; null where nothing was measured. */
  readonly values: readonly (number | null)[];
  readonly target?: number;
  readonly targetKind?: SignalTargetKind;
}

/** A change by enforcement. */
export interface SignalMark {
  readonly at: string;
  readonly component: string;
  readonly dimension: string;
  readonly from?: number;
  readonly to: number;
  /** `apply` or `revert`. */
  readonly action: string;
}

/** The signals of a class runtime over a range. */
export interface RuntimeSignals {
  /** Time of the first value of each series. */
  readonly start: string;
  readonly stepSeconds: number;
  readonly series: readonly SignalSeries[];
  readonly marks: readonly SignalMark[];
}

/** One pod of a class runtime. */
export interface RuntimePod {
  readonly name: string;
  /** Function key, or `odgm`. */
  readonly component: string;
  readonly node?: string;
  readonly phase: string;
  readonly ready: boolean;
  readonly restarts: number;
  readonly createdAt: string;
  /** Why it is not ready. */
  readonly reason?: string;
  readonly message?: string;
}

/** The pods of a class runtime. */
export interface RuntimePods {
  readonly pods: readonly RuntimePod[];
  /** Further pods that are not listed. */
  readonly morePods: number;
}

/** A condition of a class runtime. */
export interface RuntimeCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime?: string;
}

/** A Kubernetes Event about a class runtime. */
export interface RuntimeEvent {
  /** `Normal` or `Warning`. */
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  /** Last occurrence; absent when unknown. */
  readonly at?: string;
}

/** The conditions of a class runtime and their changes, newest first. */
export interface RuntimeConditions {
  readonly conditions: readonly RuntimeCondition[];
  readonly events: readonly RuntimeEvent[];
}

/** A Kubernetes object of a class runtime, with secrets masked. */
export interface RuntimeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly object: Readonly<Record<string, unknown>>;
}
