import { describe, expect, test } from "vitest";
import type { Limit, PolicyDecision, PolicyInput, PolicySettings, PolicyState } from "../enforcement.ts";
import { decide } from "./decide.ts";
import { DEFAULT_POLICY } from "./settings.ts";
import { createInput, EMPTY_STATE, runPolicy } from "./testing/run-policy.ts";

const TICK_MS = 30_000;

/** The values over time as `seconds:value`, one entry per change. */
function changesOf(run: ReturnType<typeof runPolicy>): string[] {
  return run.changes.map(({ atMs, lane, from, to }) => `${atMs / 1000} ${lane} ${from}→${to}`);
}

describe("the stable lane", () => {
  test("increases after the stability window, by 30 % per step, with a cooldown between", () => {
    const run = runPolicy({ ticks: 20, current: 1, target: () => 4 });
    expect(changesOf(run)).toEqual(["180 stable 1→2", "300 stable 2→3", "420 stable 3→4"]);
    expect(run.reasons).toEqual(["stability", "cooldown", "within-tolerance"]);
  });

  test("decreases after five minutes", () => {
    const run = runPolicy({ ticks: 60, current: 10, target: () => 4 });
    expect(changesOf(run)).toEqual(["300 stable 10→7", "420 stable 7→4"]);
  });

  test("goes to the smallest target of the last minute", () => {
    const run = runPolicy({ ticks: 8, current: 10, target: (tick) => (tick === 5 ? 11 : 14) });
    expect(changesOf(run)).toEqual(["180 stable 10→11"]);
  });

  test("goes down to the largest target of the last five minutes only", () => {
    const run = runPolicy({ ticks: 12, current: 10, target: (tick) => (tick === 1 ? 8 : 2) });
    expect(changesOf(run)).toEqual(["300 stable 10→8"]);
  });

  test.each([
    { target: 21, current: 20, why: "an increase of 5 %" },
    { target: 18, current: 20, why: "a decrease of 10 %" },
  ])("ignores $why", ({ target, current }) => {
    const run = runPolicy({ ticks: 40, current, target: () => target, settings: { maxReplicas: 50 } });
    expect(run.changes).toEqual([]);
    expect(run.reasons).toEqual(["within-tolerance"]);
  });

  test("starts the window again when the direction changes", () => {
    const run = runPolicy({ ticks: 13, current: 4, target: (tick) => (tick === 5 ? 4 : 8) });
    expect(changesOf(run)).toEqual(["360 stable 4→6"]);
  });

  test("starts the window again after a gap in the data", () => {
    const gap = (tick: number): number => (tick >= 3 && tick <= 6 ? Number.NaN : 8);
    expect(changesOf(runPolicy({ ticks: 14, current: 4, target: gap }))).toEqual(["390 stable 4→6"]);
  });
});

describe("the emergency lane", () => {
  test("skips stability, doubles or adds four, and cools down for 30 s", () => {
    const burning = { burnRate5m: 20, burnRate1h: 15 };
    const run = runPolicy({ ticks: 4, current: 1, target: () => 15, urgency: () => burning });
    expect(changesOf(run)).toEqual(["0 emergency 1→5", "30 emergency 5→10", "60 emergency 10→15"]);
  });

  test.each([
    { urgency: { burnRate5m: 20 }, why: "the long burn rate is unknown" },
    { urgency: { burnRate5m: 20, burnRate1h: 14.3 }, why: "the long burn rate is low" },
    { urgency: { ratio: 9 }, why: "the ratio is new" },
    { urgency: { ratio: 9, ratioSinceMs: -59_999 }, why: "the ratio is younger than a minute" },
    { urgency: { ratio: Number.NaN, ratioSinceMs: -600_000 }, why: "the ratio is not a number" },
  ])("does not open when $why", ({ urgency }) => {
    expect(runPolicy({ ticks: 1, current: 1, target: () => 15, urgency: () => urgency }).changes).toEqual([]);
  });

  test("opens on 1.5 times the requirement for a minute", () => {
    const run = runPolicy({
      ticks: 1,
      current: 8,
      target: () => 40,
      urgency: () => ({ ratio: 1.5, ratioSinceMs: -60_000 }),
    });
    expect(changesOf(run)).toEqual(["0 emergency 8→16"]);
  });

  test("keeps the value until a stable window has passed", () => {
    const urgency = (tick: number): PolicyInput["urgency"] => (tick === 0 ? { burnRate5m: 20, burnRate1h: 15 } : {});
    const run = runPolicy({
      ticks: 30,
      current: 2,
      target: (tick) => (tick === 0 ? 6 : 2),
      urgency,
      verificationOff: true,
    });
    expect(changesOf(run)).toEqual(["0 emergency 2→6", "330 stable 6→4", "450 stable 4→2"]);
  });

  test("never decreases", () => {
    const run = runPolicy({
      ticks: 40,
      current: 9,
      target: () => 2,
      urgency: () => ({ burnRate5m: 99, burnRate1h: 99 }),
    });
    expect(run.changes).toEqual([]);
    expect(run.reasons.at(-1)).toBe("after-emergency");
  });
});

