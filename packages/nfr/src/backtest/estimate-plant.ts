import { err, ok, type Result } from "@oaas/foundation";
import { quantile } from "../analyzer/aggregates.ts";
import type { Series, Signal } from "../samples.ts";
import type { LoadCurve } from "../simulation/workload.ts";
import type { PlantModel } from "./backtest.ts";
import type { RecordedComponent } from "./recording.ts";

const MINUTE_MS = 60_000;
/** Requests of one simulation, which bounds its memory and time. */
export const MAX_SIMULATED_REQUESTS = 5_000_000;
/** Latency of the quietest share of samples is taken as the time of service, without waiting. */
const QUIET_SHARE = 0.25;
/** The slowest hundredth relative to the median, when only the CPU of a request is known. */
const ASSUMED_SPREAD = 3;
/** The latency limit without a requirement, relative to the slowest hundredth. */
const ASSUMED_MARGIN = 2;

/** The load and a model of one component, estimated from its record; or why it cannot be simulated. */
export function estimatePlant(
  recorded: RecordedComponent,
  cpuMillicores: number,
): Result<{ readonly model: PlantModel; readonly curve: LoadCurve; readonly startMs: number }, string> {
  const load = recorded.signals.requests_per_second ?? [];
  if (load.length < 2) return err("requests_per_second has fewer than two samples");
  const service = estimateService(recorded.signals);
  if (service === undefined) {
    return err("neither latency_p50_ms nor cpu_millicores has samples with load: the time of service is unknown");
  }
  const { startMs, counts } = countsPerMinute(load);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total > MAX_SIMULATED_REQUESTS) {
    return err(`${total} requests exceed the limit of ${MAX_SIMULATED_REQUESTS}: record a shorter time`);
  }
  const { concurrency, source } = estimateConcurrency(recorded, service.p50, cpuMillicores);
  const { maxLatencyMs } = recorded.requirements;
  const latencyTargetMs = maxLatencyMs ?? ASSUMED_MARGIN * service.p99;
  const model: PlantModel = {
    serviceP50Ms: service.p50,
    serviceP99Ms: service.p99,
    concurrency,
    latencyTargetMs,
    sources: [
      service.source,
      source,
      maxLatencyMs === undefined
        ? `without a latency requirement, ${ASSUMED_MARGIN} times the slowest hundredth is the limit`
        : "the latency requirement is the limit",
    ],
  };
  const curve = {
    name: recorded.component,
    intervalMs: MINUTE_MS,
    counts,
    durationP50Ms: service.p50,
    durationP99Ms: service.p99,
  };
  return ok({ model, curve, startMs });
}

type Signals = Readonly<Partial<Record<Signal, Series>>>;

function estimateService(signals: Signals) {
  const p50 = quietMedian(signals, "latency_p50_ms");
  if (p50 !== undefined) {
    const p99 = Math.max(p50, quietMedian(signals, "latency_p99_ms") ?? ASSUMED_SPREAD * p50);
    return { p50, p99, source: "the time of service is the latency at the quietest quarter of the load" };
  }
  const cpu = cpuPerRequest(signals);
  if (cpu === undefined) return undefined;
  return { p50: cpu, p99: ASSUMED_SPREAD * cpu, source: "the time of service is the CPU time of a request" };
}

/** The median of a latency over the samples with the least load. */
function quietMedian(signals: Signals, signal: Signal): number | undefined {
  const loaded = joinSamples(signals.requests_per_second, signals[signal]).filter(([rps, ms]) => rps > 0 && ms > 0);
  const quiet = loaded.toSorted(([a], [b]) => a - b).slice(0, Math.max(1, Math.ceil(QUIET_SHARE * loaded.length)));
  return quiet.length === 0
    ? undefined
    : quantile(
        quiet.map(([, ms]) => ms),
        0.5,
      );
}

/** CPU time of a request in milliseconds. */
function cpuPerRequest(signals: Signals): number | undefined {
  const loaded = joinSamples(signals.requests_per_second, signals.cpu_millicores).filter(
    ([rps, cpu]) => rps > 0 && cpu > 0,
  );
  return loaded.length === 0
    ? undefined
    : quantile(
        loaded.map(([rps, cpu]) => cpu / rps),
        0.5,
      );
}

/** Values of two signals at the same times. */
function joinSamples(a: Series = [], b: Series = []): readonly (readonly [number, number])[] {
  const byTime = new Map(b.map(({ atMs, value }) => [atMs, value]));
  return a.flatMap(({ atMs, value }) => {
    const other = byTime.get(atMs);
    return other === undefined ? [] : [[value, other] as const];
  });
}

/** Requests in service of a replica that uses all its CPU; else of the busiest recorded replica. */
function estimateConcurrency({ signals }: RecordedComponent, serviceMs: number, cpuMillicores: number) {
  const cpu = cpuPerRequest(signals);
  if (cpu !== undefined) {
    const concurrency = Math.max(1, Math.round(((cpuMillicores / cpu) * serviceMs) / 1000));
    const source = `a replica with ${Math.round(cpuMillicores)}m CPU serves ${concurrency} requests at the same time`;
    return { concurrency, source };
  }
  const loads = joinSamples(signals.requests_per_second, signals.ready_replicas);
  let busiest = 1;
  for (const [rps, ready] of loads) busiest = Math.max(busiest, (rps * serviceMs) / 1000 / Math.max(1, ready));
  const concurrency = Math.ceil(busiest);
  return { concurrency, source: `the busiest recorded replica served ${concurrency} requests at the same time` };
}

/** Requests in each minute; a gap repeats the last load for at most a minute. */
function countsPerMinute(load: Series): { readonly startMs: number; readonly counts: readonly number[] } {
  const startMs = Math.floor((load[0]?.atMs ?? 0) / MINUTE_MS) * MINUTE_MS;
  const minutes = Math.ceil(((load.at(-1)?.atMs ?? startMs) - startMs + 1) / MINUTE_MS);
  const sums = Array.from({ length: minutes }, () => ({ total: 0, samples: 0 }));
  for (const { atMs, value } of load) {
    const minute = sums[Math.floor((atMs - startMs) / MINUTE_MS)];
    if (minute === undefined) continue;
    minute.total += Math.max(0, value);
    minute.samples += 1;
  }
  return {
    startMs,
    counts: sums.map(({ total, samples }) => (samples === 0 ? 0 : Math.round((60 * total) / samples))),
  };
}
