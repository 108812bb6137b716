import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultKnativeSettings, KnativeAutoscaler } from "./knative-autoscaler.ts";
import { ScaleToZero } from "./scale-to-zero.ts";

const SETTINGS = defaultKnativeSettings(10);

/** Runs with one value per second and a decision every two seconds; pods are ready at once. */
function run(load: readonly number[], start = 1, settings = SETTINGS): { desired: number; isPanicking: boolean }[] {
  const autoscaler = new KnativeAutoscaler(settings, { nowMs: 0, ready: start });
  const decisions: { desired: number; isPanicking: boolean }[] = [];
  let ready = start;
  for (const [second, value] of load.entries()) {
    autoscaler.record(second * 1000, value);
    if (second % 2 === 0) continue;
    const decision = autoscaler.decide(second * 1000, ready);
    if (decision === undefined) continue;
    decisions.push(decision);
    ready = decision.desired;
  }
  return decisions;
}

const seconds = (count: number, value: number): number[] => Array.from({ length: count }, () => value);

describe("Knative's autoscaler", () => {
  it("keeps pods at 70 % of their concurrency", () => {
    expect(run(seconds(120, 35)).at(-1)).toMatchObject({ desired: 5 });
    expect(run(seconds(120, 36)).at(-1)).toMatchObject({ desired: 6 });
  });

  it("panics within seconds of a spike and does not remove pods until it has passed the stable window", () => {
    const decisions = run([...seconds(60, 7), ...seconds(10, 140), ...seconds(120, 7)]);
    const peak = Math.max(...decisions.map(({ desired }) => desired));
    expect(decisions.findIndex(({ isPanicking }) => isPanicking) * 2).toBeLessThanOrEqual(62);
    expect(peak).toBeGreaterThanOrEqual(15);
    const panicking = decisions.filter(({ isPanicking }) => isPanicking).map(({ desired }) => desired);
    expect(panicking).toEqual(panicking.toSorted((a, b) => a - b));
    expect(decisions.at(-1)).toEqual({ desired: 1, isPanicking: false, excessBurstCapacity: -208 });
  });

  it("at most halves the pods in one decision", () => {
    const decisions = run([...seconds(120, 700), ...seconds(200, 0)]).map(({ desired }) => desired);
    for (const [index, desired] of decisions.entries()) {
      if (index > 0) expect(desired).toBeGreaterThanOrEqual(Math.floor((decisions[index - 1] ?? 0) / 2));
    }
    expect(decisions.at(-1)).toBe(0);
  });

  it("decides nothing without metrics", () => {
    const autoscaler = new KnativeAutoscaler(SETTINGS, { nowMs: 0, ready: 1 });
    expect(autoscaler.decide(2000, 1)).toBeUndefined();
    autoscaler.record(2000, 7);
    expect(autoscaler.decide(2000, 1)).toMatchObject({ desired: 1 });
    expect(autoscaler.decide(70_000, 1)).toBeUndefined();
  });

  it("keeps the pods that it finds at its start for a stable window", () => {
    const decisions = run(seconds(100, 1), 8).map(({ desired }) => desired);
    expect(decisions.slice(0, 30)).toEqual(seconds(30, 8));
    expect(decisions.at(-1)).toBe(1);
  });

  it("delays a decrease by the configured time", () => {
    const load = [...seconds(70, 70), ...seconds(200, 7)];
    const delayed = run(load, 1, { ...SETTINGS, scaleDownDelayMs: 60_000 }).map(({ desired }) => desired);
    const plain = run(load).map(({ desired }) => desired);
    expect(delayed.findLastIndex((desired) => desired === 10)).toBe(
      plain.findLastIndex((desired) => desired === 10) + 29,
    );
  });

  it("needs at least what the load asks for and at most what its largest value asks for", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 500 }), { minLength: 4, maxLength: 120 }), (load) => {
        const largest = Math.ceil(Math.max(...load) / SETTINGS.targetValue);
        for (const { desired } of run(load)) expect(desired).toBeLessThanOrEqual(Math.max(largest, 1));
      }),
    );
  });
});

describe("scale to zero", () => {
  const at = (scale: ScaleToZero, second: number, desired: number, ready: number, excessBurstCapacity = 10): number =>
    scale.apply(second * 1000, { desired, current: Math.max(ready, 1), ready, excessBurstCapacity });

  it("removes the last pod after the stable window and the grace period", () => {
    const scale = new ScaleToZero();
    expect(at(scale, 0, 3, 3)).toBe(3);
    expect(at(scale, 10, 0, 3)).toBe(1);
    expect(at(scale, 59, 0, 1)).toBe(1);
    expect(at(scale, 60, 0, 1)).toBe(1);
    expect(at(scale, 70, 0, 1)).toBe(0);
  });

  it("removes it sooner when the activator has been in the path for the grace period", () => {
    const scale = new ScaleToZero();
    at(scale, 0, 1, 1, -200);
    at(scale, 60, 0, 1, -200);
    expect(at(scale, 62, 0, 1, -200)).toBe(0);
  });

  it("keeps it for the retention period", () => {
    const scale = new ScaleToZero({ stableWindowMs: 60_000, gracePeriodMs: 30_000, podRetentionMs: 100_000 });
    at(scale, 0, 1, 1);
    at(scale, 60, 0, 1);
    expect(at(scale, 159, 0, 1)).toBe(1);
    expect(at(scale, 160, 0, 1)).toBe(0);
  });

  it("starts over when requests come back", () => {
    const scale = new ScaleToZero();
    at(scale, 0, 1, 1);
    at(scale, 60, 0, 1);
    expect(at(scale, 62, 2, 1)).toBe(2);
    expect(at(scale, 80, 0, 2)).toBe(1);
  });

  it("does not remove pods that are starting", () => {
    const scale = new ScaleToZero();
    expect(at(scale, 0, 4, 0)).toBe(4);
    expect(at(scale, 100, 0, 0)).toBe(1);
  });
});
