import type { Compliance } from "../compliance.ts";
import type { Urgency } from "../enforcement.ts";
import { roundTo } from "./aggregates.ts";
import type { AnalysisInput } from "./analysis.ts";
import type { AssessedRequirement } from "./assess-requirements.ts";
import type { CapacityEstimate } from "./capacity.ts";
import type { Measurements } from "./measure.ts";
import { optional } from "./optional.ts";

/** How urgent a change is, from the budget that burns fastest and the worst ratio to a requirement. */
export function assessUrgency(
  input: AnalysisInput,
  measured: Measurements,
  assessed: readonly AssessedRequirement[],
  capacity: CapacityEstimate,
): { urgency: Urgency; sinceMs: number | undefined } {
  const ratio = worstRatio(input, measured, capacity);
  const isUrgent = ratio !== undefined && ratio >= input.settings.urgentRatio;
  const sinceMs = isUrgent ? urgentSince(input, measured) : undefined;
  return {
    urgency: {
      ...fastestBurn(assessed.map(({ compliance }) => compliance)),
      ...optional("ratio", ratio === undefined ? undefined : roundTo(ratio, 3)),
      // Only the time that samples cover counts, not their age: what was measured for 30 s has lasted for 30 s.
      ...optional("ratioSinceMs", sinceMs === undefined ? undefined : sinceMs + (measured.dataAgeMs ?? 0)),
    },
    sinceMs,
  };
}

/** The rates of the requirement that burns fastest over both windows. */
function fastestBurn(compliance: readonly Compliance[]): Pick<Urgency, "burnRate5m" | "burnRate1h"> {
  let fastest: Pick<Urgency, "burnRate5m" | "burnRate1h"> = {};
  let rate = -1;
  for (const { burnRates } of compliance) {
    const hour = burnRates.find(({ long }) => long === "1h");
    const both = Math.min(hour?.longRate ?? 0, hour?.shortRate ?? 0);
    if (hour === undefined || both <= rate) continue;
    rate = both;
    fastest = { ...optional("burnRate5m", hour.shortRate), ...optional("burnRate1h", hour.longRate) };
  }
  return fastest;
}

/** The newest latency relative to its requirement while the load that caused it lasts, or demand relative to a capacity that was measured. */
function worstRatio(
  { requirements, settings }: AnalysisInput,
  { windows, latencySignal, latencyMs, demand, readyReplicas, isLoadEnding }: Measurements,
  capacity: CapacityEstimate,
): number | undefined {
  const ratios: number[] = [];
  const newest = windows[latencySignal]?.values.at(-1);
  if (!isLoadEnding && latencyMs !== undefined && newest !== undefined && requirements.maxLatencyMs !== undefined) {
    ratios.push(newest / requirements.maxLatencyMs);
  }
  const isMeasured = capacity.source === "measured" && capacity.confidence >= settings.minConfidence;
  if (isMeasured && demand !== undefined && readyReplicas > 0) {
    ratios.push(demand / (readyReplicas * capacity.rpsPerReplica));
  }
  return ratios.length === 0 ? undefined : Math.max(...ratios);
}

/** Since when it is urgent: remembered, or since the start of the samples at the end of the window that are. */
function urgentSince(
  { state, requirements, settings, nowMs }: AnalysisInput,
  { windows, latencySignal }: Measurements,
) {
  if (state?.urgentSinceMs !== undefined) return state.urgentSinceMs;
  const latency = windows[latencySignal];
  const limit = settings.urgentRatio * (requirements.maxLatencyMs ?? Number.POSITIVE_INFINITY);
  let since = nowMs;
  for (let i = (latency?.values.length ?? 0) - 1; i >= 0; i -= 1) {
    if ((latency?.values[i] ?? 0) < limit) break;
    since = latency?.times[i] ?? since;
  }
  return since;
}
