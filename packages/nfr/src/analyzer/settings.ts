/** The parameters of the analyzer. All times are in milliseconds. */
export interface AnalyzerSettings {
  /** Stored with every analysis, so that it can be recomputed. */
  readonly version: string;
  /** The range of the samples. */
  readonly windowMs: number;
  /** The step of the samples. */
  readonly stepMs: number;
  /** The range of the rates in the queries: after a change, samples are mixed with what was before for this long. */
  readonly rateWindowMs: number;
  /** A window with fewer samples of a signal says nothing about it. */
  readonly minSamples: number;
  /** A window with fewer requests has no latency, error or availability verdict. */
  readonly minRequests: number;
  /** Data older than this is outdated: nothing is recommended. */
  readonly maxDataAgeMs: number;
  /** How long a recommendation is valid. */
  readonly validMs: number;
  /** The half-life of the exponential moving average of the demand. */
  readonly smoothingHalfLifeMs: number;
  /** Additional capacity for spikes, as a share of the measured demand. */
  readonly headroom: number;
  /** The share of the requested CPU that replicas use at most. */
  readonly cpuTarget: number;
  /** The same for components with many replicas, which need a smaller reserve each. */
  readonly maxCpuTarget: number;
  /** CPU per replica when the class states none. */
  readonly assumedCpuMillicores: number;
  /** Requests per second of one replica until measured. */
  readonly assumedRpsPerReplica: number;
  /** The availability of one replica, for the replicas that an availability requirement needs. */
  readonly assumedReplicaAvailability: number;
  /** Throughput is violated below this share of the requirement while demand is not served. */
  readonly throughputTolerance: number;
  /** The largest factor by which one latency violation raises the replicas. */
  readonly maxLatencyFactor: number;
  /**
   * How long replicas need after their start. Until then, and one rate window longer, samples are not learnt and their
   * latency does not add replicas.
   */
  readonly settlingMs: number;
  /** The time in which a queue must be drained. */
  readonly drainMs: number;
  /** A decrease must save at least this share; keeps the target stable at a boundary. */
  readonly hysteresis: number;
  /** From this confidence on, the learnt capacity replaces the assumed one. */
  readonly minConfidence: number;
  /** A part of the capacity model loses half of its confidence after this time without samples. */
  readonly modelHalfLifeMs: number;
  /** After a loss of history the target is not lowered for this long, unless the model is confident earlier. */
  readonly historyHoldMs: number;
  /** The ratio to a requirement from which a violation is urgent. */
  readonly urgentRatio: number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The settings of the design documents; `OPRC_CRM_PROM_RANGE` and `_STEP` are the window and the step. */
export const DEFAULT_ANALYZER_SETTINGS: AnalyzerSettings = {
  version: "1",
  windowMs: 10 * MINUTE,
  stepMs: 30 * SECOND,
  rateWindowMs: 2 * MINUTE,
  minSamples: 3,
  minRequests: 30,
  maxDataAgeMs: 3 * MINUTE,
  validMs: 5 * MINUTE,
  smoothingHalfLifeMs: MINUTE,
  headroom: 0.2,
  cpuTarget: 0.7,
  maxCpuTarget: 0.9,
  assumedCpuMillicores: 500,
  assumedRpsPerReplica: 1000,
  assumedReplicaAvailability: 0.99,
  throughputTolerance: 0.8,
  maxLatencyFactor: 2,
  settlingMs: 30 * SECOND,
  drainMs: MINUTE,
  hysteresis: 0.1,
  minConfidence: 0.5,
  modelHalfLifeMs: 24 * HOUR,
  historyHoldMs: HOUR,
  urgentRatio: 1.5,
};
