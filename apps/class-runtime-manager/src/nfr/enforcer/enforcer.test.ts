import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { Fault } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { EventInput } from "@oaas/kube-runtime";
import type { Recommendation, Urgency } from "@oaas/nfr";
import { DEFAULT_POLICY, RECORD_ANNOTATION, readDecisionRecord, recompute } from "@oaas/nfr/policy";
import { NOOP_LOGGER } from "@oaas/observability";
import { createRecordingMeter } from "@oaas/observability/testing";
import { describe, expect, test } from "vitest";
import type { EnforceableClass } from "../../controller/reconcile/enforceable-class.ts";
import type { ClassEnforcement } from "../../enforcement/class-enforcement.ts";
import { enforcedValues } from "../../enforcement/enforced-values.ts";
import type { EnforceableValue } from "../../enforcement/enforceable-values.ts";
import { Enforcer } from "./enforcer.ts";
import type { ComponentFindings } from "./policy-input.ts";

const TICK_MS = 30_000;

/** A class with one function, whose Deployment follows the enforced value at once. */
class FakeClass {
  status: ClassRuntimeStatus = { phase: "available" };
  enforcement: ClassEnforcement = {
    mode: "enforce",
    dimensions: new Set(["replicas"]),
    mayRestart: false,
    problems: [],
  };
  writes = 0;
  /** Answers of the next writes. */
  answers: (boolean | Fault)[] = [];
  problems: string[] = [];
  resizeProblem: string | undefined;
  resizeChecks = 0;
  over: Partial<EnforceableValue> = {};
  /** The workload was deleted. */
  isMissing = false;

  get replicas(): number {
    return enforcedValues(this.status, this.enforcement, false).get("echo")?.replicas ?? 2;
  }

  view(): EnforceableClass {
    return {
      uid: "uid-1",
      namespace: "ns",
      generation: 1,
      regarding: { apiVersion: "oaas.io/v1alpha1", kind: "ClassRuntime", name: "hello", namespace: "ns" },
      status: this.status,
      enforcement: this.enforcement,
      components: new Set(["echo", "odgm"]),
      values: this.isMissing
        ? []
        : [
            {
              component: "echo",
              dimension: "replicas",
              current: this.replicas,
              minimums: [{ value: 1, source: "min_scale" }],
              maximums: [{ value: 12, source: "max_scale" }],
              path: "Deployment/hello spec.replicas",
              isAllowed: true,
              blockers: [],
              scaledWorkload: { kind: "Deployment", name: "hello" },
              ...this.over,
            },
          ],
      findProblems: () => this.problems,
      findResizeProblem: async () => {
        this.resizeChecks += 1;
        return this.resizeProblem;
      },
      writeStatus: async (fields) => {
        const answer = this.answers.shift() ?? true;
        if (answer instanceof Fault) throw answer;
        if (!answer) return false;
        this.writes += 1;
        const { phase, reason, message } = this.status;
        this.status = JSON.parse(JSON.stringify({ phase, reason, message, ...fields })) as ClassRuntimeStatus;
        return true;
      },
    };
  }

  condition() {
    return this.status.conditions?.find(({ type }) => type === "NfrEnforced");
  }
}

/** Read by the enforcer at every tick, as settings that reload. */
interface SetupOptions {
  foreign?: string;
  isFrozen?: boolean;
  actionsPerMinute?: number;
}

