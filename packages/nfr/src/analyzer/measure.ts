import { SIGNALS, type Signal } from "../samples.ts";
import { max, mean, min, movingAverage, newestRate, type Window } from "./aggregates.ts";
import type { AnalysisInput, RequirementTargets } from "./analysis.ts";
import type { Findings } from "./findings.ts";
import { cleanSeries, integrateRate, valueAt } from "./window.ts";

/** What the window says about a component. A number that is not known is undefined. */
export interface Measurements {
  readonly windows: Readonly<Partial<Record<Signal, Window>>>;
  readonly latencySignal: Signal;
  /** Requests in the window; undefined when the rate is unknown. */
  readonly requests: number | undefined;
  /** Failed requests in the window. */
  readonly errors: number | undefined;
  readonly rps: number | undefined;
  /** The largest rate of the window. */
  readonly peakRps: number | undefined;
  /** The moving average of the rate, or the newest one when that is smaller, with what is needed to drain the queue. */
  readonly demand: number | undefined;
  /** The mean percentile, weighted by requests; undefined below the minimum of requests. */
  readonly latencyMs: number | undefined;
  /** The moving average of the percentile. */
  readonly newestLatencyMs: number | undefined;
  /** The moving average since the last change of replicas has settled; undefined before. */
  readonly recentLatencyMs: number | undefined;
  readonly cpuMillicores: number | undefined;
  /** The smallest demand and CPU of the window. */
  readonly lasting: { readonly demand: number | undefined; readonly cpuMillicores: number | undefined };
  /** Requests in the system beyond those that the latency requirement allows at this rate. */
  readonly waiting: number | undefined;
  /** Whether the newest step has less than half of the load that the newest rate shows. */
  readonly isLoadEnding: boolean;
  readonly readyReplicas: number;
  /** The share of the window that has samples, 0 to 1. */
  readonly coverage: number;
  readonly dataAgeMs: number | undefined;
}

/** The signal of the latency percentile that is required. */
export function latencySignalOf({ latencyPercentile }: RequirementTargets): Signal {
  if (latencyPercentile === 50) return "latency_p50_ms";
  return latencyPercentile === 95 ? "latency_p95_ms" : "latency_p99_ms";
}

/** Cleans all signals and aggregates them. */
export function measureComponent(input: AnalysisInput, findings: Findings): Measurements {
  const { settings, nowMs, scale, requirements } = input;
  const windows = cleanWindows(input, findings);
  const dataAgeMs = ageOfNewest(windows, nowMs);
  const usable = keepUsable(windows, input, findings);
  const { requests_per_second: rates, ready_replicas: ready } = usable;
  const latencySignal = latencySignalOf(requirements);
  const requests = sumOf(rates, settings.stepMs);
  const rps = mean(rates?.values ?? []);
  const waiting = countWaiting(follow(usable.queue_length, input), follow(rates, input), input);
  const changedMs = reportChanges(usable, input, findings);
  const longest = Math.max(rates?.times.length ?? 0, usable.cpu_millicores?.times.length ?? 0);
  return {
    windows: usable,
    latencySignal,
    requests,
    errors: sumOf(usable.errors_per_second, settings.stepMs),
    rps,
    peakRps: max(rates?.values ?? []),
    demand: estimateDemand(rates, waiting, input),
    latencyMs: weightedLatency(usable[latencySignal], rates, requests, input),
    newestLatencyMs: smooth(usable[latencySignal], input),
    recentLatencyMs: smoothSettled(usable[latencySignal], changedMs, input),
    cpuMillicores: follow(usable.cpu_millicores, input),
    lasting: { demand: min(rates?.values ?? []), cpuMillicores: min(usable.cpu_millicores?.values ?? []) },
    waiting,
    isLoadEnding: isEnding(rates, input),
    readyReplicas: ready?.values.at(-1) ?? scale.current,
    coverage: Math.min(1, longest / Math.max(1, Math.floor(settings.windowMs / settings.stepMs))),
    dataAgeMs,
  };
}

type Windows = Partial<Record<Signal, Window>>;

function cleanWindows({ samples, settings, nowMs }: AnalysisInput, findings: Findings): Windows {
  const { windowMs, stepMs } = settings;
  const windows: Windows = {};
  for (const signal of SIGNALS) {
    const series = samples.signals[signal];
    if (series === undefined || series.length === 0) continue;
    const window = cleanSeries(series, signal, { nowMs, windowMs, stepMs }, findings);
    if (window.times.length > 0) windows[signal] = window;
  }
  return windows;
}

function ageOfNewest(windows: Windows, nowMs: number): number | undefined {
  let newest: number | undefined;
  for (const signal of SIGNALS) {
    const last = windows[signal]?.times.at(-1);
    if (last !== undefined && (newest === undefined || last > newest)) newest = last;
  }
  return newest === undefined ? undefined : nowMs - newest;
}

/** Signals with enough samples that are recent. */
function keepUsable(windows: Windows, { settings, nowMs }: AnalysisInput, findings: Findings): Windows {
  const usable: Windows = {};
  for (const signal of SIGNALS) {
    const window = windows[signal];
    if (window === undefined) continue;
    const count = window.times.length;
    const ageMs = nowMs - (window.times.at(-1) ?? 0);
    if (ageMs > settings.maxDataAgeMs) {
      findings.add("data-outdated", `the newest sample is ${Math.round(ageMs / 1000)} s old`, signal);
    } else if (count < settings.minSamples) {
      findings.add("too-few-samples", `${count} of at least ${settings.minSamples} samples`, signal);
    } else usable[signal] = window;
  }
  return usable;
}