describe("limits", () => {
  const limits = (min: number, max: number): { minimums: Limit[]; maximums: Limit[] } => ({
    minimums: [
      { value: min, source: "min_scale" },
      { value: 0, source: "environment" },
    ],
    maximums: [
      { value: 1000, source: "HPA web maxReplicas" },
      { value: max, source: "max_scale" },
    ],
  });

  test("stops at the smallest maximum and names its source", () => {
    const run = runPolicy({ ticks: 30, current: 4, target: () => 12, ...limits(1, 6) });
    expect(changesOf(run)).toEqual(["180 stable 4→6"]);
    expect(run.decisions.at(6)).toMatchObject({ action: "apply", clampedBy: { value: 6, source: "max_scale" } });
    expect(run.reasons.at(-1)).toBe("at-maximum");
    expect(gate(run.decisions.at(-1), "tolerance")?.detail).toBe(
      "12 replicas needed, but max_scale (6 replicas) is the maximum and 6 replicas are in effect",
    );
  });

  test("stops at the largest minimum", () => {
    const run = runPolicy({ ticks: 40, current: 4, target: () => 0, ...limits(3, 10) });
    expect(changesOf(run)).toEqual(["300 stable 4→3"]);
    expect(run.reasons.at(-1)).toBe("at-minimum");
  });

  test("lets a maximum win over a minimum", () => {
    expect(changesOf(runPolicy({ ticks: 30, current: 2, target: () => 9, ...limits(8, 3) }))).toEqual([
      "180 stable 2→3",
    ]);
  });

  test("uses the maximum of the policy", () => {
    const run = runPolicy({ ticks: 60, current: 18, target: () => 90 });
    expect(changesOf(run)).toEqual(["180 stable 18→20"]);
  });
});

