import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PolicyInput, PolicySettings, PolicyState } from "../enforcement.ts";
import { decide } from "./decide.ts";
import { DEFAULT_POLICY } from "./settings.ts";
import { createInput, EMPTY_STATE, runPolicy, type Run } from "./testing/run-policy.ts";

const TICKS = 130;

/** Settings that `readPolicySettings` accepts. */
const settings: fc.Arbitrary<PolicySettings> = fc
  .record({
    stabilityMs: fc.integer({ min: 0, max: 300_000 }),
    cooldownMs: fc.integer({ min: 30_000, max: 300_000 }),
    maxDelta: fc.double({ min: 0.1, max: 1, noNaN: true }),
    upTolerance: fc.double({ min: 0, max: 0.2, noNaN: true }),
    downTolerance: fc.double({ min: 0, max: 0.3, noNaN: true }),
    upWindowMs: fc.integer({ min: 1_000, max: 120_000 }),
    downWindowMs: fc.integer({ min: 1_000, max: 600_000 }),
    maxDirectionChangesPerHour: fc.integer({ min: 2, max: 6 }),
    maxReplicas: fc.integer({ min: 1, max: 60 }),
  })
  .map((over) => ({ ...DEFAULT_POLICY, ...over }));

const loads = fc.array(fc.oneof({ weight: 20, arbitrary: fc.integer({ min: 0, max: 80 }) }, fc.constant(Number.NaN)), {
  minLength: 1,
  maxLength: 12,
});

/** A load that changes every few ticks, with emergencies and results of actions that depend on the value. */
const runs: fc.Arbitrary<Run> = fc
  .record({
    settings,
    loads,
    ticksPerLoad: fc.integer({ min: 1, max: 25 }),
    current: fc.integer({ min: 1, max: 40 }),
    min: fc.integer({ min: 0, max: 5 }),
    max: fc.integer({ min: 6, max: 50 }),
    plant: fc.constantFrom("exact", "contended", "unknown"),
  })
  .map(({ loads: levels, ticksPerLoad, current, min, max, plant, settings: chosen }) => {
    const loadAt = (tick: number): number => levels[Math.floor(tick / ticksPerLoad) % levels.length] ?? 0;
    const limit = Math.min(max, chosen.maxReplicas);
    return {
      ticks: TICKS,
      current: Math.min(Math.max(current, min), limit),
      target: loadAt,
      urgency: (tick: number, value: number) => ({ ratio: loadAt(tick) / value, ratioSinceMs: tick * 30_000 - 90_000 }),
      ...(plant === "unknown" ? {} : { badness: (value: number) => (plant === "exact" ? 4 / value : value) }),
      minimums: [{ value: Math.min(min, limit), source: "min_scale" }],
      maximums: [{ value: max, source: "max_scale" }],
      settings: chosen,
    };
  });

const limitOf = ({ minimums, maximums, settings: chosen }: Run): { min: number; max: number } => ({
  min: minimums?.[0]?.value ?? 0,
  max: Math.min(maximums?.[0]?.value ?? 0, chosen?.maxReplicas ?? 0),
});