function sumOf(rates: Window | undefined, stepMs: number): number | undefined {
  return rates === undefined ? undefined : integrateRate(rates, stepMs);
}

function smooth(window: Window | undefined, { settings }: AnalysisInput): number | undefined {
  return window === undefined ? undefined : movingAverage(window, settings.smoothingHalfLifeMs);
}

/**
 * Follows a load: up with the moving average, down with the newest sample. The stability window of the policy keeps
 * replicas through a dip, so the average need not.
 */
function follow(window: Window | undefined, input: AnalysisInput): number | undefined {
  const average = smooth(window, input);
  return average === undefined ? undefined : Math.min(average, window?.values.at(-1) ?? average);
}

/** The moving average of the samples after a change and the time it needs to settle. */
function smoothSettled(
  window: Window | undefined,
  changedMs: number | undefined,
  input: AnalysisInput,
): number | undefined {
  if (window === undefined || changedMs === undefined) return smooth(window, input);
  const settledMs = changedMs + input.settings.settlingMs + input.settings.rateWindowMs;
  const first = window.times.findIndex((time) => time > settledMs);
  if (first < 0) return undefined;
  return smooth({ times: window.times.slice(first), values: window.values.slice(first) }, input);
}

function estimateDemand(
  rates: Window | undefined,
  waiting: number | undefined,
  input: AnalysisInput,
): number | undefined {
  const rps = follow(rates, input);
  return rps === undefined ? undefined : rps + ((waiting ?? 0) * 1000) / input.settings.drainMs;
}

/** Rates and percentiles show a load for a whole range after its end. */
function isEnding(rates: Window | undefined, { settings }: AnalysisInput): boolean {
  const rate = rates?.values.at(-1);
  if (rates === undefined || rate === undefined) return false;
  const newest = newestRate(rates, settings.rateWindowMs, settings.stepMs);
  return newest !== undefined && newest < rate / 2;
}

/** The latency that separates requests in progress from waiting ones when the class requires none. */
const ASSUMED_LATENCY_MS = 1000;

/** By Little's law: queue lengths include requests in progress, which are the rate times the latency. */
function countWaiting(
  queueLength: number | undefined,
  rps: number | undefined,
  { requirements, settings }: AnalysisInput,
): number | undefined {
  if (queueLength === undefined || rps === undefined) return undefined;
  // At most the time to drain the queue, so that more requests never mean less demand.
  const latencyMs = Math.min(requirements.maxLatencyMs ?? ASSUMED_LATENCY_MS, settings.drainMs);
  return Math.max(0, queueLength - (rps * latencyMs) / 1000);
}

function weightedLatency(
  latency: Window | undefined,
  rates: Window | undefined,
  requests: number | undefined,
  { settings }: AnalysisInput,
): number | undefined {
  if (latency === undefined || rates === undefined || (requests ?? 0) < settings.minRequests) return undefined;
  let sum = 0;
  let weight = 0;
  for (let i = 0; i < latency.times.length; i += 1) {
    const rate = valueAt(rates, latency.times[i] ?? 0, settings.stepMs) ?? 0;
    sum += rate * (latency.values[i] ?? 0);
    weight += rate;
  }
  return weight > 0 ? sum / weight : undefined;
}

/** Names restarts, OOM kills, counter resets, cold starts and throttling, and returns the time of the last change of replicas. */
function reportChanges(windows: Windows, { nowMs }: AnalysisInput, findings: Findings): number | undefined {
  const started = lastChange(windows.ready_replicas, (before, after) => after > before);
  const restarted = lastChange(windows.restarts, (before, after) => after > before);
  const killed = lastChange(windows.oom_kills, (before, after) => after > before);
  const ago = (atMs: number): string => `${Math.round((nowMs - atMs) / 1000)} s ago`;
  if (started !== undefined) findings.add("cold-start", `replicas started ${ago(started)}`, "ready_replicas");
  if (restarted !== undefined) findings.add("restarts", `a container restarted ${ago(restarted)}`, "restarts");
  if (killed !== undefined) findings.add("oom-kills", `a container ran out of memory ${ago(killed)}`, "oom_kills");
  for (const counter of ["restarts", "oom_kills"] as const) {
    const reset = lastChange(windows[counter], (before, after) => after < before);
    if (reset !== undefined) findings.add("counter-reset", `${counter} began again ${ago(reset)}`, counter);
  }
  const throttled = mean(windows.cpu_throttled_ratio?.values ?? []) ?? 0;
  if (throttled >= THROTTLED_RATIO) {
    const detail = `CPU was throttled in ${Math.round(throttled * 100)} % of the periods`;
    findings.add("cpu-throttled", detail, "cpu_throttled_ratio");
  }
  const changed = lastChange(windows.ready_replicas, (before, after) => after !== before);
  return changed === undefined || restarted === undefined ? (changed ?? restarted) : Math.max(changed, restarted);
}

/** A quarter of the periods is noticeable in the latency. */
const THROTTLED_RATIO = 0.25;

function lastChange(
  window: Window | undefined,
  isChange: (before: number, after: number) => boolean,
): number | undefined {
  if (window === undefined) return undefined;
  const { times, values } = window;
  for (let i = values.length - 1; i > 0; i -= 1) if (isChange(values[i - 1] ?? 0, values[i] ?? 0)) return times[i];
  return undefined;
}
