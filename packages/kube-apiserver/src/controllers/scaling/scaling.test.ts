import { describe, expect, test } from "vitest";
import type { Stored } from "@oaas/kube-core";
import { EMPTY_HPA_MEMORY, type HpaBehavior, type HpaMemory } from "@oaas/kube-core/autoscaling";
import { DEPLOYMENTS } from "../objects/resources.ts";
import type { Budget, Pod, Workload } from "../objects/typed.ts";
import { decideAutoscaler, type Autoscaler } from "./autoscaler.ts";
import { decideEviction, recordDisruption } from "./disruption.ts";

const CPU = [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } }];

function decided(
  current: number,
  metric: string | undefined,
  more: {
    min?: number;
    max?: number;
    recent?: HpaMemory["recommendations"];
    load?: boolean;
    behavior?: HpaBehavior;
  } = {},
): string {
  const annotations: Record<string, string> =
    metric === undefined ? {} : { [`simulation.kube.local/${more.load ? "load" : "metric"}`]: metric };
  const autoscaler: Stored<Autoscaler> = {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web", namespace: "default", uid: "h", resourceVersion: "1", annotations },
    spec: {
      scaleTargetRef: { kind: "Deployment", name: "web" },
      minReplicas: more.min ?? 1,
      maxReplicas: more.max ?? 10,
      metrics: CPU,
      ...(more.behavior ? { behavior: more.behavior } : {}),
    },
  };
  const object: Stored<Workload> = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", uid: "d", resourceVersion: "1" },
    spec: { replicas: current },
  };
  const { decision } = decideAutoscaler({
    autoscaler,
    target: { kind: DEPLOYMENTS, object },
    memory: { ...EMPTY_HPA_MEMORY, recommendations: more.recent ?? [] },
    now: 1_000_000,
  });
  const scaled = decision.steps.find((step) => step.do === "update");
  const status = decision.steps.find((step) => step.do === "status");
  const conditions = (status as unknown as { object: Autoscaler } | undefined)?.object.status?.conditions ?? [];
  const size = scaled && (scaled.object as unknown as Workload).spec?.replicas;
  return [
    size === undefined ? `stays ${current}` : `${current} → ${size}`,
    ...conditions.map(({ reason }) => reason),
  ].join(" ");
}

describe("an autoscaler", () => {
  test.each([
    {
      case: "double the target: double the pods",
      is: decided(2, "100"),
      expected: "2 → 4 SucceededRescale ValidMetricFound DesiredWithinRange",
    },
    {
      case: "within 10 % of the target: unchanged",
      is: decided(4, "54"),
      expected: "stays 4 ReadyForNewScale ValidMetricFound DesiredWithinRange",
    },
    {
      case: "exactly 10 % above the target: unchanged",
      is: decided(4, "55"),
      expected: "stays 4 ReadyForNewScale ValidMetricFound DesiredWithinRange",
    },
    {
      case: "half the target: half the pods",
      is: decided(4, "25"),
      expected: "4 → 2 SucceededRescale ValidMetricFound DesiredWithinRange",
    },
    {
      case: "not down within the stabilization window",
      is: decided(4, "25", { recent: [{ atMs: 900_000, count: 4 }] }),
      expected: "stays 4 ScaleDownStabilized ValidMetricFound DesiredWithinRange",
    },
    {
      case: "older recommendations do not count",
      is: decided(4, "25", { recent: [{ atMs: 100_000, count: 4 }] }),
      expected: "4 → 2 SucceededRescale ValidMetricFound DesiredWithinRange",
    },
    {
      case: "at most maxReplicas",
      is: decided(4, "500", { max: 6 }),
      expected: "4 → 6 SucceededRescale ValidMetricFound TooManyReplicas",
    },
    {
      case: "without a behavior at most double, or four",
      is: decided(1, "5000", { max: 100 }),
      expected: "1 → 4 SucceededRescale ValidMetricFound ScaleUpLimit",
    },
    {
      case: "with a behavior at most double or four more",
      is: decided(2, "5000", { max: 100, behavior: {} }),
      expected: "2 → 6 SucceededRescale ValidMetricFound ScaleUpLimit",
    },
    {
      case: "at most what its policies allow",
      is: decided(2, "5000", {
        max: 100,
        behavior: { scaleUp: { policies: [{ type: "Pods", value: 1, periodSeconds: 60 }] } },
      }),
      expected: "2 → 3 SucceededRescale ValidMetricFound ScaleUpLimit",
    },
    {
      case: "never down when disabled",
      is: decided(4, "5", { behavior: { scaleDown: { selectPolicy: "Disabled" } } }),
      expected: "stays 4 ReadyForNewScale ValidMetricFound ScaleDownLimit",
    },
    {
      case: "at least minReplicas",
      is: decided(4, "1", { min: 3 }),
      expected: "4 → 3 SucceededRescale ValidMetricFound TooFewReplicas",
    },
    {
      case: "a load is divided by the pods",
      is: decided(3, "300", { load: true }),
      expected: "3 → 6 SucceededRescale ValidMetricFound DesiredWithinRange",
    },
    {
      case: "a load that fits",
      is: decided(6, "300", { load: true }),
      expected: "stays 6 ReadyForNewScale ValidMetricFound DesiredWithinRange",
    },
    { case: "too few, without a metric", is: decided(1, undefined, { min: 3 }), expected: "1 → 3 SucceededRescale" },
    { case: "too many, without a metric", is: decided(9, undefined, { max: 3 }), expected: "9 → 3 SucceededRescale" },
    { case: "target scaled to zero", is: decided(0, "100"), expected: "stays 0 SucceededGetScale ScalingDisabled" },
    { case: "no metric", is: decided(2, undefined), expected: "stays 2 SucceededGetScale FailedGetResourceMetric" },
    {
      case: "metric that is not a number",
      is: decided(2, "lots"),
      expected: "stays 2 SucceededGetScale FailedGetResourceMetric",
    },
  ])("$case", ({ is, expected }) => {
    expect(is).toBe(expected);
  });
});

