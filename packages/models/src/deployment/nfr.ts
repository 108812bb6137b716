/** What a class promises beyond its function. Absent means: no promise. */
export interface NfrRequirements {
  /** Requests per second to sustain, at least 1. */
  readonly minThroughputRps?: number;
  readonly maxLatencyMs?: number;
  /** Share of time in which a quorum answers, 0 to 1. */
  readonly availability?: number;
  /** Share of the requested CPU to aim at, 0 to 1. */
  readonly cpuUtilizationTarget?: number;
}

/** The earlier form of a requirement, still carried per function. */
export interface QosRequirement {
  readonly throughput: number;
  readonly availability: number;
}

/** Availability aimed at when none is asked for. */
export const DEFAULT_AVAILABILITY = 0.99;

/** What CRM does about a requirement that is not met. */
export const EnforcementMode = { off: "off", observe: "observe", enforce: "enforce" } as const;
export type EnforcementMode = (typeof EnforcementMode)[keyof typeof EnforcementMode];

/** What enforcement may change. */
export const EnforcementDimension = { replicas: "replicas", cpu: "cpu", memory: "memory" } as const;
export type EnforcementDimension = (typeof EnforcementDimension)[keyof typeof EnforcementDimension];

/** How a class wants its requirements enforced. */
export interface Enforcement {
  readonly mode: EnforcementMode;
  readonly dimensions: readonly EnforcementDimension[];
}