function setup(options: SetupOptions = {}) {
  const ambient = virtualAmbient(7);
  const meter = createRecordingMeter();
  const events: EventInput[] = [];
  const one = new FakeClass();
  let scans = 0;
  const create = () =>
    new Enforcer({
      ambient,
      logger: NOOP_LOGGER,
      meter,
      recordEvent: (event) => events.push(event),
      settings: DEFAULT_POLICY,
      get isFrozen() {
        return options.isFrozen ?? false;
      },
      get actionsPerMinute() {
        return options.actionsPerMinute ?? 100;
      },
      maxDataAgeMs: 90_000,
      findForeignScaler: async () => {
        scans += 1;
        return options.foreign;
      },
    });
  let enforcer = create();
  /** Runs ticks with one recommendation. */
  const tick = async (
    count: number,
    target: number,
    over: Partial<ComponentFindings> = {},
    urgency: Urgency = {},
    recommended: Partial<Recommendation> = {},
  ) => {
    for (let index = 0; index < count; index += 1) {
      const nowMs = ambient.clock.now();
      const recommendation = {
        component: "echo",
        dimension: "replicas" as const,
        target,
        lowerBound: target,
        upperBound: target,
        basis: { window: "5m", query: "rps", values: { requests_per_second: 240 } },
        confidence: 0.9,
        observedAtMs: nowMs,
        validUntilMs: nowMs + 90_000,
        ...recommended,
      };
      const done = enforcer.enforce(
        one.view(),
        [
          {
            component: "echo",
            recommendations: [recommendation],
            urgency,
            dataAgeMs: 0,
            digestSamples: () => "sha256:s",
            ...over,
          },
        ],
        new AbortController().signal,
      );
      await ambient.time.advance(TICK_MS);
      await done;
    }
  };
  const reasons = () => events.map(({ reason }) => reason);
  const retain = (...uids: string[]): void => enforcer.retain(new Set(uids));
  return {
    one,
    tick,
    events,
    reasons,
    meter,
    ambient,
    retain,
    scans: () => scans,
    restart: () => void (enforcer = create()),
  };
}