describe("eviction", () => {
  const pod = (ready: boolean, phase = "Running", labels = { app: "web" }): Pod => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "default", labels },
    status: { phase, conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
  });
  const budget = (status: Budget["status"], spec: Budget["spec"] = {}): Budget => ({
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "web", namespace: "default" },
    spec: { selector: { matchLabels: { app: "web" } }, ...spec },
    ...(status === undefined ? {} : { status }),
  });
  const TIGHT = { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2 };
  const SHORT = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2 };

  test.each([
    { case: "no matching budget", of: pod(true), budgets: [], code: undefined },
    {
      case: "budget of other pods",
      of: pod(true, "Running", { app: "db" }),
      budgets: [budget(TIGHT)],
      code: undefined,
    },
    { case: "disruptions allowed", of: pod(true), budgets: [budget({ disruptionsAllowed: 1 })], code: undefined },
    { case: "no disruptions allowed", of: pod(true), budgets: [budget(TIGHT)], code: 429 },
    { case: "finished pod", of: pod(false, "Succeeded"), budgets: [budget(TIGHT)], code: undefined },
    { case: "pending pod", of: pod(false, "Pending"), budgets: [budget(TIGHT)], code: undefined },
    { case: "unready pod, enough healthy pods", of: pod(false), budgets: [budget(TIGHT)], code: undefined },
    { case: "unready pod, too few healthy pods", of: pod(false), budgets: [budget(SHORT)], code: 429 },
    {
      case: "unready pod with AlwaysAllow",
      of: pod(false),
      budgets: [budget(SHORT, { unhealthyPodEvictionPolicy: "AlwaysAllow" })],
      code: undefined,
    },
    { case: "two budgets", of: pod(true), budgets: [budget(TIGHT), budget(TIGHT)], code: 500 },
  ])("$case", ({ of, budgets, code }) => {
    const verdict = decideEviction(of, budgets);
    expect("error" in verdict ? verdict.error.code : undefined).toBe(code);
  });

  test("an eviction decrements the allowed disruptions", () => {
    const withSpare = budget({ disruptionsAllowed: 2, currentHealthy: 3, desiredHealthy: 1 });
    const after = recordDisruption(withSpare, "p", 0);
    expect(after.status).toMatchObject({ disruptionsAllowed: 1, disruptedPods: { p: "1970-01-01T00:00:00Z" } });
    expect(after.status?.conditions).toBeUndefined();
    const last = recordDisruption(after, "q", 0);
    expect(last.status).toMatchObject({
      disruptionsAllowed: 0,
      conditions: [{ type: "DisruptionAllowed", status: "False", reason: "InsufficientPods" }],
    });
    expect(decideEviction(pod(true), [last])).toMatchObject({ error: { code: 429 } });
  });

  test("a budget without status allows nothing", () => {
    const fresh = {
      ...budget({ disruptionsAllowed: 1 }),
      metadata: { name: "web", namespace: "default", generation: 1 },
    };
    expect(decideEviction(pod(true), [fresh])).toMatchObject({
      error: { details: { causes: [{ message: expect.stringContaining("still being processed") as string }] } },
    });
  });

  test("matches the messages of the real server", () => {
    expect(decideEviction(pod(true), [budget(TIGHT)])).toEqual({
      error: {
        status: "Failure",
        code: 429,
        reason: "TooManyRequests",
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        details: {
          causes: [
            {
              reason: "DisruptionBudget",
              message: "The disruption budget web needs 2 healthy pods and has 2 currently",
            },
          ],
        },
      },
    });
  });
});
