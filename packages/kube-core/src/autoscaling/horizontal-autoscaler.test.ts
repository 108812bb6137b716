import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decideReplicas,
  EMPTY_HPA_MEMORY,
  followRecommendation,
  type HpaMemory,
  type HpaSpec,
} from "./horizontal-autoscaler.ts";
import { DEFAULT_HPA_SETTINGS, replicasForMetric, type HpaPod } from "./hpa-replicas.ts";
import { HPA_SCENARIOS, simulateScenario } from "./testing/hpa-scenarios.ts";

const NOW_MS = 10_000_000;
const TARGET = { resource: "cpu", utilization: 50 } as const;

const podUsing = (value: number, changes: Partial<HpaPod> = {}): HpaPod => ({
  phase: "Running",
  startedMs: 0,
  ready: { isTrue: true, sinceMs: 0 },
  request: 100,
  usage: { value, atMs: NOW_MS, windowMs: 30_000 },
  ...changes,
});
const pods = (count: number, value: number): HpaPod[] => Array.from({ length: count }, () => podUsing(value));
const { usage: _, ...withoutMetrics } = podUsing(0);

const replicasFor = (list: readonly HpaPod[], target: Parameters<typeof replicasForMetric>[2] = TARGET): unknown => {
  const proposal = replicasForMetric(list, list.length, target, DEFAULT_HPA_SETTINGS, NOW_MS);
  return "failure" in proposal ? proposal.failure : proposal.replicas;
};

describe("scenarios of the real controller manager", () => {
  it.each(HPA_SCENARIOS)("sets the same replicas: $name", (scenario) => {
    expect(simulateScenario(scenario)).toEqual(scenario.steps.map(({ path }) => path));
  });
});

describe("the replicas for a metric", () => {
  it.each<[string, readonly HpaPod[], unknown]>([
    ["the ratio of usage and target", pods(3, 100), 6],
    ["rounded up", pods(3, 60), 4],
    ["unchanged within the tolerance", pods(10, 55), 10],
    ["unchanged at the lower tolerance", pods(10, 45), 10],
    ["fewer below the tolerance", pods(10, 44), 9],
    ["percent are whole: 55.9 is 55", pods(100, 55.9), 100],
    ["nothing without metrics", [withoutMetrics, withoutMetrics], "NoMetrics"],
    ["nothing without requests", [podUsing(100, { request: 0 })], "NoRequests"],
    ["nothing without pods", [], "NoMetrics"],
    ["a pending pod uses nothing before an increase", [...pods(2, 100), podUsing(0, { phase: "Pending" })], 4],
    ["a pending pod is ignored before a decrease", [...pods(4, 20), podUsing(0, { phase: "Pending" })], 2],
    ["a pod without metrics uses nothing before an increase", [...pods(2, 100), withoutMetrics], 4],
    ["a pod without metrics uses its request before a decrease", [...pods(4, 10), withoutMetrics], 3],
    ["unchanged when assumptions turn the direction", [podUsing(40), withoutMetrics, withoutMetrics], 3],
    [
      "failed and terminating pods do not count",
      [...pods(2, 100), podUsing(9, { phase: "Failed" }), podUsing(9, { isDeleting: true })],
      4,
    ],
  ])("%s", (_title, list, expected) => {
    expect(replicasFor(list)).toBe(expected);
  });

  it("ignores the CPU of a pod that became ready less than a window ago", () => {
    const started = { startedMs: NOW_MS - 60_000 };
    const fresh = podUsing(900, { ...started, ready: { isTrue: true, sinceMs: NOW_MS - 10_000 } });
    const warm = podUsing(900, { ...started, ready: { isTrue: true, sinceMs: NOW_MS - 31_000 } });
    expect(replicasFor([...pods(3, 50), fresh])).toBe(4);
    expect(replicasFor([...pods(3, 50), warm])).toBe(21);
    expect(replicasFor([...pods(3, 50), fresh], { resource: "memory", utilization: 50 })).toBe(21);
  });

  it("counts the CPU of an unready pod after the initial readiness delay", () => {
    const late = podUsing(900, { ready: { isTrue: false, sinceMs: 29_000 } });
    const lost = podUsing(900, { ready: { isTrue: false, sinceMs: 31_000 } });
    expect(replicasFor([...pods(3, 50), late])).toBe(4);
    expect(replicasFor([...pods(3, 50), lost])).toBe(21);
    expect(replicasFor([...pods(3, 50), podUsing(900, { startedMs: undefined } as never)])).toBe(4);
  });

  it("compares an average value without requests", () => {
    expect(replicasFor(pods(4, 90), { averageValue: 60 })).toBe(6);
    expect(replicasFor([...pods(4, 10), withoutMetrics], { averageValue: 60 })).toBe(2);
  });

  it("reports the usage of measured pods", () => {
    const proposal = replicasForMetric([...pods(2, 101), withoutMetrics], 3, TARGET, DEFAULT_HPA_SETTINGS, NOW_MS);
    expect(proposal).toEqual({ replicas: 5, averageUsage: 101, utilization: 101 });
  });

  it("never decreases when the load grows", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.nat({ max: 400 }), fc.nat({ max: 100 }), (count, load, more) => {
        expect(replicasFor(pods(count, load + more))).toBeGreaterThanOrEqual(Number(replicasFor(pods(count, load))));
      }),
    );
  });
});

