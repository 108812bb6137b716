import { seededRandom } from "@oaas/foundation/virtual";
import {
  demandOf,
  simulate,
  workloadOf,
  type Autoscaler,
  type LoadCurve,
  type Score,
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
const SEED = 20_261_116;
const MINUTE_MS = 60_000;

/** Runs every competitor on a trace. All see the same requests and start delays, and start with the same replicas. */
export function runTrace(curve: LoadCurve, competitors: readonly Competitor[]): readonly Row[] {
  const workload = workloadOf(curve, seededRandom(SEED));
  const results = { ...runReferences(workload, SEED) } as Record<string, Score>;
  const startReplicas = demandOf(workload, MINUTE_MS, 1)[0] ?? workload.minReplicas;
  for (const { name, create } of competitors) {
    const {
      changes: _,
      violatedAt: _at,
      ...score
    } = simulate(workload, create(workload), {
      random: seededRandom(SEED),
      startReplicas,
    });
    results[name] = score;
  }
  const oracle = results[ORACLE] as Score;
  return Object.entries(results).map(([competitor, score]) => ({
    trace: curve.name,
    competitor,
    ...score,
    gapToOracle: {
      violatedMinutes: score.violatedMinutes - oracle.violatedMinutes,
      replicaHours: score.replicaHours - oracle.replicaHours,
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

/** The competitors that dominate one of them, by trace. The oracle knows the future and does not count. */
export function dominatorsOf(name: string, rows: readonly Row[]): ReadonlyMap<string, readonly string[]> {
  const byTrace = Map.groupBy(rows, ({ trace }) => trace);
  const dominators = [...byTrace].map(([trace, results]) => {
    const own = results.find(({ competitor }) => competitor === name);
    const better = results.filter((row) => row.competitor !== ORACLE && own !== undefined && dominates(row, own));
    return [trace, better.map(({ competitor }) => competitor)] as const;
  });
  return new Map(dominators.filter(([, names]) => names.length > 0));
}

/** The sums and means of one competitor over all traces. */
export interface Total extends Omit<Score, "violatedMinutes" | "replicaHours"> {
  readonly competitor: string;
  readonly violatedMinutes: number;
  readonly replicaHours: number;
  /** Traces on which another competitor dominates it. */
  readonly dominated: number;
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
    };
  });
}