describe("reasons to hold", () => {
  const ready = stableState(8);
  const base = (over: Partial<PolicyInput>): PolicyInput =>
    createInput({ nowMs: 300_000, current: 4, target: 8, state: ready, ...over });
  test.each<{
    why: string;
    over: Partial<PolicyInput>;
    reason: string;
    gate: string;
    detail: string;
    retryAtMs?: number;
  }>([
    { why: "off", over: { mode: "off" }, reason: "off", gate: "mode", detail: "enforcement is off" },
    {
      why: "observed",
      over: { mode: "observe" },
      reason: "observe",
      gate: "observe",
      detail: "would change 4 replicas to 6 replicas",
    },
    {
      why: "not allowed",
      over: { isAllowed: false },
      reason: "dimension-not-allowed",
      gate: "dimension",
      detail: "the class does not allow changes of replicas",
    },
    {
      why: "paused",
      over: { pausedUntilMs: 345_500 },
      reason: "paused",
      gate: "pause",
      detail: "paused until 1970-01-01T00:05:45.500Z, for another 46 s",
      retryAtMs: 345_500,
    },
    {
      why: "frozen",
      over: { isFrozen: true },
      reason: "frozen",
      gate: "global freeze",
      detail: "enforcement is frozen in this cluster",
    },
    {
      why: "rolling out",
      over: { blockers: ["rolling-out"] },
      reason: "rolling-out",
      gate: "blockers",
      detail: "a roll-out is in progress",
    },
    {
      why: "degraded",
      over: { blockers: ["degraded"] },
      reason: "degraded",
      gate: "blockers",
      detail: "the class is degraded",
    },
    {
      why: "without data",
      over: { blockers: ["no-data"] },
      reason: "no-data",
      gate: "recommendation",
      detail: "there are no measurements",
    },
    {
      why: "out of budget",
      over: { blockers: ["budget"] },
      reason: "budget",
      gate: "budget",
      detail: "the actions of this minute are used up",
    },
  ])("holds when $why", ({ over, reason, gate: name, detail, retryAtMs }) => {
    const decision = decide(base(over), DEFAULT_POLICY);
    expect(decision).toMatchObject({ action: "hold", reason, ...(retryAtMs === undefined ? {} : { retryAtMs }) });
    expect(gate(decision, name)).toEqual({ gate: name, passed: false, detail });
    expect(decision.next.lastSkip).toBe(reason);
  });

  test("acts when none applies", () => {
    const decision = decide(base({}), DEFAULT_POLICY);
    expect(decision).toMatchObject({ action: "apply", lane: "stable", from: 4, to: 6 });
    expect(decision.gates.every(({ passed }) => passed)).toBe(true);
    expect(decision.next.lastSkip).toBeUndefined();
  });

  test("acts after a pause has expired", () => {
    expect(decide(base({ pausedUntilMs: 300_000 }), DEFAULT_POLICY).action).toBe("apply");
  });

  test.each([{ value: Number.NaN }, { value: Number.POSITIVE_INFINITY }, { value: -1 }])(
    "ignores a recommendation of $value",
    ({ value }) => {
      const decision = decide(createInput({ nowMs: 300_000, current: 4, target: value, state: ready }), DEFAULT_POLICY);
      expect(decision).toMatchObject({ action: "hold", reason: "no-recommendation" });
      expect(decision.next.targets).toEqual(ready.targets.slice(0, 11));
    },
  );

  test("ignores an expired recommendation", () => {
    const { recommendation } = base({});
    const expired = recommendation && { ...recommendation, validUntilMs: 240_000 };
    const decision = decide({ ...base({}), ...(expired ? { recommendation: expired } : {}) }, DEFAULT_POLICY);
    expect(decision).toMatchObject({ action: "hold", reason: "recommendation-outdated" });
    expect(gate(decision, "recommendation")?.detail).toBe("the recommendation expired 60 s ago");
  });

  test("decreases only a window after a change of the leader", () => {
    const input = createInput({ nowMs: 600_000, current: 9, target: 4, state: stableState(4), leaderSinceMs: 400_000 });
    expect(decide(input, DEFAULT_POLICY)).toMatchObject({ reason: "leader-change", retryAtMs: 700_000 });
    expect(decide({ ...input, leaderSinceMs: 300_000 }, DEFAULT_POLICY)).toMatchObject({ action: "apply", to: 6 });
  });
});

describe("direction changes", () => {
  test("hold decreases, never increases, after four in an hour", () => {
    const settings = { stabilityMs: 60_000, downWindowMs: 60_000, cooldownMs: 30_000, verificationMs: 0 };
    const run = runPolicy({
      ticks: 120,
      current: 4,
      target: (tick) => (Math.floor(tick / 4) % 2 === 0 ? 8 : 4),
      settings,
    });
    const directions = run.changes.map(({ from, to }) => Math.sign(to - from));
    const changes = directions.filter((direction, index) => index > 0 && direction !== directions[index - 1]);
    expect(changes).toEqual([-1, 1, -1, 1]);
    expect(run.reasons).toContain("direction-changes");
  });
});