describe("for every load and all settings", () => {
  test("never leaves the limits", () => {
    fc.assert(
      fc.property(runs, (run) => {
        const { min, max } = limitOf(run);
        for (const { to } of runPolicy(run).changes) expect(to >= min && to <= max).toBe(true);
      }),
    );
  });

  test("never takes two stable actions within a cooldown", () => {
    fc.assert(
      fc.property(runs, (run) => {
        const { changes } = runPolicy(run);
        const cooldownMs = run.settings?.cooldownMs ?? 0;
        changes.forEach(({ atMs, lane }, index) => {
          const before = changes[index - 1];
          if (lane === "stable" && before) expect(atMs - before.atMs).toBeGreaterThanOrEqual(cooldownMs);
        });
      }),
    );
  });

  test("never acts without stability outside the emergency lane and reverts", () => {
    fc.assert(
      fc.property(runs, (run) => {
        const { changes } = runPolicy(run);
        const { stabilityMs = 0, upWindowMs = 0, downWindowMs = 0 } = run.settings ?? {};
        const { min, max } = limitOf(run);
        for (const { atMs, lane, from, to } of changes.filter((one) => one.lane === "stable")) {
          const isUp = to > from;
          const startMs = atMs - Math.max(stabilityMs, isUp ? upWindowMs : downWindowMs);
          expect(startMs, `${lane} action before the first full window`).toBeGreaterThanOrEqual(0);
          for (let tick = Math.ceil(startMs / 30_000); tick <= atMs / 30_000; tick += 1) {
            const target = run.target(tick, from);
            if (Number.isNaN(target)) continue;
            const limited = Math.min(Math.max(target, min), max);
            expect(isUp ? limited > from : limited < from).toBe(true);
          }
        }
      }),
    );
  });

  test("never changes direction more often than allowed in an hour", () => {
    fc.assert(
      fc.property(runs, (run) => {
        const { changes } = runPolicy(run);
        const turns = changes.filter(
          ({ from, to }, index) =>
            index > 0 &&
            Math.sign(to - from) !== Math.sign((changes[index - 1]?.to ?? 0) - (changes[index - 1]?.from ?? 0)),
        );
        for (const { atMs } of turns) {
          const inHour = turns.filter((turn) => turn.atMs <= atMs && turn.atMs > atMs - 3_600_000);
          expect(inHour.length).toBeLessThanOrEqual(run.settings?.maxDirectionChangesPerHour ?? 0);
        }
      }),
    );
  });

  test("decides the same after a restart with the stored state, but delays decreases", () => {
    fc.assert(
      fc.property(runs, fc.integer({ min: 1, max: TICKS - 1 }), (run, restartAt) => {
        const chosen = { ...DEFAULT_POLICY, ...run.settings };
        let state = EMPTY_STATE;
        let { current } = run;
        for (let tick = 0; tick < restartAt; tick += 1) {
          const decision = decide(inputAt(run, tick, current, state), chosen);
          state = decision.next;
          if (decision.action !== "hold") current = decision.to;
        }
        const input = inputAt(run, restartAt, current, state);
        const stored = JSON.parse(JSON.stringify(state)) as PolicyState;
        const before = decide(input, chosen);
        expect(decide({ ...input, state: stored }, chosen)).toEqual(before);
        const restarted = decide({ ...input, state: stored, leaderSinceMs: input.nowMs }, chosen);
        const isDecrease = before.action !== "hold" && before.to < before.from;
        if (isDecrease) expect(restarted).toMatchObject({ action: "hold", reason: "leader-change" });
        else expect({ ...restarted, gates: [] }).toMatchObject({ action: before.action });
      }),
    );
  });

  test("is idle when nothing changes", () => {
    fc.assert(
      fc.property(settings, fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 60 }), (chosen, load, start) => {
        const limited = Math.min(load, chosen.maxReplicas);
        const run = runPolicy({
          ticks: 250,
          current: Math.min(start, chosen.maxReplicas),
          target: () => load,
          settings: chosen,
        });
        const last = run.changes.at(-1);
        const rest = run.decisions.slice((last?.atMs ?? 0) / 30_000 + 1);
        expect(rest.every(({ action }) => action === "hold")).toBe(true);
        const turns = new Set(run.changes.map(({ from, to }) => Math.sign(to - from)));
        expect(turns.size).toBeLessThanOrEqual(1);
        if (last) expect(Math.abs(run.current - limited)).toBeLessThanOrEqual(Math.abs(last.from - limited));
      }),
    );
  });

  test("gives no lower value for a higher load", () => {
    const history = fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 10 })), {
      minLength: 1,
      maxLength: 14,
    });
    fc.assert(
      fc.property(
        settings,
        history,
        fc.integer({ min: 1, max: 30 }),
        fc.boolean(),
        (chosen, levels, current, urgent) => {
          const valueFor = (loadsOverTime: readonly number[], isUrgent: boolean): number => {
            const nowMs = (loadsOverTime.length - 1) * 30_000;
            const targets = loadsOverTime.map((target, index) => ({ atMs: index * 30_000, target }));
            const input = createInput({
              nowMs,
              current,
              target: loadsOverTime.at(-1) ?? 0,
              state: { ...EMPTY_STATE, targets },
              urgency: isUrgent ? { burnRate5m: 99, burnRate1h: 99 } : {},
            });
            const decision = decide(input, chosen);
            return decision.action === "hold" ? current : decision.to;
          };
          const low = valueFor(
            levels.map(([load]) => load),
            false,
          );
          const high = valueFor(
            levels.map(([load, more]) => load + more),
            urgent,
          );
          expect(high).toBeGreaterThanOrEqual(low);
        },
      ),
      { numRuns: 500 },
    );
  });
});

