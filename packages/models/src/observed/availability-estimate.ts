import { AvailabilitySource, clusterAvailability, type ClusterHealth } from "./cluster.ts";

/** The availability that an operator states for a cluster, and the evidence it stands for. */
export interface AvailabilityPrior {
  /** Above 0 and below 1. */
  readonly value: number;
  /** Observed hours that the statement counts as. */
  readonly weightHours: number;
  /** Where the value comes from, such as a contract or an earlier measurement. */
  readonly source: string;
  /** When it was stated or last checked: `YYYY-MM-DD`. Absent for the default. */
  readonly date?: string;
}

/** Weight of a stated prior without its own: one week of observation. */
export const DEFAULT_PRIOR_WEIGHT_HOURS = 168;

/**
 * The prior of a cluster for which none is stated: one day of observation at the default target. A new cluster can
 * therefore run what states no target, and a measured day counts as much as the assumption.
 */
export const DEFAULT_PRIOR: AvailabilityPrior = {
  value: 0.99,
  weightHours: 24,
  source: "assumed, because none is stated",
};

/** The lowest and the highest prior: certainty cannot be stated. */
export const PRIOR_RANGE = { min: 0.000_001, max: 0.999_999_999 } as const;
export const PRIOR_WEIGHT_RANGE = { min: 1, max: 87_600 } as const;

/** Weight of a value that is reported without a sample size, beside a stated prior. */
export const UNMEASURED_HOURS = 1;

/**
 * How the availability of a cluster was determined: a prior combined with a measurement, the prior alone, a value that the
 * cluster reports without a sample size, or a value that tests and simulated clusters configure.
 */
export const EstimateBasis = {
  combined: "combined",
  prior: "prior",
  reported: "reported",
  configured: "configured",
} as const;
export type EstimateBasis = (typeof EstimateBasis)[keyof typeof EstimateBasis];

/** The availability of a cluster to plan with, and its inputs. */
export interface AvailabilityEstimate {
  readonly value: number;
  readonly basis: EstimateBasis;
  readonly prior: AvailabilityPrior;
  /** Whether an operator stated the prior. */
  readonly isPriorStated: boolean;
  /** The observation beside the prior, with its weight; absent if there is none. */
  readonly observed?: { readonly value: number; readonly hours: number; readonly source?: AvailabilitySource };
  /** The part of the downtime that nodes cause: the share of time that one node is up while its cluster is. */
  readonly nodeAvailability?: number;
}

/**
 * Estimates the availability of a cluster.
 *
 * A measurement and the prior are combined as a Beta distribution: each hour of observation counts as one trial, so that
 * the result is their mean, weighted by hours. The prior is strictly between 0 and 1, and so is the result.
 *
 * A value without a sample size cannot be weighed. Beside a stated prior it counts as one hour; without one it is used as
 * reported. A present share of ready nodes, and a reported 1, do not raise the default prior: that nothing fails now is no
 * evidence about the past.
 *
 * Undefined if the cluster reports nothing and no prior is stated.
 */
export function estimateAvailability(
  health: ClusterHealth | undefined,
  stated: AvailabilityPrior | undefined,
): AvailabilityEstimate | undefined {
  const present = health === undefined ? undefined : clusterAvailability(health);
  const prior = stated ?? DEFAULT_PRIOR;
  const base = { prior, isPriorStated: stated !== undefined };
  const source = health?.availability === undefined ? AvailabilitySource.readyNodes : health.availabilitySource;
  if (source === AvailabilitySource.configured && present !== undefined) {
    return { ...base, value: present, basis: EstimateBasis.configured };
  }
  const measured = health?.measurement;
  if (measured !== undefined && measured.evidenceHours > 0) {
    return { ...base, ...combine(prior, measured), basis: EstimateBasis.combined };
  }
  if (present === undefined) return stated === undefined ? undefined : { ...base, ...priorAlone(prior) };
  const observed = { value: present, hours: UNMEASURED_HOURS, ...(source === undefined ? {} : { source }) };
  if (stated !== undefined) {
    return { ...base, value: weightedMean(prior, observed), basis: EstimateBasis.combined, observed };
  }
  const limit = source === AvailabilitySource.readyNodes ? prior.value : 1;
  return present >= limit
    ? { ...base, ...priorAlone(prior) }
    : { ...base, value: present, basis: EstimateBasis.reported, observed: { ...observed, hours: 0 } };
}

function priorAlone({ value }: AvailabilityPrior): Pick<AvailabilityEstimate, "value" | "basis"> {
  return { value, basis: EstimateBasis.prior };
}

function weightedMean(prior: AvailabilityPrior, observed: { readonly value: number; readonly hours: number }): number {
  const total = prior.weightHours + observed.hours;
  const mean = (prior.value * prior.weightHours + observed.value * observed.hours) / total;
  // Rounding must not leave the range of the inputs.
  return Math.min(Math.max(prior.value, observed.value), Math.max(Math.min(prior.value, observed.value), mean));
}

/**
 * The downtime is that of the prior, of the API and of the nodes. Only the measured downtime of nodes is attributed to
 * nodes: without evidence, a failure counts as one of the whole cluster, the safe side.
 */
function combine(
  prior: AvailabilityPrior,
  { value, apiAvailability, nodeAvailability, evidenceHours }: NonNullable<ClusterHealth["measurement"]>,
): Pick<AvailabilityEstimate, "value" | "observed" | "nodeAvailability"> {
  const observed = { value, hours: evidenceHours, source: AvailabilitySource.measured };
  const combined = weightedMean(prior, observed);
  if (nodeAvailability === undefined) return { value: combined, observed };
  const ofNodes = (evidenceHours * apiAvailability * (1 - nodeAvailability)) / (prior.weightHours + evidenceHours);
  return { value: combined, observed, nodeAvailability: combined / (combined + ofNodes) };
}