describe("the enforcer", () => {
  test("counts the values that it keeps, by reason, of classes that exist", async () => {
    const { one, tick, meter, retain } = setup({ isFrozen: true });
    const held = (reason: string) => meter.value("crm_enforcement_held_values", { reason });
    expect(held("frozen")).toBe(0);
    await tick(1, 4);
    retain(one.view().uid);
    expect([held("frozen"), held("stability")]).toEqual([1, 0]);
    retain();
    expect(held("frozen")).toBe(0);
  });

  test("observes, waits for stability, scales, cools down and scales down again", async () => {
    const { one, tick, reasons, events } = setup();
    await tick(7, 4);
    expect(one.replicas).toBe(3);
    await tick(4, 4);
    expect(one.replicas).toBe(4);
    await tick(12, 2);
    expect(one.replicas).toBe(2);
    expect(reasons()).toEqual([
      "NFRSkippedStability",
      "NFRApplied",
      "NFRSkippedCooldown",
      "NFRApplied",
      "NFRSkippedStability",
      "NFRApplied",
    ]);
    expect(events[1]?.note).toBe(
      "echo 2 replicas to 3 replicas (Deployment/hello spec.replicas, stable lane): all 7 targets in 180 s point up.",
    );
    expect(one.condition()).toMatchObject({ status: "True", reason: "Enforcing" });
  });

  test("raises the minimum of an autoscaler only while it does not cope", async () => {
    const { one, tick } = setup();
    one.over = { isMinimum: true, path: "HorizontalPodAutoscaler/hello spec.minReplicas" };
    const lasting = { replicas: 4, stated: 2, isWithinBudget: true, ready: 4 };
    const recommend = (over: Partial<typeof lasting>) => ({ lasting: { ...lasting, ...over } });
    await tick(12, 4, {}, {}, recommend({}));
    expect(one.replicas).toBe(2);
    await tick(7, 4, {}, {}, recommend({ isWithinBudget: false }));
    expect(one.replicas).toBe(3);
  });

  test("raises the target of an autoscaler while the error budget is left, and keeps it when the minimum changes", async () => {
    const { one, tick, events } = setup();
    const utilization = (target: number) => ({ target, path: "HorizontalPodAutoscaler/hello spec.metrics" });
    one.over = {
      isMinimum: true,
      path: "HorizontalPodAutoscaler/hello spec.minReplicas",
      utilization: utilization(0.8),
    };
    const lasting = { replicas: 2, stated: 2, isWithinBudget: true, spent: { hour: 0, sixHours: 0 }, ready: 4 };
    const targetOf = () => one.status.last_applied_recommendations?.[0]?.evidence?.values?.["target_utilization"];
    // A new leader does not decrease capacity for a stable window.
    await tick(10, 2, {}, {}, { lasting });
    expect(one.status.last_applied_recommendations).toBeUndefined();
    await tick(1, 2, {}, {}, { lasting });
    expect(targetOf()).toBe(0.85);
    expect(one.replicas).toBe(2);
    expect(events.at(-1)).toMatchObject({
      reason: "NFRApplied",
      note: "echo target utilization 80 % to 85 % (HorizontalPodAutoscaler/hello spec.metrics, stable lane): 0 % of the error budget of the last hour and 0 % of the last six hours are spent.",
    });
    one.over = { ...one.over, utilization: utilization(0.85) };
    await tick(
      12,
      4,
      {},
      {},
      { lasting: { ...lasting, replicas: 4, isWithinBudget: false, spent: { hour: 0.1, sixHours: 0.1 } } },
    );
    expect(one.replicas).toBeGreaterThan(2);
    expect(targetOf()).toBe(0.85);
  });

  test("holds a resize that the server would reject, reports it once and asks again later", async () => {
    const { one, tick, events, reasons, meter } = setup();
    one.over = { isResize: true };
    one.resizeProblem = "Pod QOS Class may not change as a result of resizing";
    await tick(14, 4);
    expect(one.replicas).toBe(2);
    expect(reasons().filter((reason) => reason === "NFRApplyFailed")).toHaveLength(1);
    expect(events.find(({ reason }) => reason === "NFRApplyFailed")?.note).toContain("QOS Class may not change");
    expect(one.condition()).toMatchObject({
      status: "False",
      reason: "ApplyFailed",
      message: expect.stringContaining("QOS Class"),
    });
    expect(one.resizeChecks).toBe(1);
    const failed = { dimension: "replicas", lane: "stable", outcome: "failed" };
    expect(meter.value("crm_enforcement_actions_total", failed)).toBe(1);
    one.resizeProblem = undefined;
    await tick(10, 4);
    expect(one.replicas).toBeGreaterThan(2);
    expect(one.condition()).toMatchObject({ status: "True", reason: "Enforcing" });
  });

  test("shows why a value cannot be changed, and follows changes of the reason", async () => {
    const { one, tick } = setup();
    one.over = { isAllowed: false, whyNotAllowed: "template mine fixes replicas" };
    await tick(2, 4);
    expect(one.condition()).toMatchObject({
      status: "False",
      reason: "NotPossible",
      message: "echo replicas: template mine fixes replicas.",
    });
    const { writes } = one;
    await tick(2, 4);
    expect(one.writes).toBe(writes);
    one.over = { isAllowed: false, whyNotAllowed: "another reason" };
    await tick(1, 4);
    expect(one.condition()?.message).toBe("echo replicas: another reason.");
    one.over = { isAllowed: false };
    await tick(1, 4);
    expect(one.condition()).toMatchObject({ status: "True", reason: "Enforcing" });
  });

  test("takes the emergency lane at once", async () => {
    const { one, tick, meter } = setup();
    await tick(1, 11, {}, { burnRate5m: 20, burnRate1h: 15 });
    expect(one.replicas).toBe(6);
    expect(
      meter.value("crm_enforcement_actions_total", { dimension: "replicas", lane: "emergency", outcome: "applied" }),
    ).toBe(1);
  });

  test("records every action with its numbers and a decision that can be recomputed", async () => {
    const { one, tick, events } = setup();
    await tick(1, 11, {}, { burnRate5m: 20, burnRate1h: 15 });
    const record = readDecisionRecord(JSON.parse(events[0]?.annotations?.[RECORD_ANNOTATION] ?? "null"));
    if (!record.ok) throw new Error("no record");
    expect(recompute(record.value)).toMatchObject({ isEqual: true });
    expect(record.value.samplesDigest).toBe("sha256:s");
    expect(one.status.last_applied_recommendations).toEqual([
      expect.objectContaining({
        component: "echo",
        dimension: "replicas",
        current: 2,
        target: 6,
        recommended: 11,
        lane: "emergency",
        path: "Deployment/hello spec.replicas",
        policy_version: "3",
        digest: record.value.digest,
        record: JSON.stringify(record.value),
      }),
    ]);
    expect(events[0]?.name).toBe(`hello-${record.value.digest.slice("sha256:".length, 23)}`);
    expect(one.status.last_applied_at).toBe("2026-01-01T00:00:00.000Z");
  });

  test("keeps the last change of each dimension", async () => {
    const { one, tick } = setup();
    await tick(11, 4);
    expect(one.replicas).toBe(4);
    expect(one.status.last_applied_recommendations).toEqual([expect.objectContaining({ current: 3, target: 4 })]);
  });

  test("writes nothing while nothing changes", async () => {
    const { one, tick } = setup();
    await tick(2, 2);
    const before = one.writes;
    await tick(40, 2);
    expect(one.writes).toBe(before);
  });

  test("writes the windows that are running at most once a minute", async () => {
    const { one, tick } = setup();
    await tick(6, 4);
    expect(one.writes).toBe(3);
  });

  test("goes on after a restart with the state in the status", async () => {
    const { one, tick, restart } = setup();
    await tick(5, 4);
    restart();
    await tick(2, 4);
    expect(one.replicas).toBe(3);
  });

  test("does not decrease for a window after a restart", async () => {
    const { one, tick, restart, reasons } = setup();
    await tick(7, 4);
    await tick(9, 1);
    restart();
    await tick(3, 1);
    expect(one.replicas).toBe(3);
    expect(reasons()).toContain("NFRSkippedLeaderChange");
    await tick(9, 1);
    expect(one.replicas).toBeLessThan(3);
  });

  test("keeps the enforced value while the workload is missing", async () => {
    const { one, tick, restart } = setup();
    await tick(7, 4);
    one.isMissing = true;
    await tick(3, 4);
    restart();
    await tick(3, 4);
    one.isMissing = false;
    expect(one.replicas).toBe(3);
  });

  test("shows what it would do in mode observe, and applies nothing", async () => {
    const { one, tick, reasons, events } = setup();
    one.enforcement = { ...one.enforcement, mode: "observe" };
    await tick(8, 4);
    expect(one.replicas).toBe(2);
    expect(reasons()).toEqual(["NFRSkippedStability", "NFRSkippedObserve"]);
    expect(events[1]?.note).toBe("echo replicas not changed: would change 2 replicas to 3 replicas.");
    expect(one.condition()).toMatchObject({ status: "False", reason: "Observing" });
  });

  test("removes its status fields when enforcement is turned off, but not the history", async () => {
    const { one, tick } = setup();
    await tick(7, 4);
    one.enforcement = { ...one.enforcement, mode: "off" };
    await tick(1, 4);
    expect(one.status.enforcement_state).toBeUndefined();
    expect(one.condition()).toBeUndefined();
    expect(one.status.last_applied_recommendations?.length).toBe(1);
    const { writes } = one;
    await tick(3, 4);
    expect(one.writes).toBe(writes);
  });

  test.each([
    { why: "no measurements", over: { recommendations: [] }, drop: true, reason: "NoData" },
    { why: "outdated measurements", over: { dataAgeMs: 90_001 }, drop: false, reason: "DataOutdated" },
  ])("keeps the value with $why and says so", async ({ over, drop, reason }) => {
    const { one, tick } = setup();
    await tick(7, 4);
    const { dataAgeMs: _, ...rest } = { dataAgeMs: 0, ...over };
    await tick(20, 9, drop ? { ...rest, dataAgeMs: undefined as never } : over);
    expect(one.replicas).toBe(3);
    expect(one.condition()).toMatchObject({ status: "False", reason });
  });

  test("does nothing while the class is degraded or progressing", async () => {
    const { one, tick, reasons } = setup();
    one.status = { phase: "degraded" };
    await tick(10, 4);
    expect(one.replicas).toBe(2);
    expect(one.condition()).toMatchObject({ status: "False", reason: "Degraded" });
    expect(reasons()).toEqual(["NFRSkippedDegraded"]);
  });

  test("names the manager that applies a field of the class, and leaves it alone", async () => {
    const { one, tick, reasons } = setup();
    const message = "Deployment hello: conflict with argocd-controller: .spec.replicas";
    one.status = { phase: "degraded", reason: "Conflict", message };
    await tick(10, 4);
    expect(one.replicas).toBe(2);
    expect(one.condition()).toMatchObject({
      status: "False",
      reason: "Conflict",
      message: `echo replicas: ${message}.`,
    });
    expect(reasons()).toEqual(["NFRSkippedConflict"]);
  });

  test("names an autoscaler of someone else, and looks for it rarely", async () => {
    const { one, tick, reasons, scans } = setup({
      foreign: "Deployment hello is scaled by HorizontalPodAutoscaler mine of kubectl",
    });
    await tick(17, 4);
    expect(one.replicas).toBe(2);
    expect(one.condition()).toMatchObject({
      status: "False",
      reason: "Conflict",
      message: "echo replicas: Deployment hello is scaled by HorizontalPodAutoscaler mine of kubectl.",
    });
    expect(reasons()).toEqual(["NFRSkippedStability", "NFRSkippedConflict"]);
    expect(scans()).toBe(2);
  });

  test("does not apply a value that exceeds a quota, and reports it once", async () => {
    const { one, tick, reasons, meter } = setup();
    one.problems = ["cpu of environment small: 3 of 2 cores"];
    await tick(12, 4);
    expect(one.replicas).toBe(2);
    expect(reasons().filter((reason) => reason === "NFRApplyFailed")).toHaveLength(1);
    expect(one.condition()).toMatchObject({
      status: "False",
      reason: "ApplyFailed",
      message: "cpu of environment small: 3 of 2 cores",
    });
    expect(
      meter.value("crm_enforcement_actions_total", { dimension: "replicas", lane: "stable", outcome: "failed" }),
    ).toBeGreaterThan(0);
    one.problems = [];
    await tick(1, 4);
    expect(one.replicas).toBe(3);
  });

  test("tries again after a conflict in the same tick", async () => {
    const { one, tick } = setup();
    await tick(6, 4);
    one.answers = [false, false, true];
    await tick(1, 4);
    expect(one.replicas).toBe(3);
  });

  test("starts no cooldown when the write fails", async () => {
    const { one, tick, reasons } = setup();
    await tick(6, 4);
    one.answers = [new Fault({ kind: "permission-denied", action: "patch" }, "classruntimes/status is forbidden")];
    await tick(1, 4);
    expect(one.replicas).toBe(2);
    expect(reasons().at(-1)).toBe("NFRApplyFailed");
    await tick(2, 4);
    expect(one.replicas).toBe(3);
  });

  test("waits when the actions of the minute are used up", async () => {
    const { one, tick, reasons } = setup({ actionsPerMinute: 1 });
    const urgent = { burnRate5m: 20, burnRate1h: 15 };
    await tick(1, 12, {}, urgent);
    await tick(1, 12, {}, urgent);
    expect(one.replicas).toBe(6);
    expect(reasons()).toContain("NFRSkippedBudget");
    await tick(1, 12, {}, urgent);
    expect(one.replicas).toBe(12);
  });

  test("acts within the minute when the setting is raised", async () => {
    const options = { actionsPerMinute: 1 };
    const { one, tick } = setup(options);
    const urgent = { burnRate5m: 20, burnRate1h: 15 };
    await tick(2, 12, {}, urgent);
    expect(one.replicas).toBe(6);
    const raised = setup(options);
    await raised.tick(1, 12, {}, urgent);
    options.actionsPerMinute = 2;
    await raised.tick(1, 12, {}, urgent);
    expect(raised.one.replicas).toBe(12);
  });

  test("changes nothing while frozen or paused, and keeps the enforced value", async () => {
    const { one, tick } = setup();
    await tick(7, 4);
    one.enforcement = { ...one.enforcement, pausedUntilMs: 9e12 };
    await tick(20, 9);
    expect(one.replicas).toBe(3);
    expect(one.condition()).toMatchObject({ status: "False", reason: "Paused" });
    const frozen = setup({ isFrozen: true });
    await frozen.tick(10, 4);
    expect(frozen.one.replicas).toBe(2);
    expect(frozen.one.condition()).toMatchObject({ status: "False", reason: "Frozen" });
  });

  test("reports the limit that stops it", async () => {
    const { one, tick, reasons, events } = setup();
    await tick(1, 40, {}, { burnRate5m: 20, burnRate1h: 15 });
    await tick(1, 40, {}, { burnRate5m: 20, burnRate1h: 15 });
    await tick(1, 40, {}, { burnRate5m: 20, burnRate1h: 15 });
    expect(one.replicas).toBe(12);
    expect(reasons().filter((reason) => reason === "NFRClampedMax")).toHaveLength(2);
    expect(events.find(({ reason }) => reason === "NFRClampedMax")?.note).toBe(
      "echo 6 replicas to 12 replicas: limited by max_scale (12 replicas).",
    );
    expect(one.condition()).toMatchObject({ status: "False", reason: "AtMaximum" });
  });
});
