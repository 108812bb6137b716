import type { HistogramCheckpoint } from "./decaying-histogram.ts";
import type { History } from "./estimate.ts";
import type { PodUsage } from "./pod-usage.ts";

/** Targets in millicores and bytes. */
export interface ResourceTargets {
  readonly cpu?: number;
  readonly memory?: number;
}

/** A resource model as plain JSON of bounded size, to store it in a status. */
export interface ResourceCheckpoint {
  readonly version: 1;
  readonly cpu: HistogramCheckpoint;
  readonly memory: HistogramCheckpoint;
  readonly history?: History;
  readonly oomKills: number;
  readonly lastTargets: ResourceTargets;
  readonly pods: Readonly<Record<string, PodUsage>>;
}

/** Whether a stored value has the form of a checkpoint, with finite numbers only. */
export function isResourceCheckpoint(value: unknown): value is ResourceCheckpoint {
  if (!isRecord(value) || value["version"] !== 1) return false;
  const { cpu, memory, history, oomKills, lastTargets, pods } = value;
  return (
    isHistogram(cpu) &&
    isHistogram(memory) &&
    (history === undefined || hasNumbers(history, ["firstMs", "lastMs", "samples"])) &&
    isAmount(oomKills) &&
    hasNumbers(lastTargets, []) &&
    isRecord(pods) &&
    Object.values(pods).every((pod) => hasNumbers(pod, ["peakBytes", "oomPeakBytes", "oomKills"]))
  );
}

function isHistogram(value: unknown): value is HistogramCheckpoint {
  return (
    isRecord(value) &&
    Number.isFinite(value["referenceMs"]) &&
    isAmount(value["totalWeight"]) &&
    hasNumbers(value["weights"], [])
  );
}

/** Whether all fields are finite numbers of at least 0, and the required ones exist. */
function hasNumbers(value: unknown, required: readonly string[]): boolean {
  return isRecord(value) && Object.values(value).every(isAmount) && required.every((name) => name in value);
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
