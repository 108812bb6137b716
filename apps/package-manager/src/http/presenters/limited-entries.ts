import { DrainedUnitState, type ComponentUsage, type DrainProgress } from "@oaas/models";

/** The components that use the most; all without a limit. */
export function limitUsage(
  usage: readonly ComponentUsage[],
  maxEntries: number | undefined,
): readonly ComponentUsage[] {
  if (maxEntries === undefined) return usage;
  const largestFirst = usage.toSorted((a, b) => b.cpuMillicores - a.cpuMillicores || b.memoryBytes - a.memoryBytes);
  return largestFirst.slice(0, maxEntries);
}

const DRAIN_ORDER: readonly DrainedUnitState[] = [
  DrainedUnitState.blocked,
  DrainedUnitState.moving,
  DrainedUnitState.waiting,
];

/** The progress with the deployments that need attention, and the number of all; unchanged without a limit. */
export function limitRemaining(progress: DrainProgress, maxEntries: number | undefined): DrainProgress {
  if (maxEntries === undefined) return progress;
  const { remaining } = progress;
  const ordered = remaining.toSorted((a, b) => DRAIN_ORDER.indexOf(a.state) - DRAIN_ORDER.indexOf(b.state));
  return { ...progress, remaining: ordered.slice(0, maxEntries), remainingCount: remaining.length };
}
