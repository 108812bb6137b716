import type { DecayingHistogram } from "./decaying-histogram.ts";
import { MEMORY_SAMPLE_WEIGHT, OOM_MIN_BYTES, OOM_RATIO, PEAK_INTERVAL_MS } from "./settings.ts";

/** What is remembered of one pod, as plain JSON. */
export interface PodUsage {
  lastCpuMs?: number;
  lastMemoryMs?: number;
  /** The end of the interval of the peaks. */
  intervalEndMs?: number;
  /** The largest measured usage in the interval. */
  peakBytes: number;
  /** The largest estimate after an OOM kill in the interval. */
  oomPeakBytes: number;
  /** OOM kills at the last sample of that series. */
  oomKills: number;
  lastOomMs?: number;
}

/** A pod without peaks, whose samples up to `seenMs` are ignored. */
export function newPodUsage(seenMs?: number): PodUsage {
  const seen = seenMs === undefined ? {} : { lastCpuMs: seenMs, lastMemoryMs: seenMs, lastOomMs: seenMs };
  return { ...seen, peakBytes: 0, oomPeakBytes: 0, oomKills: 0 };
}

/** Adds measured memory. A pod contributes one peak per interval; a larger one replaces it. */
export function addMemory(pod: PodUsage, peaks: DecayingHistogram, atMs: number, bytes: number): void {
  // A container that starts reports zero. VPA would ignore all peaks of the interval after it.
  if (bytes <= 0 || (pod.lastMemoryMs !== undefined && atMs < pod.lastMemoryMs)) return;
  if (addPeak(pod, peaks, atMs, bytes)) pod.peakBytes = bytes;
}

/** Adds an estimate of the memory that a killed container needs, from its request or its usage, at most the limit. */
export function addOomKill(
  pod: PodUsage,
  peaks: DecayingHistogram,
  oom: { readonly atMs: number; readonly requestBytes: number; readonly limitBytes: number },
): void {
  if (pod.lastMemoryMs !== undefined && oom.atMs < pod.lastMemoryMs - PEAK_INTERVAL_MS) return;
  // Not from an earlier estimate: kills of the same size must not add up.
  const used = Math.max(oom.requestBytes, pod.peakBytes);
  const needed = Math.min(Math.max(used + OOM_MIN_BYTES, Math.trunc(used * OOM_RATIO)), oom.limitBytes);
  if (needed > 0 && addPeak(pod, peaks, oom.atMs, needed)) pod.oomPeakBytes = needed;
}

/** Returns whether the value is a new peak. */
function addPeak(pod: PodUsage, peaks: DecayingHistogram, atMs: number, bytes: number): boolean {
  pod.lastMemoryMs = Math.max(pod.lastMemoryMs ?? atMs, atMs);
  const endMs = pod.intervalEndMs ?? atMs;
  const peak = Math.max(pod.peakBytes, pod.oomPeakBytes);
  if (atMs < endMs) {
    if (bytes <= peak) return false;
    peaks.subtract(peak, MEMORY_SAMPLE_WEIGHT, endMs);
  } else {
    pod.peakBytes = 0;
    pod.oomPeakBytes = 0;
    pod.intervalEndMs = endMs + (Math.floor((atMs - endMs) / PEAK_INTERVAL_MS) + 1) * PEAK_INTERVAL_MS;
  }
  peaks.add(bytes, MEMORY_SAMPLE_WEIGHT, pod.intervalEndMs ?? endMs);
  return true;
}
