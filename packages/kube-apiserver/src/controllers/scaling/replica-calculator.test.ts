import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { HpaMemory } from "@oaas/kube-core/autoscaling";
import type { Pod } from "../objects/typed.ts";
import { calculateReplicas, type CalculationInput } from "./replica-calculator.ts";
import { normalizeReplicas, type NormalizationInput } from "./scaling-behavior.ts";

const NOW = Date.UTC(2026, 0, 1);
const at = (agoMs: number): string => new Date(NOW - agoMs).toISOString();

interface Given {
  readonly request?: string;
  readonly phase?: string;
  readonly isReady?: boolean;
  /** How long ago the pod started and last changed between ready and not ready. */
  readonly startedMs?: number;
  readonly changedMs?: number;
  readonly isDeleted?: boolean;
}

function pod(index: number, given: Given = {}): Pod {
  const { request = "1000m", phase = "Running", isReady = true, startedMs = 3_600_000, changedMs = startedMs } = given;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `p${index}`, ...(given.isDeleted ? { deletionTimestamp: at(0) } : {}) },
    spec: {
      containers: [{ name: "main", resources: request === "" ? {} : { requests: { cpu: request, memory: "1Gi" } } }],
    },
    status: {
      phase,
      startTime: at(startedMs),
      conditions: [{ type: "Ready", status: isReady ? "True" : "False", lastTransitionTime: at(changedMs) }],
    },
  };
}

/** Pods with their CPU in millicores; undefined has no metrics. */
function calculate(
  usages: readonly (number | undefined)[],
  options: {
    pods?: readonly (Given | undefined)[];
    target?: CalculationInput["target"];
    resource?: "cpu" | "memory";
  } = {},
): string {
  const pods = usages.map((_, index) => pod(index, options.pods?.[index]));
  const result = calculateReplicas({
    pods,
    usages: (one) => {
      const usage = usages[pods.indexOf(one)];
      return usage === undefined ? undefined : [{ container: "main", cpuMillicores: usage, memoryBytes: usage }];
    },
    resource: options.resource ?? "cpu",
    target: options.target ?? { percent: 50 },
    current: usages.length,
    now: NOW,
  });
  return "error" in result ? result.error : `${result.replicas} (${result.percent ?? `${result.averageMilli} each`})`;
}

const STARTING: Given = { isReady: false, startedMs: 10_000 };
const JUST_READY: Given = { startedMs: 30_000, changedMs: 5000 };

describe("calculateReplicas", () => {
  test.each([
    ["double the target", calculate([1000, 1000]), "4 (100)"],
    ["within tolerance", calculate([540, 545]), "2 (54)"],
    ["at the limit of the tolerance", calculate([550, 550]), "2 (55)"],
    ["just outside", calculate([560, 560]), "3 (56)"],
    ["half the target", calculate([250, 250, 250, 250]), "2 (25)"],
    ["an average value", calculate([300, 500], { target: { milli: 100 } }), "8 (400 each)"],
    // From the tests of Kubernetes' ReplicaCalculator.
    [
      "hot CPU, no less scale: a starting pod counts as idle",
      calculate([400, 500, 700], { target: { percent: 30 }, pods: [STARTING] }),
      "4 (60)",
    ],
    [
      "a pending pod counts as idle on the way up",
      calculate([undefined, 500, 700], { target: { percent: 30 }, pods: [{ phase: "Pending" }] }),
      "4 (60)",
    ],
    [
      "ready for less than a window is unready",
      calculate([900, 900, 900], { target: { percent: 30 }, pods: [JUST_READY, JUST_READY] }),
      "3 (90)",
    ],
    [
      "a failed pod is ignored",
      calculate([500, 700, 100], { target: { percent: 30 }, pods: [undefined, undefined, { phase: "Failed" }] }),
      "4 (60)",
    ],
    [
      "a deleted pod is ignored",
      calculate([500, 700, 100], { target: { percent: 30 }, pods: [undefined, undefined, { isDeleted: true }] }),
      "4 (60)",
    ],
    [
      "missing metrics on the way up count as idle",
      calculate([1000, undefined], { target: { percent: 30 } }),
      "4 (100)",
    ],
    ["missing metrics on the way down count as full", calculate([100, 100, 100, undefined]), "3 (10)"],
    ["missing metrics do not turn the direction", calculate([200, undefined]), "2 (20)"],
    [
      "missing memory of a starting pod does not matter",
      calculate([1e9], { resource: "memory", pods: [STARTING] }),
      "2 (93)",
    ],
    ["no metrics", calculate([undefined]), "did not receive metrics for targeted pods (pods might be unready)"],
    [
      "only unready pods",
      calculate([500], { pods: [STARTING] }),
      "did not receive metrics for targeted pods (pods might be unready)",
    ],
    ["no pods", calculate([]), "no pods returned by selector while calculating replica count"],
    [
      "no request",
      calculate([500], { pods: [{ request: "" }] }),
      "missing request for cpu in container main of Pod p0",
    ],
  ])("%s", (_, is, expected) => {
    expect(is).toBe(expected);
  });

  test("more usage never demands fewer replicas", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 1000 }),
        (usages, more) => {
          const replicas = (values: readonly number[]): number => Number.parseInt(calculate(values), 10);
          expect(replicas(usages.map((usage) => usage + more))).toBeGreaterThanOrEqual(replicas(usages));
        },
      ),
    );
  });
});

