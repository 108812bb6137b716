import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PolicyDecision, PolicyInput, PolicyState } from "../enforcement.ts";
import { MAX_TARGET_UTILIZATION } from "../utilization.ts";
import { decide } from "./decide.ts";
import { recompute, recordDecision } from "./record.ts";
import { DEFAULT_POLICY } from "./settings.ts";
import { createInput, EMPTY_STATE } from "./testing/run-policy.ts";

const TICK_MS = 30_000;
const START = 0.8;

function inputAt(nowMs: number, burn: number | undefined, over: Partial<PolicyInput> = {}): PolicyInput {
  const input = createInput({ nowMs, current: 2, target: 2, isMinimum: true, ...over });
  const lasting = { replicas: 2, stated: 2, isWithinBudget: true, ready: 4 };
  return {
    ...input,
    utilization: over.utilization ?? START,
    ...(input.recommendation && {
      recommendation: {
        ...input.recommendation,
        lasting: { ...lasting, ...(burn === undefined ? {} : { spent: { hour: burn, sixHours: burn } }) },
      },
    }),
  };
}

const movedTo = (decision: PolicyDecision): number | undefined =>
  decision.action === "hold" ? undefined : decision.utilization?.to;

/** Moves of the target in a closed loop, with the time of each. */
function runMoves(burns: readonly (number | undefined)[], ticksEach: number, over: Partial<PolicyInput> = {}) {
  let state: PolicyState = EMPTY_STATE;
  let current = START;
  const moves: { readonly atMs: number; readonly from: number; readonly to: number; readonly burn?: number }[] = [];
  for (let tick = 0; tick < burns.length * ticksEach; tick += 1) {
    const nowMs = tick * TICK_MS;
    const burn = burns[Math.floor(tick / ticksEach)];
    const decision = decide(inputAt(nowMs, burn, { ...over, state, utilization: current }), DEFAULT_POLICY);
    const to = movedTo(decision);
    if (to !== undefined) moves.push({ atMs: nowMs, from: current, to, ...(burn === undefined ? {} : { burn }) });
    current = to ?? current;
    state = JSON.parse(JSON.stringify(decision.next)) as PolicyState;
  }
  return moves;
}

describe("the target of an autoscaler", () => {
  test("rises by a step every 30 minutes while nearly all of the error budget is left", () => {
    const moves = runMoves([0], 200);
    expect(moves.map(({ atMs, to }) => [atMs / 60_000, to])).toEqual([
      [0, 0.85],
      [30, 0.9],
    ]);
  });

  test("returns to its start when the error budget of the last hour is overspent", () => {
    expect(runMoves([0, 1.2], 130).at(-1)).toMatchObject({ from: 0.9, to: START });
  });

  test("leaves the minimum and the direction of the last change as they are", () => {
    const lastAction = { atMs: 0, from: 4, to: 2, lane: "stable", target: 2, isVerified: true } as const;
    const nowMs = 3_600_000;
    const decision = decide(inputAt(nowMs, 0, { state: { ...EMPTY_STATE, lastAction } }), DEFAULT_POLICY);
    expect(decision).toMatchObject({ action: "apply", from: 2, to: 2, utilization: { from: 0.8, to: 0.85 } });
    expect(decision.next.lastAction).toEqual({ ...lastAction, atMs: nowMs });
    expect(decision.next.directionChangesMs).toEqual([]);
  });

  test.each<{ why: string; burn?: number; over?: Partial<PolicyInput> }>([
    { why: "latency is unknown" },
    { why: "some of the budget is spent", burn: 0.1 },
    { why: "the minimum has to change", burn: 0, over: { current: 1 } },
    { why: "another process led a minute ago", burn: 0, over: { leaderSinceMs: 7_140_000 } },
    { why: "there is an emergency", burn: 0, over: { urgency: { burnRate1h: 20, burnRate5m: 20 } } },
    { why: "the class is rolling out", burn: 0, over: { blockers: ["rolling-out"] } },
    { why: "enforcement is paused", burn: 0, over: { pausedUntilMs: 7_300_000 } },
    { why: "the class is only observed", burn: 0, over: { mode: "observe" } },
  ])("does not rise when $why", ({ burn, over }) => {
    expect(movedTo(decide(inputAt(7_200_000, 0), DEFAULT_POLICY))).toBe(0.85);
    expect(movedTo(decide(inputAt(7_200_000, burn, over), DEFAULT_POLICY))).toBeUndefined();
  });

  test("can be recomputed from its record", () => {
    const input = inputAt(7_200_000, 0);
    const record = recordDecision(input, DEFAULT_POLICY, decide(input, DEFAULT_POLICY));
    expect(record.outcome).toMatchObject({ utilization: { from: 0.8, to: 0.85 } });
    expect(recompute(JSON.parse(JSON.stringify(record)))).toMatchObject({ isEqual: true });
  });

  test("stays within its limits, rises by bounded steps, and waits for the cooldown, whatever the load does", () => {
    const burn = fc.option(fc.double({ min: 0, max: 3, noNaN: true }), { nil: undefined });
    fc.assert(
      fc.property(fc.array(burn, { minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 60 }), (burns, ticks) => {
        const moves = runMoves(burns, ticks);
        for (const [index, { atMs, from, to }] of moves.entries()) {
          expect(to).toBeGreaterThanOrEqual(START);
          expect(to).toBeLessThanOrEqual(MAX_TARGET_UTILIZATION);
          expect(to - from).toBeLessThanOrEqual(0.05 + 1e-9);
          const before = moves[index - 1];
          if (before) expect(atMs - before.atMs).toBeGreaterThanOrEqual(DEFAULT_POLICY.cooldownMs);
        }
      }),
    );
  });
});