test("memory that grows with every out-of-memory kill stays within the user's limit", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 64, max: 4096 }),
      fc.double({ min: 1.05, max: 10, noNaN: true }),
      (limitMiB, growth) => {
        const limit = limitMiB * 1024 * 1024;
        const run = runPolicy({
          ticks: 60,
          current: limit / 8,
          dimension: "memory",
          // Each kill raises the recommendation over the value in effect, as in the VPA.
          target: (_tick, current) => current * growth,
          maximums: [{ value: limit, source: "memory limit" }],
          urgency: () => ({ burnRate5m: 99, burnRate1h: 99 }),
        });
        for (const { from, to } of run.changes) {
          expect(to).toBeLessThanOrEqual(limit);
          expect(to).toBeLessThanOrEqual(from * 2 + 1);
        }
      },
    ),
  );
});

function inputAt(run: Run, tick: number, current: number, state: PolicyState): PolicyInput {
  const badness = run.badness?.(current);
  return createInput({
    nowMs: tick * 30_000,
    current,
    target: run.target(tick, current),
    urgency: run.urgency?.(tick, current) ?? {},
    state,
    minimums: run.minimums ?? [],
    maximums: run.maximums ?? [],
    ...(badness === undefined ? {} : { badness }),
  });
}

describe("an emergency with little confidence", () => {
  const cases = fc.record({
    current: fc.integer({ min: 1, max: 60 }),
    target: fc.integer({ min: 1, max: 200 }),
    lowerShare: fc.double({ min: 0, max: 1, noNaN: true }),
    confidence: fc.double({ min: 0, max: 1, noNaN: true }),
    max: fc.integer({ min: 60, max: 150 }),
  });
  type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;
  const limits = { ...DEFAULT_POLICY, maxReplicas: 1000 };
  const decideOn = ({ current, target, lowerShare, confidence, max }: Case) => {
    const input = createInput({
      nowMs: 0,
      current,
      target,
      urgency: { ratio: 3, ratioSinceMs: -120_000 },
      maximums: [{ value: max, source: "max_scale" }],
    });
    const lowerBound = Math.floor(target * lowerShare);
    const recommendation = input.recommendation && { ...input.recommendation, lowerBound, confidence };
    const decision = decide({ ...input, ...(recommendation && { recommendation }) }, limits);
    return { to: decision.action === "hold" ? current : decision.to, lowerBound, decision };
  };

  test("acts on a measured violation whatever the confidence is", () => {
    fc.assert(
      fc.property(cases, (one) => {
        const sure = decideOn({ ...one, confidence: 1 }).to;
        const unsure = decideOn(one).to;
        expect(unsure > one.current).toBe(sure > one.current);
      }),
    );
  });

  test("never goes further than with full confidence, and beyond the lower bound by stable steps only", () => {
    fc.assert(
      fc.property(cases, (one) => {
        const { to, lowerBound } = decideOn(one);
        if (to <= one.current) return;
        expect(to).toBeLessThanOrEqual(Math.min(one.target, one.max));
        expect(to).toBeLessThanOrEqual(decideOn({ ...one, confidence: 1 }).to);
        const stable = one.current + Math.max(limits.emergencyMinPods, Math.ceil(one.current * limits.maxDelta));
        if (one.confidence < limits.emergencyMinConfidence) {
          expect(to).toBeLessThanOrEqual(Math.max(stable, lowerBound));
        }
      }),
    );
  });

  test("is monotone in the recommendation", () => {
    fc.assert(
      fc.property(cases, fc.nat({ max: 100 }), (one, more) => {
        expect(decideOn({ ...one, target: one.target + more }).to).toBeGreaterThanOrEqual(decideOn(one).to);
      }),
    );
  });

  test("says how the confidence limits it", () => {
    const { decision } = decideOn({ current: 20, target: 60, lowerShare: 0.1, confidence: 0.05, max: 100 });
    expect(decision).toMatchObject({ action: "apply", lane: "emergency", from: 20, to: 26 });
    const detail = decision.gates.find(({ gate }) => gate === "stability")?.detail;
    expect(detail).toContain(
      "with confidence 0.05, below 0.5, at most 30 % or 4 pods beyond the lower bound of 6 replicas",
    );
  });
});
