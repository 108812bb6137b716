import { seededRandom } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import { DEFAULT_ANALYZER_SETTINGS } from "../analyzer/settings.ts";
import { DEFAULT_POLICY } from "../policy/settings.ts";
import type { RecordedComponent } from "./recording.ts";
import { simulateBacktest } from "./simulate-backtest.ts";
import { recordRun } from "./testing/record-run.ts";

const OPTIONS = {
  tickMs: 30_000,
  analyzer: DEFAULT_ANALYZER_SETTINGS,
  policy: DEFAULT_POLICY,
  random: () => seededRandom(1),
};

/** The recorded run with a tenth of the requests, each of which takes ten times as long. */
const RECORDED = slowDown(recordRun().components[0] as RecordedComponent);

function slowDown({ signals, ...rest }: RecordedComponent): RecordedComponent {
  const scaled = Object.entries(signals).map(([signal, series]) => {
    const factor = signal.includes("latency") ? 10 : signal.endsWith("per_second") ? 0.1 : 1;
    return [signal, series.map(({ atMs, value }) => ({ atMs, value: factor * value }))];
  });
  return { ...rest, requirements: { maxLatencyMs: 2000 }, signals: Object.fromEntries(scaled) };
}

function simulated(recorded: RecordedComponent, policy = DEFAULT_POLICY) {
  const result = simulateBacktest(recorded, { ...OPTIONS, policy });
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

describe("the simulation of a recorded load", () => {
  test("is repeatable and reacts to the policy", () => {
    const usual = simulated(RECORDED);
    expect(simulated(RECORDED)).toEqual(usual);
    const slow = simulated(RECORDED, {
      ...DEFAULT_POLICY,
      emergencyRatio: 1000,
      emergencyBurnRate: 1000,
      stabilityMs: 1_800_000,
    });
    expect(slow.violatedMinutes).toBeGreaterThan(usual.violatedMinutes);
    expect(usual.actions.length).toBe(usual.changes);
    expect(usual.points).toHaveLength(150);
  });

  test("estimates the component from latency and CPU", () => {
    const { model } = simulated(RECORDED);
    // 80 ms of CPU per request and 500m: 6.25 requests per second of about 100 ms each.
    expect(model?.concurrency).toBe(1);
    expect(model?.serviceP50Ms).toBeGreaterThan(50);
    expect(model?.serviceP50Ms).toBeLessThan(200);
    expect(model?.latencyTargetMs).toBe(2000);
    const { requests_per_second: load = [], cpu_millicores: cpu = [] } = RECORDED.signals;
    const byCpu = simulated({ ...RECORDED, signals: { requests_per_second: load, cpu_millicores: cpu } });
    expect(byCpu.model?.serviceP50Ms).toBeCloseTo(80);
  });

  test.each([
    ["fewer than two samples", { requests_per_second: [] }],
    ["the time of service is unknown", { requests_per_second: RECORDED.signals.requests_per_second ?? [] }],
    [
      "exceed the limit of 5000000",
      {
        requests_per_second: [0, 60_000, 120_000].map((atMs) => ({ atMs, value: 1e5 })),
        latency_p50_ms: [0, 60_000].map((atMs) => ({ atMs, value: 10 })),
      },
    ],
  ])("is refused when there are or is: %s", (reason, signals) => {
    expect(simulateBacktest({ ...RECORDED, signals }, OPTIONS)).toMatchObject({
      ok: false,
      error: expect.stringContaining(reason),
    });
  });
});
