import type { ClusterName } from "../fields/ids.ts";

/** The price of a plan per month, at the prices that the registrations of its clusters state. */
export interface PlanPrice {
  readonly clusters: readonly ClusterPrice[];
  /** The sum by currency, without clusters of unknown price. */
  readonly totals: Readonly<Record<string, number>>;
  /** Clusters whose registration states no price. */
  readonly unknownIn: readonly ClusterName[];
}

export interface ClusterPrice {
  readonly cluster: ClusterName;
  /** Absent if the registration states no price. */
  readonly perMonth?: number;
  readonly currency?: string;
  /** Whether requests that the deployment does not state were replaced by defaults. */
  readonly isAssumed: boolean;
}
