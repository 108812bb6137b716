import type { ClusterName } from "../fields/ids.ts";

/** What a plan does with a requirement. */
export const RequirementUse = {
  /** It decides replicas, scale or partitions. */
  sizing: "sizing",
  /** It configures the state store or the autoscaler. */
  configuration: "configuration",
  /** It is stored and passed on, and decides nothing. */
  recorded: "recorded",
} as const;
export type RequirementUse = (typeof RequirementUse)[keyof typeof RequirementUse];

/** A requirement that a deployment states, and its use. */
export interface StatedRequirement {
  /** Field that states it, such as `max_latency_ms`. */
  readonly requirement: string;
  /** Function key; empty for the class. */
  readonly component: string;
  /** Name and value, such as `latency 100 ms`. */
  readonly text: string;
  readonly use: RequirementUse;
  /** What it decides, or why nothing. */
  readonly useText: string;
}

/** Where a requirement is measured. */
export const MeasurementState = {
  measured: "measured",
  partlyMeasured: "partly_measured",
  notMeasured: "not_measured",
} as const;
export type MeasurementState = (typeof MeasurementState)[keyof typeof MeasurementState];

/** The measurement of a requirement in one cluster, or why there is none. */
export interface ClusterMeasurement {
  readonly cluster: ClusterName;
  /** Function key; empty if the requirement is not measured in the cluster. */
  readonly component: string;
  /** `met` or `violated`; absent if not measured. */
  readonly status?: string;
  readonly observed?: number;
  readonly unit?: string;
  readonly window?: string;
  readonly checkedAt?: string;
  /** Why it is not measured. */
  readonly reason?: string;
}

/** A requirement with its measurements. */
export interface RequirementStatus extends StatedRequirement {
  readonly state: MeasurementState;
  readonly measurements: readonly ClusterMeasurement[];
  /** One line: name, value, use, and whether it is measured. */
  readonly summary: string;
}
