/**
 * How the latency and CPU of one replica depend on its load, learnt from samples.
 *
 * Each point is one range of requests per second per replica, 10 % wide. It remembers the last observations in that range,
 * so that knowledge about a load is replaced only by newer observations of the same load and does not fade by itself.
 */
export interface CapacityCurve {
  readonly revision?: string;
  readonly percentile?: number;
  /** Samples up to this time are learnt. */
  readonly learntUntilMs: number;
  /** In ascending order of load, bounded. */
  readonly points: readonly CapacityPoint[];
}

/** What is known about one range of load. */
export interface CapacityPoint {
  /** The load is at least `1.1 ^ range` requests per second per replica. */
  readonly range: number;
  /** Observations, bounded: the weight of the next one is 1 / (count + 1). */
  readonly count: number;
  /** The geometric moving average of the latency. */
  readonly latencyMs?: number;
  /** The moving average of the CPU per replica. */
  readonly cpuMillicores?: number;
  readonly lastMs: number;
}

/** measured: from latency under load. cpu: extrapolated from CPU per request. assumed: the default of the settings. */
export type CapacitySource = "measured" | "cpu" | "assumed";

/** The capacity of one replica at the latency requirement. */
export interface CapacityEstimate {
  readonly source: CapacitySource;
  /** Requests per second that one replica serves. `lower <= rpsPerReplica <= upper`. */
  readonly rpsPerReplica: number;
  readonly lower: number;
  readonly upper: number;
  /** Whether `rpsPerReplica` is below what a replica can serve, because CPU stays at its target share. */
  readonly hasHeadroom: boolean;
  /** Requests per second of one core, without the CPU of an idle replica. */
  readonly rpsPerCore?: number;
  /** The largest load at which latency was within its limit. */
  readonly sustainedRps?: number;
  /** The smallest load at which it was not. */
  readonly saturatedRps?: number;
  /** The latency that a replica must meet: the requirement, or twice the best latency when it is not met at any load. */
  readonly latencyLimitMs?: number;
  /** Latency is above its requirement at every load. */
  readonly isLatencyIndependent: boolean;
  /** 0 to 1. */
  readonly confidence: number;
}

/** The ratio of two neighbouring loads of a curve. */
const RANGE_FACTOR = 1.1;

const LOG_RANGE_FACTOR = Math.log(RANGE_FACTOR);

/** The range of a load in requests per second per replica. */
export function rangeOf(rpsPerReplica: number): number {
  // A tolerance keeps a load that was computed from a range in that range.
  return Math.floor(Math.log(rpsPerReplica) / LOG_RANGE_FACTOR + 1e-9);
}

/** The smallest load of a range. */
export function loadOf(range: number): number {
  return RANGE_FACTOR ** range;
}

/** The load that one replica should have: its capacity without the headroom for spikes. */
export function usableRps({ rpsPerReplica, hasHeadroom }: CapacityEstimate, headroom: number): number {
  return hasHeadroom ? rpsPerReplica : rpsPerReplica / (1 + headroom);
}
