import { seededRandom } from "@oaas/foundation/virtual";
import {
  demandOf,
  simulate,
  workloadOf,
  type Autoscaler,
  type LoadCurve,
  type Score,
  type SimulationResult,
  type Workload,
} from "@oaas/nfr/simulation";
import { runReferences } from "./competitors/references.ts";

/** An autoscaler that takes part, created for each workload. */
export interface Competitor {
  readonly name: string;
  readonly create: (workload: Workload) => Autoscaler;
}

/** The result of one competitor on one trace. */
export interface Row extends Score {
  readonly trace: string;
  readonly competitor: string;
  /** Violated minutes and replica hours above those of perfect foresight. */
  readonly gapToOracle: { readonly violatedMinutes: number; readonly replicaHours: number };
}

export const ORACLE = "oracle";
export const STATIC_PEAK = "static peak";
const SEED = 20_261_116;
const MINUTE_MS = 60_000;

/** Runs every competitor on a trace. All see the same requests and start delays, and start with the same replicas. */
export function runTrace(curve: LoadCurve, competitors: readonly Competitor[]): readonly Row[] {
  const workload = workloadOf(curve, seededRandom(SEED));
  const results = new Map<string, SimulationResult>(Object.entries(runReferences(workload, SEED)));
  const startReplicas = demandOf(workload, MINUTE_MS, 1)[0] ?? workload.minReplicas;
  for (const { name, create } of competitors) {
    results.set(name, simulate(workload, create(workload), { random: seededRandom(SEED), startReplicas }));
  }
  const oracle = results.get(ORACLE);
  return [...results].map(([competitor, { changes: _changes, violatedAt: _violatedAt, ...score }]) => ({
    trace: curve.name,
    competitor,
    ...score,
    gapToOracle: {
      violatedMinutes: score.violatedMinutes - (oracle?.violatedMinutes ?? 0),
      replicaHours: score.replicaHours - (oracle?.replicaHours ?? 0),
    },
  }));
}

/** Whether a result is at least as good in violated minutes and replica hours, and better in one of them. */
export function dominates(a: Score, b: Score): boolean {
  return (
    a.violatedMinutes <= b.violatedMinutes &&
    a.replicaHours <= b.replicaHours &&
    (a.violatedMinutes < b.violatedMinutes || a.replicaHours < b.replicaHours)
  );
}

/**
 * The competitors that dominate one of them, by trace. The oracle knows the future and does not count, and our own variants
 * do not compete with each other.
 */
export function dominatorsOf(name: string, rows: readonly Row[]): ReadonlyMap<string, readonly string[]> {
  const isRival = (other: string): boolean => other !== ORACLE && !(isOurs(name) && isOurs(other));
  const byTrace = Map.groupBy(rows, ({ trace }) => trace);
  const dominators = [...byTrace].map(([trace, results]) => {
    const own = results.find(({ competitor }) => competitor === name);
    const better = results.filter((row) => isRival(row.competitor) && own !== undefined && dominates(row, own));
    return [trace, better.map(({ competitor }) => competitor)] as const;
  });
  return new Map(dominators.filter(([, names]) => names.length > 0));
}

/** Whether a competitor is one of ours: by itself, or as the layer above another autoscaler. */
function isOurs(name: string): boolean {
  return name.startsWith("oaas");
}

/** The sums and means of one competitor over all traces. */
export interface Total extends Omit<Score, "violatedMinutes" | "replicaHours"> {
  readonly competitor: string;
  readonly violatedMinutes: number;
  readonly replicaHours: number;
  /** Traces on which another competitor dominates it. */
  readonly dominated: number;
  /** The same without the static peak, which is sized with the knowledge of the whole trace. */
  readonly dominatedByAutoscaler: number;
}

export function totalsOf(rows: readonly Row[]): readonly Total[] {
  return [...Map.groupBy(rows, ({ competitor }) => competitor)].map(([competitor, results]) => {
    const sum = (of: (row: Row) => number): number => results.reduce((total, row) => total + of(row), 0);
    const mean = (of: (row: Row) => number): number => sum(of) / results.length;
    return {
      competitor,
      violatedMinutes: sum((row) => row.violatedMinutes),
      replicaHours: sum((row) => row.replicaHours),
      changesPerHour: mean((row) => row.changesPerHour),
      directionChangesPerHour: mean((row) => row.directionChangesPerHour),
      underProvisioning: mean((row) => row.underProvisioning),
      underProvisionedTime: mean((row) => row.underProvisionedTime),
      overProvisioning: mean((row) => row.overProvisioning),
      overProvisionedTime: mean((row) => row.overProvisionedTime),
      instability: mean((row) => row.instability),
      dominated: dominatorsOf(competitor, rows).size,
      dominatedByAutoscaler: dominatorsOf(
        competitor,
        rows.filter((row) => row.competitor !== STATIC_PEAK || competitor === STATIC_PEAK),
      ).size,
    };
  });
}