describe("verification", () => {
  test("reverts an increase after which the requirement is worse, and does not repeat it", () => {
    const run = runPolicy({ ticks: 240, current: 3, target: () => 4, badness: (value) => (value === 4 ? 2 : 1.2) });
    expect(changesOf(run)).toEqual(["180 stable 3→4", "300 verification 4→3"]);
    expect(run.reasons.slice(-2)).toEqual(["frozen", "rejected"]);
  });

  test("reverts an increase that the nodes cannot hold, although the class is degraded, and does not repeat it", () => {
    const lastAction = { atMs: 0, from: 8, to: 20, lane: "emergency", target: 20, isVerified: false } as const;
    const input = (nowMs: number, over: Partial<PolicyInput> = {}) =>
      createInput({
        nowMs,
        current: 20,
        target: 20,
        schedulable: 14,
        blockers: ["degraded"],
        state: { ...EMPTY_STATE, lastAction },
        ...over,
      });
    expect(decide(input(30_000), DEFAULT_POLICY), "nodes may still be added").toMatchObject({ action: "hold" });
    const revert = decide(input(DEFAULT_POLICY.verificationMs), DEFAULT_POLICY);
    expect(revert).toMatchObject({ action: "revert", from: 20, to: 14 });
    const later = { current: 14, blockers: [], state: revert.next };
    const { schedulable: _, ...again } = input(DEFAULT_POLICY.verificationMs + DEFAULT_POLICY.freezeMs, later);
    expect(decide(again, DEFAULT_POLICY)).toMatchObject({ action: "hold", reason: "rejected" });
    expect(decide(input(DEFAULT_POLICY.verificationMs, { blockers: ["conflict"] }), DEFAULT_POLICY)).toMatchObject({
      action: "hold",
      reason: "conflict",
    });
  });

  test("keeps an increase that has not reached the target", () => {
    const run = runPolicy({ ticks: 12, current: 3, target: () => 9, badness: (value) => value });
    expect(changesOf(run)).toEqual(["180 stable 3→4", "300 stable 4→6"]);
  });

  test("reverts a decrease that violates a requirement, once", () => {
    const run = runPolicy({ ticks: 240, current: 6, target: () => 5, badness: (value) => (value < 6 ? 1.3 : 0.9) });
    expect(changesOf(run)).toEqual(["300 stable 6→5", "420 verification 5→6"]);
  });

  test("keeps a decrease with which the requirement is still met", () => {
    const run = runPolicy({ ticks: 240, current: 6, target: () => 5, badness: (value) => (value < 6 ? 0.9 : 0.3) });
    expect(changesOf(run)).toEqual(["300 stable 6→5"]);
    expect(run.state.lastGood).toBe(5);
  });

  test("does not revert what another writer has changed", () => {
    const state: PolicyState = {
      ...EMPTY_STATE,
      lastAction: { atMs: 0, from: 4, to: 6, lane: "stable", target: 6, badnessBefore: 1, isVerified: false },
    };
    const input = createInput({ nowMs: 130_000, current: 7, target: 7, state, badness: 3 });
    const decision = decide(input, DEFAULT_POLICY);
    expect(decision).toMatchObject({ action: "hold", reason: "within-tolerance" });
    expect(decision.next.lastAction?.isVerified).toBe(true);
    expect(decision.next.lastGood).toBeUndefined();
  });
});

describe("resources", () => {
  test("change only outside the bounds of the estimate", () => {
    const memory = (lowerBound: number): PolicyInput => {
      const input = createInput({
        nowMs: 300_000,
        current: 400,
        target: 800,
        state: stableState(800),
        dimension: "memory",
      });
      return { ...input, recommendation: { ...input.recommendation!, lowerBound, upperBound: 900 } };
    };
    expect(decide(memory(300), DEFAULT_POLICY)).toMatchObject({ action: "hold", reason: "within-bounds" });
    expect(decide(memory(500), DEFAULT_POLICY)).toMatchObject({ action: "apply", from: 400, to: 520 });
  });
});

test("keeps a bounded state when ticks are short", () => {
  const run = runPolicy({ ticks: 900, tickMs: 500, current: 4, target: (tick) => 4 + (tick % 3) / 10 });
  expect(run.state.targets.length).toBeLessThanOrEqual(67);
  const settings: PolicySettings = DEFAULT_POLICY;
  expect((run.state.targets.at(-1)?.atMs ?? 0) - (run.state.targets[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(
    settings.downWindowMs - TICK_MS,
  );
});

test("treats times in the future as now after the clock was set back", () => {
  const state: PolicyState = {
    ...stableState(8),
    lastAction: { atMs: 9e9, from: 3, to: 4, lane: "stable", target: 8, isVerified: true },
    frozenUntilMs: 9e9,
  };
  const decision = decide(createInput({ nowMs: 300_000, current: 4, target: 8, state }), DEFAULT_POLICY);
  expect(decision).toMatchObject({ action: "hold", reason: "frozen", retryAtMs: 900_000 });
  expect(decision.next.lastAction?.atMs).toBe(300_000);
});

/** A state whose windows are full of one target, up to 30 s before 300 s, 600 s and so on. */
function stableState(target: number): PolicyState {
  const targets = Array.from({ length: 21 }, (_, index) => ({ atMs: index * TICK_MS, target }));
  return { ...EMPTY_STATE, targets };
}

function gate(decision: PolicyDecision | undefined, name: string): PolicyDecision["gates"][number] | undefined {
  return decision?.gates.find((one) => one.gate === name);
}
