import { DrainedUnitState, type ComponentUsage, type DrainProgress } from "@oaas/models";

/** The components that use the most CPU, then memory. */
export function limitUsage(
  usage: readonly ComponentUsage[],
  maxEntries: number | undefined,
): readonly ComponentUsage[] {
  return keepFirst(usage, maxEntries, (a, b) => b.cpuMillicores - a.cpuMillicores || b.memoryBytes - a.memoryBytes);
}

/** Those that need attention first. */
const DRAIN_ORDER: readonly DrainedUnitState[] = [
  DrainedUnitState.blocked,
  DrainedUnitState.moving,
  DrainedUnitState.waiting,
];

/** The progress with the deployments that need attention, and the number of all. */
export function limitRemaining(progress: DrainProgress, maxEntries: number | undefined): DrainProgress {
  const { remaining } = progress;
  if (maxEntries === undefined) return progress;
  const shown = keepFirst(remaining, maxEntries, (a, b) => DRAIN_ORDER.indexOf(a.state) - DRAIN_ORDER.indexOf(b.state));
  return { ...progress, remaining: shown, remainingCount: remaining.length };
}

/** The entries that are first by `compare`, in the order of the list; all without a limit. */
function keepFirst<T>(
  list: readonly T[],
  maxEntries: number | undefined,
  compare: (a: T, b: T) => number,
): readonly T[] {
  if (maxEntries === undefined || list.length <= maxEntries) return list;
  const kept = new Set(list.toSorted(compare).slice(0, maxEntries));
  return list.filter((each) => kept.has(each));
}
