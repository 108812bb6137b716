/** Non-functional requirements of a class. Undefined: no requirement. */
export interface NfrRequirements {
  /** Requests per second to sustain, at least 1. */
  readonly minThroughputRps?: number;
  readonly maxLatencyMs?: number;
  /** Share of time with a quorum, 0 to 1. */
  readonly availability?: number;
  /** Target share of the requested CPU, 0 to 1. */
  readonly cpuUtilizationTarget?: number;
}

/** Earlier format of a requirement, still used per function. */
export interface QosRequirement {
  readonly throughput: number;
  readonly availability: number;
}

/** Default target availability. */
export const DEFAULT_AVAILABILITY = 0.99;

/** Reaction of CRM to an unmet requirement. */
export const EnforcementMode = { off: "off", observe: "observe", enforce: "enforce" } as const;
export type EnforcementMode = (typeof EnforcementMode)[keyof typeof EnforcementMode];

/** Dimensions that enforcement may change. */
export const EnforcementDimension = { replicas: "replicas", cpu: "cpu", memory: "memory" } as const;
export type EnforcementDimension = (typeof EnforcementDimension)[keyof typeof EnforcementDimension];

/** Enforcement settings of a class. */
export interface Enforcement {
  readonly mode: EnforcementMode;
  readonly dimensions: readonly EnforcementDimension[];
  /** Most replicas that enforcement may choose, also as the maximum of an autoscaler; absent for the maximum scale. */
  readonly maxReplicas?: number;
}
