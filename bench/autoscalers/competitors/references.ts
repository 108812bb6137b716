import { seededRandom } from "@oaas/foundation/virtual";
import { demandOf, simulate, type Autoscaler, type SimulationResult, type Workload } from "@oaas/nfr/simulation";

const MINUTE_MS = 60_000;
/** Reserves for chance that the references try, in square roots of the requests in service. */
const RESERVES = [0, 0.5, 1, 1.5, 2, 3, 4, 6];

/** The replicas of the busiest minute, all day. */
function staticPeak(workload: Workload, reserve: number): Autoscaler {
  const peak = Math.max(...demandOf(workload, MINUTE_MS, reserve));
  return { intervalMs: MINUTE_MS, historyMs: 0, decide: () => peak };
}

/** Knows the demand of the next two minutes, so that replicas are ready in time. */
function oracle(workload: Workload, reserve: number): Autoscaler {
  const demand = demandOf(workload, MINUTE_MS, reserve);
  return {
    intervalMs: 15_000,
    historyMs: 0,
    decide: ({ nowMs }) => {
      const minute = Math.floor(nowMs / MINUTE_MS);
      return Math.max(...demand.slice(minute, minute + 2), workload.minReplicas);
    },
  };
}

/** Results that no autoscaler without foresight can be expected to reach. */
export function runReferences(
  workload: Workload,
  seed: number,
): Readonly<Record<"static peak" | "oracle", SimulationResult>> {
  return { "static peak": best(workload, staticPeak, seed), oracle: best(workload, oracle, seed) };
}

/** The run with the fewest violated minutes, and the smallest reserve among those. */
function best(workload: Workload, reference: typeof oracle, seed: number): SimulationResult {
  let chosen: SimulationResult | undefined;
  for (const reserve of RESERVES) {
    const startReplicas = demandOf(workload, MINUTE_MS, reserve)[0] ?? workload.minReplicas;
    const run = simulate(workload, reference(workload, reserve), { random: seededRandom(seed), startReplicas });
    if (chosen === undefined || run.violatedMinutes < chosen.violatedMinutes) chosen = run;
    if (chosen.violatedMinutes === 0) break;
  }
  return chosen as SimulationResult;
}