describe("normalizeReplicas", () => {
  const policies = fc.array(
    fc.record({
      type: fc.constantFrom("Pods" as const, "Percent" as const),
      value: fc.integer({ min: 1, max: 200 }),
      periodSeconds: fc.integer({ min: 1, max: 1800 }),
    }),
    { minLength: 1, maxLength: 3 },
  );
  const rules = fc.record(
    {
      stabilizationWindowSeconds: fc.integer({ min: 0, max: 3600 }),
      selectPolicy: fc.constantFrom("Max" as const, "Min" as const, "Disabled" as const),
      policies,
    },
    { requiredKeys: [] },
  );
  const counts = (max: number, maxLength: number): fc.Arbitrary<HpaMemory["recommendations"]> =>
    fc.array(fc.record({ atMs: fc.integer({ min: NOW - 4_000_000, max: NOW }), count: fc.integer({ min: 1, max }) }), {
      maxLength,
    });
  const input: fc.Arbitrary<NormalizationInput> = fc
    .record({
      behavior: fc.option(fc.record({ scaleUp: rules, scaleDown: rules }, { requiredKeys: [] }), { nil: undefined }),
      min: fc.integer({ min: 1, max: 5 }),
      more: fc.integer({ min: 0, max: 50 }),
      position: fc.double({ min: 0, max: 1, noNaN: true }),
      desired: fc.integer({ min: 0, max: 200 }),
      memory: fc.record({ recommendations: counts(60, 10), added: counts(5, 5), removed: counts(5, 5) }),
    })
    .map(({ more, position, min, ...rest }) => ({
      ...rest,
      min,
      max: min + more,
      current: min + Math.round(position * more),
      now: NOW,
    }));

  test("stays within the limits of the spec", () => {
    fc.assert(
      fc.property(input, (one) => {
        const { replicas } = normalizeReplicas(one);
        expect(replicas).toBeGreaterThanOrEqual(one.min);
        expect(replicas).toBeLessThanOrEqual(one.max);
      }),
      { numRuns: 1000 },
    );
  });

  test("never turns a recommendation around", () => {
    fc.assert(
      fc.property(input, (one) => {
        const { replicas } = normalizeReplicas({ ...one, memory: { ...one.memory, recommendations: [] } });
        if (one.desired >= one.current) expect(replicas).toBeGreaterThanOrEqual(one.current);
        else expect(replicas).toBeLessThanOrEqual(one.current);
      }),
      { numRuns: 1000 },
    );
  });

  test("a limit is reported exactly when it cuts", () => {
    fc.assert(
      fc.property(input, (one) => {
        const { replicas, stabilized, limit } = normalizeReplicas(one);
        expect(limit.isLimited).toBe(replicas !== stabilized);
        expect(limit.reason === "DesiredWithinRange").toBe(!limit.isLimited);
      }),
      { numRuns: 1000 },
    );
  });
});
