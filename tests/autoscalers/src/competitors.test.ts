import { seededRandom } from "@oaas/foundation/virtual";
import { simulate, workloadOf, type Autoscaler, type SimulationResult, type Workload } from "@oaas/nfr/simulation";
import { describe, expect, it } from "vitest";
import { hpa } from "../../../bench/autoscalers/competitors/hpa.ts";
import { kpa } from "../../../bench/autoscalers/competitors/kpa.ts";
import { oursAbove } from "../../../bench/autoscalers/competitors/ours.ts";
import { withReactiveLayer } from "../../../bench/autoscalers/competitors/reactive-layer.ts";
import { vpa } from "../../../bench/autoscalers/competitors/vpa.ts";

/** Requests of about 100 ms per second of an hour, in minutes. */
function run(
  create: (workload: Workload) => Autoscaler,
  perSecond: (minute: number) => number,
  minutes = 60,
  startReplicas = 2,
  durationP99Ms = 120,
): SimulationResult {
  const counts = Array.from({ length: minutes }, (_, minute) => Math.round(perSecond(minute) * 60));
  const curve = { name: "test", intervalMs: 60_000, counts, durationP50Ms: 100, durationP99Ms };
  const workload = { ...workloadOf(curve, seededRandom(1)), concurrency: 1, minReplicas: 1, maxReplicas: 100 };
  return simulate(workload, create(workload), { random: seededRandom(2), startReplicas });
}

/** The replicas at the end of a minute. */
const replicasAt = ({ changes }: SimulationResult, minute: number): number =>
  changes.findLast(({ atMs }) => atMs <= minute * 60_000)?.to ?? 2;

describe.each([
  { name: "HPA", create: (workload: Workload) => hpa(workload, { utilization: 50 }, "own"), share: 0.5, down: 7 },
  { name: "KPA", create: (workload: Workload) => kpa(workload, "own"), share: 0.7, down: 3 },
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

describe("metrics of Prometheus", () => {
  it("delay each autoscaler by at least 15 s on a step of the load", () => {
    const jump = (minute: number): number => (minute >= 15 ? 200 : 20);
    const firstIncrease = (create: (workload: Workload) => Autoscaler): number =>
      run(create, jump).changes.find(({ atMs, from, to }) => atMs > 900_000 && to > from)?.atMs ?? Number.NaN;
    const spec = { utilization: 50 };
    const hpaDelay =
      firstIncrease((workload) => hpa(workload, spec, "same")) -
      firstIncrease((workload) => hpa(workload, spec, "own"));
    const kpaDelay =
      firstIncrease((workload) => kpa(workload, "same")) - firstIncrease((workload) => kpa(workload, "own"));
    expect(hpaDelay).toBe(15_000);
    expect(kpaDelay).toBeGreaterThanOrEqual(28_000);
  });
});

describe("VPA on a simulated function", () => {
  it("sizes its pods for the 90th percentile of their use with a margin of 15 %", () => {
    const result = run(vpa, () => 50, 240);
    // 5 replicas are busy.
    expect(replicasAt(result, 240)).toBeGreaterThanOrEqual(6);
    expect(replicasAt(result, 240)).toBeLessThanOrEqual(7);
  });

  it("changes seldom, whatever the load does for a while", () => {
    const { changes } = run(vpa, (minute) => (minute % 20 < 10 ? 80 : 20), 240);
    expect(changes.length).toBeLessThanOrEqual(24);
  });
});

describe("our policy above an HPA", () => {
  it("raises the target of steady load as long as the error budget is left", () => {
    const spec = { utilization: 80 };
    const create = (workload: Workload): Autoscaler =>
      withReactiveLayer(workload, (limits) => hpa(limits, spec, "same"), oursAbove(workload, spec));
    // With slow requests of 400 ms, the latency requirement is 800 ms.
    const { violatedMinutes } = run(create, () => 60, 75, 10, 400);
    expect(spec.utilization).toBe(90);
    expect(violatedMinutes).toBe(0);
  });

  it("keeps the target while requests are slow", () => {
    const spec = { utilization: 80 };
    const create = (workload: Workload): Autoscaler =>
      withReactiveLayer(workload, (limits) => hpa(limits, spec, "same"), oursAbove(workload, spec));
    run(create, (minute) => (minute % 10 < 2 ? 100 : 5), 120, 2);
    expect(spec.utilization).toBe(80);
  });
});
