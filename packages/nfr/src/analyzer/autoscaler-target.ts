import type { ComponentScale } from "./analysis.ts";
import type { CapacityEstimate } from "./capacity.ts";
import type { AnalyzerSettings } from "./settings.ts";

/** Below this an autoscaler would pay for replicas that do nothing. */
export const MIN_TARGET_UTILIZATION = 0.3;
export const MAX_TARGET_UTILIZATION = 0.9;

/** Smaller changes are not worth a change of the autoscaler. */
const STEPS = 20;

/**
 * The share of the requested CPU at which an autoscaler keeps the latency requirement: what a replica uses at its learnt
 * capacity, less the reserve for spikes, in steps of 5 %. Undefined until the capacity is known with confidence, and
 * where the user states a target.
 */
export function autoscalerTarget(
  { source, confidence, rpsPerReplica, rpsPerCore }: CapacityEstimate,
  { cpuRequestMillicores, cpuTarget }: Pick<ComponentScale, "cpuRequestMillicores" | "cpuTarget">,
  { minConfidence, headroom }: Pick<AnalyzerSettings, "minConfidence" | "headroom">,
): number | undefined {
  if (cpuTarget !== undefined || source !== "measured" || confidence < minConfidence) return undefined;
  if (rpsPerCore === undefined || cpuRequestMillicores === undefined) return undefined;
  const atCapacity = (1000 * rpsPerReplica) / rpsPerCore / cpuRequestMillicores;
  if (!Number.isFinite(atCapacity) || atCapacity <= 0) return undefined;
  const steps = Math.floor((atCapacity / (1 + headroom)) * STEPS + 1e-9) / STEPS;
  return Math.min(Math.max(steps, MIN_TARGET_UTILIZATION), MAX_TARGET_UTILIZATION);
}
