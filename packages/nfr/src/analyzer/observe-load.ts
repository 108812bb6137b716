import type { AnalysisInput } from "./analysis.ts";
import type { Observation } from "./learn-capacity.ts";
import type { Measurements } from "./measure.ts";
import { optional } from "./optional.ts";
import { valueAt } from "./window.ts";

/** The steps that say something about the capacity: enough requests, known replicas, nothing started shortly before. */
export function observeLoad(
  { windows, latencySignal, requests }: Measurements,
  { scale, settings }: AnalysisInput,
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
    const cpu = windows.cpu_millicores;
    const cpuTotal = cpu === undefined ? undefined : valueAt(cpu, atMs, settings.stepMs);
    observations.push({
      atMs,
      rpsPerReplica: (rates.values[i] ?? 0) / replicas,
      ...optional("latencyMs", latency === undefined ? undefined : valueAt(latency, atMs, settings.stepMs)),
      ...optional("cpuMillicores", cpuTotal === undefined ? undefined : cpuTotal / replicas),
    });
  }
  return observations.reverse();
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
