import type { Random } from "@oaas/foundation";

/** Requests over time, as in a recorded trace. */
export interface LoadCurve {
  readonly name: string;
  readonly intervalMs: number;
  /** Requests in each interval. */
  readonly counts: readonly number[];
  readonly durationP50Ms: number;
  readonly durationP99Ms: number;
}

/** The requests of one function: when each arrives and how long it takes to serve. */
export interface Workload {
  readonly name: string;
  readonly horizonMs: number;
  /** Ascending. */
  readonly arrivalsMs: Float64Array;
  readonly servicesMs: Float64Array;
  /** Requests that a replica serves at the same time. */
  readonly concurrency: number;
  /** A slower response violates the objective. */
  readonly latencyTargetMs: number;
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

/** Replicas at the peak of the load; longer requests get a higher concurrency instead. */
const PEAK_REPLICAS = 40;
const MAX_REPLICAS = 100;
/** The latency requirement relative to the slowest hundredth of requests on an idle replica. */
const LATENCY_MARGIN = 2;
/** The 99th percentile of the standard normal distribution. */
const Z99 = 2.326;

/**
 * The requests of a load curve: uniform arrivals in each interval, service times from the log-normal distribution
 * with these percentiles. The same random numbers give the same requests.
 */
export function workloadOf(curve: LoadCurve, random: Random): Workload {
  const { intervalMs, counts, durationP50Ms, durationP99Ms } = curve;
  const total = counts.reduce((sum, count) => sum + Math.round(count), 0);
  const arrivalsMs = new Float64Array(total);
  let at = 0;
  for (const [index, count] of counts.entries()) {
    const from = at;
    for (let nth = 0; nth < Math.round(count); nth += 1) {
      arrivalsMs[at] = (index + random.next()) * intervalMs;
      at += 1;
    }
    arrivalsMs.subarray(from, at).sort();
  }
  const spread = Math.log(Math.max(1, durationP99Ms / durationP50Ms)) / Z99;
  const servicesMs = Float64Array.from({ length: total }, () =>
    Math.min(durationP50Ms * Math.exp(spread * normal(random)), durationP99Ms * LATENCY_MARGIN),
  );
  const busiest = Math.max(0, ...busyServers(arrivalsMs, servicesMs, counts.length * intervalMs, 60_000));
  return {
    name: curve.name,
    horizonMs: counts.length * intervalMs,
    arrivalsMs,
    servicesMs,
    concurrency: Math.max(1, Math.ceil(busiest / PEAK_REPLICAS)),
    latencyTargetMs: LATENCY_MARGIN * durationP99Ms,
    minReplicas: 1,
    maxReplicas: MAX_REPLICAS,
  };
}

/** A number from the standard normal distribution (Box-Muller). */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

/** The mean number of requests in service in each step, if every request were served at once. */
function busyServers(arrivalsMs: Float64Array, servicesMs: Float64Array, horizonMs: number, stepMs: number): number[] {
  const work = Array.from<number>({ length: Math.ceil(horizonMs / stepMs) }).fill(0);
  for (const [index, arrival] of arrivalsMs.entries()) {
    const end = Math.min(horizonMs, arrival + (servicesMs[index] as number));
    for (let step = Math.floor(arrival / stepMs); step * stepMs < end; step += 1) {
      work[step] = (work[step] as number) + Math.min(end, (step + 1) * stepMs) - Math.max(arrival, step * stepMs);
    }
  }
  return work.map((ms) => ms / stepMs);
}

/**
 * The replicas that each step needs: the requests in service, and a reserve of `reserve` times their square root for
 * chance (square-root staffing).
 */
export function demandOf(workload: Workload, stepMs: number, reserve: number): readonly number[] {
  const { arrivalsMs, servicesMs, horizonMs, concurrency, minReplicas, maxReplicas } = workload;
  return busyServers(arrivalsMs, servicesMs, horizonMs, stepMs).map((busy) => {
    const replicas = Math.ceil((busy + reserve * Math.sqrt(busy)) / concurrency);
    return Math.min(maxReplicas, Math.max(minReplicas, replicas));
  });
}
