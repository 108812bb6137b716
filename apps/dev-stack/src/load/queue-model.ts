/** What a function has to serve during one interval. */
export interface Demand {
  readonly requestsPerSecond: number;
  readonly replicas: number;
  /** Requests per second that one replica can serve. */
  readonly capacityPerReplica: number;
  readonly seconds: number;
}

/** What happened in the interval. Counts may be fractions. */
export interface Served {
  readonly completed: number;
  readonly failed: number;
  /** Requests that wait at the end. */
  readonly backlog: number;
  /** The share of the time that replicas were busy, 0 to 1. */
  readonly utilization: number;
  /** The share of completed requests that took at most so many seconds. */
  readonly shareWithin: (seconds: number) => number;
  readonly meanSeconds: number;
}

/** A request that would wait longer fails. */
const TIMEOUT_SECONDS = 10;
/** The formula of a stable queue needs some distance from saturation. */
const MAX_UTILIZATION = 0.99;

/**
 * A function as a queue in front of identical servers (M/M/c). Below saturation the latency follows Erlang's formula;
 * above it requests pile up, wait for the backlog, and fail when the wait exceeds the timeout.
 */
export function serveDemand(demand: Demand, waiting: number): Served {
  const { requestsPerSecond, replicas, capacityPerReplica, seconds } = demand;
  const arrived = requestsPerSecond * seconds;
  const capacity = replicas * capacityPerReplica;
  if (capacity === 0) {
    return {
      completed: 0,
      failed: arrived + waiting,
      backlog: 0,
      utilization: 0,
      shareWithin: () => 0,
      meanSeconds: 0,
    };
  }
  const completed = Math.min(waiting + arrived, capacity * seconds);
  const left = waiting + arrived - completed;
  const backlog = Math.min(left, capacity * TIMEOUT_SECONDS);
  const base = { completed, failed: left - backlog, backlog, utilization: completed / (capacity * seconds) };
  if (left > 0) return { ...base, ...saturatedLatency((waiting + backlog) / 2 / capacity, capacityPerReplica) };
  return { ...base, ...stableLatency(requestsPerSecond, replicas, capacityPerReplica) };
}

type Latency = Pick<Served, "shareWithin" | "meanSeconds">;

/** Every request waits for the backlog before its own, exponential, service. */
function saturatedLatency(waitSeconds: number, rate: number): Latency {
  return {
    shareWithin: (seconds) => (seconds <= waitSeconds ? 0 : 1 - Math.exp(-rate * (seconds - waitSeconds))),
    meanSeconds: waitSeconds + 1 / rate,
  };
}

function stableLatency(arrivalRate: number, replicas: number, rate: number): Latency {
  const load = Math.min(arrivalRate / rate, replicas * MAX_UTILIZATION);
  const queued = erlangC(load, replicas);
  const drain = (replicas - load) * rate;
  return {
    shareWithin: (seconds) => 1 - survival(seconds, { queued, rate, drain }),
    meanSeconds: 1 / rate + queued / drain,
  };
}

/** The probability that wait and service together exceed a time. */
function survival(seconds: number, { queued, rate, drain }: { queued: number; rate: number; drain: number }): number {
  const service = Math.exp(-rate * seconds);
  const difference = drain - rate;
  // The sum of two exponential times; the limit where their rates are equal.
  const both =
    Math.abs(difference) < 1e-9 * rate
      ? (1 + rate * seconds) * service
      : (drain * service - rate * Math.exp(-drain * seconds)) / difference;
  return (1 - queued) * service + queued * both;
}

/** The probability that an arriving request waits: Erlang's C formula, by its stable recursion. */
export function erlangC(load: number, servers: number): number {
  if (load <= 0) return 0;
  let blocked = 1;
  for (let server = 1; server <= servers; server += 1) blocked = (load * blocked) / (server + load * blocked);
  const utilization = load / servers;
  return Math.min(1, blocked / (1 - utilization + utilization * blocked));
}
