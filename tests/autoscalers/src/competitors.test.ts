import { seededRandom } from "@oaas/foundation/virtual";
import { simulate, workloadOf, type Autoscaler, type SimulationResult, type Workload } from "@oaas/nfr/simulation";
import { describe, expect, it } from "vitest";
import { hpa } from "../../../bench/autoscalers/competitors/hpa.ts";
import { kpa } from "../../../bench/autoscalers/competitors/kpa.ts";

const MINUTES = 60;

/** Requests of about 100 ms per second of an hour, in minutes. */
function run(create: (workload: Workload) => Autoscaler, perSecond: (minute: number) => number): SimulationResult {
  const counts = Array.from({ length: MINUTES }, (_, minute) => Math.round(perSecond(minute) * 60));
  const curve = { name: "test", intervalMs: 60_000, counts, durationP50Ms: 100, durationP99Ms: 120 };
  const workload = { ...workloadOf(curve, seededRandom(1)), concurrency: 1, minReplicas: 1, maxReplicas: 100 };
  return simulate(workload, create(workload), { random: seededRandom(2), startReplicas: 2 });
}

/** The replicas at the end of a minute. */
const replicasAt = ({ changes }: SimulationResult, minute: number): number =>
  changes.findLast(({ atMs }) => atMs <= minute * 60_000)?.to ?? 2;

describe.each([
  { name: "HPA", create: (workload: Workload) => hpa(workload, 50), share: 0.5, down: 7 },
  { name: "KPA", create: kpa, share: 0.7, down: 3 },
])("$name on a simulated function", ({ create, share, down }) => {
  it("holds its utilization under steady load", () => {
    const result = run(create, () => 50);
    const busy = 50 * 0.1;
    for (const minute of [20, 40, 60]) {
      expect(replicasAt(result, minute)).toBeGreaterThanOrEqual(Math.floor((busy / share) * 0.8));
      expect(replicasAt(result, minute)).toBeLessThanOrEqual(Math.ceil((busy / share) * 1.5));
    }
  });

  it("follows a step of the load up and down", () => {
    const result = run(create, (minute) => (minute >= 15 && minute < 30 ? 200 : 20));
    expect(replicasAt(result, 20)).toBeGreaterThanOrEqual(20 / share - 5);
    expect(replicasAt(result, 30 + down)).toBeLessThanOrEqual(10);
    expect(replicasAt(result, 14)).toBeLessThanOrEqual(8);
  });
});
