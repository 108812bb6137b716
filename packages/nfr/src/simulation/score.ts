import type { Plant } from "./plant.ts";
import type { Change } from "./simulate.ts";
import { demandOf, type Workload } from "./workload.ts";

/** How well an autoscaler served a workload. Smaller is better in every number. */
export interface Score {
  /** Minutes in which more than 5 % of the requests were slower than the latency target or failed. */
  readonly violatedMinutes: number;
  readonly replicaHours: number;
  readonly changesPerHour: number;
  readonly directionChangesPerHour: number;
  /** Missing replicas relative to the demand, averaged over time; and the share of time in which some were missing. */
  readonly underProvisioning: number;
  readonly underProvisionedTime: number;
  /** The same of surplus replicas. */
  readonly overProvisioning: number;
  readonly overProvisionedTime: number;
  /** The share of minutes in which supply and demand moved in opposite directions. */
  readonly instability: number;
}

/** The share of requests that may be slow. */
const ALLOWED_SLOW = 0.05;
const MINUTE_MS = 60_000;
/** The reserve of the demand that under- and over-provisioning are relative to. */
const DEMAND_RESERVE = 1;

export function scoreOf(workload: Workload, plant: Plant, changes: readonly Change[], start: number): Score {
  const hours = workload.horizonMs / 3_600_000;
  const directions = changes.map(({ from, to }) => Math.sign(to - from));
  const reversals = directions.filter((direction, at) => at > 0 && direction !== directions[at - 1]).length;
  return {
    violatedMinutes: findViolatedMinutes(plant).length,
    replicaHours: plant.replicaMs / 3_600_000,
    changesPerHour: changes.length / hours,
    directionChangesPerHour: reversals / hours,
    ...elasticityOf(demandOf(workload, MINUTE_MS, DEMAND_RESERVE), supplyOf(workload, changes, start)),
  };
}

/** The minutes, from the start, in which too many requests were slow. */
export function findViolatedMinutes({ minutes: { requests, slow } }: Plant): readonly number[] {
  return [...requests.keys()].filter((minute) => (slow[minute] ?? 0) > ALLOWED_SLOW * (requests[minute] ?? 0));
}

/** The replicas at the end of each minute. */
function supplyOf({ horizonMs }: Workload, changes: readonly Change[], start: number): readonly number[] {
  let at = 0;
  let supply = start;
  return Array.from({ length: Math.ceil(horizonMs / MINUTE_MS) }, (_, minute) => {
    for (; (changes[at]?.atMs ?? Number.POSITIVE_INFINITY) <= (minute + 1) * MINUTE_MS; at += 1) {
      supply = (changes[at] as Change).to;
    }
    return supply;
  });
}

/** Accuracy, time share and instability as defined by the SPEC research group for elasticity. */
function elasticityOf(
  demand: readonly number[],
  supply: readonly number[],
): Pick<
  Score,
  "underProvisioning" | "underProvisionedTime" | "overProvisioning" | "overProvisionedTime" | "instability"
> {
  const gaps = demand.map((wanted, at) => ({ gap: (supply[at] as number) - wanted, wanted }));
  const mean = (of: (step: { readonly gap: number; readonly wanted: number }) => number): number =>
    gaps.reduce((sum, step) => sum + of(step), 0) / gaps.length;
  const opposite = demand.filter((wanted, at) => {
    if (at === 0) return false;
    const wants = Math.sign(wanted - (demand[at - 1] as number));
    const moves = Math.sign((supply[at] as number) - (supply[at - 1] as number));
    return wants * moves < 0;
  }).length;
  return {
    underProvisioning: mean(({ gap, wanted }) => Math.max(0, -gap) / wanted),
    underProvisionedTime: mean(({ gap }) => (gap < 0 ? 1 : 0)),
    overProvisioning: mean(({ gap, wanted }) => Math.max(0, gap) / wanted),
    overProvisionedTime: mean(({ gap }) => (gap > 0 ? 1 : 0)),
    instability: opposite / demand.length,
  };
}
