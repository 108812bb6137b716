import type { Window } from "./aggregates.ts";
import type { AnalysisInput } from "./analysis.ts";
import type { Observation } from "./learn-capacity.ts";
import type { Measurements } from "./measure.ts";
import { optional } from "./optional.ts";
import { valueAt } from "./window.ts";

/** The steps that say something about the capacity: enough requests, known replicas, nothing started shortly before. */
export function observeLoad(
  { windows, latencySignal, requests }: Measurements,
  { scale, settings, requirements }: AnalysisInput,
  afterMs: number,
): Observation[] {
  const rates = windows.requests_per_second;
  if (rates === undefined || (requests ?? 0) < settings.minRequests) return [];
  const observations: Observation[] = [];
  for (let i = rates.times.length - 1; i >= 0; i -= 1) {
    const atMs = rates.times[i] ?? 0;
    if (atMs <= afterMs) break;
    const replicas = settledReplicas(windows, atMs, scale.current, settings.settlingMs + settings.rateWindowMs);
    if (replicas === undefined) continue;
    const latency = windows[latencySignal];
    const latencyMs = latency === undefined ? undefined : valueAt(latency, atMs, settings.stepMs);
    const cpu = windows.cpu_millicores;
    const cpuTotal = cpu === undefined ? undefined : valueAt(cpu, atMs, settings.stepMs);
    const rpsPerReplica = (rates.values[i] ?? 0) / replicas;
    const cpuMillicores = optional("cpuMillicores", cpuTotal === undefined ? undefined : cpuTotal / replicas);
    if (latencyMs === undefined || latencyMs <= (requirements.maxLatencyMs ?? latencyMs)) {
      observations.push({ atMs, rpsPerReplica, ...optional("latencyMs", latencyMs), ...cpuMillicores });
      continue;
    }
    // A queue outlasts the load that caused it: the largest load of the time before is to blame.
    const cause = largestSince(rates, i, atMs - QUEUE_RANGES * settings.rateWindowMs) / replicas;
    if (cause === rpsPerReplica) observations.push({ atMs, rpsPerReplica, latencyMs, ...cpuMillicores });
    else observations.push({ atMs, rpsPerReplica: cause, latencyMs }, { atMs, rpsPerReplica, ...cpuMillicores });
  }
  return observations.reverse();
}

/** High latency may come from a load in the last so many ranges of rates. */
const QUEUE_RANGES = 2;

/** The largest value from a time on, up to an index. */
function largestSince({ times, values }: Window, until: number, sinceMs: number): number {
  let largest = 0;
  for (let i = until; i >= 0 && (times[i] ?? 0) >= sinceMs; i -= 1) largest = Math.max(largest, values[i] ?? 0);
  return largest;
}

/** The replicas at a time when they did not change and nothing restarted shortly before; else undefined. */
function settledReplicas(
  { ready_replicas: ready, restarts }: Measurements["windows"],
  atMs: number,
  current: number,
  settleMs: number,
): number | undefined {
  if (restarts !== undefined && !isConstant(restarts, atMs - settleMs, atMs)) return undefined;
  if (ready === undefined) return current > 0 ? current : undefined;
  if (!isConstant(ready, atMs - settleMs, atMs)) return undefined;
  const replicas = valueAt(ready, atMs, settleMs);
  return replicas !== undefined && replicas > 0 ? replicas : undefined;
}

function isConstant(
  { times, values }: { readonly times: readonly number[]; readonly values: readonly number[] },
  fromMs: number,
  toMs: number,
): boolean {
  let known: number | undefined;
  for (let i = times.length - 1; i >= 0; i -= 1) {
    const time = times[i] ?? 0;
    if (time > toMs) continue;
    if (known !== undefined && values[i] !== known) return false;
    known = values[i];
    if (time < fromMs) break;
  }
  return true;
}