describe("following a recommendation", () => {
  const spec: HpaSpec = { minReplicas: 2, maxReplicas: 50 };

  /** The replicas after each sync of 15 s. */
  const follow = (ofSpec: HpaSpec, start: number, recommendations: readonly number[]): number[] => {
    let memory: HpaMemory = { ...EMPTY_HPA_MEMORY, recommendations: [{ atMs: 0, count: start }] };
    let current = start;
    return recommendations.map((recommended, index) => {
      const decision = followRecommendation(ofSpec, { nowMs: index * 15_000, current, memory }, recommended);
      memory = decision.memory;
      current = decision.replicas;
      return current;
    });
  };
  const repeat = (value: number, count: number): number[] => Array.from({ length: count }, () => value);

  it("at most doubles, or goes to 4, in one sync", () => {
    expect(follow(spec, 2, repeat(40, 5))).toEqual([4, 8, 16, 32, 40]);
    expect(follow(spec, 3, [40])).toEqual([6]);
    expect(followRecommendation(spec, { nowMs: 0, current: 3, memory: EMPTY_HPA_MEMORY }, 40).limit).toBe(
      "ScaleUpLimit",
    );
  });

  it("decreases after five minutes to the largest recommendation of that time", () => {
    const path = follow(spec, 20, [...repeat(5, 10), 8, ...repeat(3, 40)]);
    expect(path.indexOf(8)).toBe(21);
    expect(path.indexOf(3)).toBe(31);
  });

  it("stays within minimum and maximum and names the limit", () => {
    const at = (current: number, recommended: number): unknown => {
      const memory = { ...EMPTY_HPA_MEMORY, recommendations: [{ atMs: -1e9, count: current }] };
      return followRecommendation(spec, { nowMs: 0, current, memory }, recommended);
    };
    expect(at(10, 1)).toMatchObject({ replicas: 2, limit: "TooFewReplicas" });
    expect(at(40, 90)).toMatchObject({ replicas: 50, limit: "TooManyReplicas" });
    expect(at(10, 12)).not.toHaveProperty("limit");
  });

  it("uses the default policies when a behavior is stated: 4 pods or double per 15 s", () => {
    expect(follow({ ...spec, behavior: {} }, 2, repeat(40, 5))).toEqual([6, 12, 24, 40, 40]);
  });

  it("waits for the smallest recommendation of the window before an increase", () => {
    const behavior = { scaleUp: { stabilizationWindowSeconds: 60 } };
    expect(follow({ ...spec, behavior }, 4, [8, 8, 6, 8, 8, 8, 8])).toEqual([4, 4, 4, 4, 6, 6, 8]);
  });

  it("disables a direction", () => {
    const behavior = { scaleUp: { selectPolicy: "Disabled" as const }, scaleDown: { stabilizationWindowSeconds: 0 } };
    expect(follow({ ...spec, behavior }, 10, [40, 5, 40])).toEqual([10, 5, 5]);
  });

  it("limits changes per period of the policies", () => {
    const behavior = {
      scaleUp: { policies: [{ type: "Pods" as const, value: 3, periodSeconds: 60 }] },
      scaleDown: {
        stabilizationWindowSeconds: 0,
        selectPolicy: "Min" as const,
        policies: [
          { type: "Percent" as const, value: 10, periodSeconds: 30 },
          { type: "Pods" as const, value: 5, periodSeconds: 30 },
        ],
      },
    };
    expect(follow({ ...spec, behavior }, 10, repeat(40, 9))).toEqual([13, 13, 13, 13, 16, 16, 16, 16, 19]);
    expect(follow({ ...spec, behavior }, 40, repeat(3, 5))).toEqual([36, 36, 32, 32, 28]);
  });

  const anyPolicy = fc.record({
    type: fc.constantFrom("Pods" as const, "Percent" as const),
    value: fc.integer({ min: 1, max: 100 }),
    periodSeconds: fc.integer({ min: 1, max: 300 }),
  });
  const anyRules = fc.record(
    {
      stabilizationWindowSeconds: fc.integer({ min: 0, max: 600 }),
      selectPolicy: fc.constantFrom("Max" as const, "Min" as const, "Disabled" as const),
      policies: fc.array(anyPolicy, { minLength: 1, maxLength: 3 }),
    },
    { requiredKeys: [] },
  );
  const anyBehavior = fc.option(fc.record({ scaleUp: anyRules, scaleDown: anyRules }, { requiredKeys: [] }), {
    nil: undefined,
  });

  it("never leaves the limits and never moves away from the recommendations of the window", () => {
    fc.assert(
      fc.property(
        anyBehavior,
        fc.integer({ min: 2, max: 50 }),
        fc.array(fc.nat({ max: 80 }), { minLength: 1, maxLength: 30 }),
        (behavior, start, recommendations) => {
          const path = follow({ ...spec, ...(behavior && { behavior }) }, start, recommendations);
          const largest = Math.max(start, ...recommendations);
          const smallest = Math.min(start, ...recommendations);
          for (const replicas of path) {
            expect(replicas).toBeGreaterThanOrEqual(Math.max(2, Math.min(smallest, 50)));
            expect(replicas).toBeLessThanOrEqual(Math.min(50, Math.max(largest, 2)));
          }
        },
      ),
    );
  });
});

describe("a sync", () => {
  const spec = { minReplicas: 2, maxReplicas: 10, target: TARGET };
  const sync = (current: number, list: readonly HpaPod[]): number =>
    decideReplicas(spec, { nowMs: NOW_MS, current, pods: list, memory: EMPTY_HPA_MEMORY }).replicas;

  it.each([
    ["does nothing at zero replicas", 0, pods(0, 0), 0],
    ["goes to the minimum without looking at metrics", 1, pods(1, 900), 2],
    ["goes to the maximum without looking at metrics", 12, pods(12, 1), 10],
    ["does nothing without metrics", 5, [withoutMetrics], 5],
    ["does not decrease in its first window", 8, pods(8, 1), 8],
    ["increases at once", 4, pods(4, 100), 8],
  ])("%s", (_title, current, list, expected) => {
    expect(sync(current, list)).toBe(expected);
  });
});
