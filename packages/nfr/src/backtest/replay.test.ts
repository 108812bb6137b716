import { describe, expect, test } from "vitest";
import { DEFAULT_ANALYZER_SETTINGS } from "../analyzer/settings.ts";
import { DEFAULT_POLICY } from "../policy/settings.ts";
import { readRecording, writeRecording, type RecordedComponent } from "./recording.ts";
import { replay, replayInSteps } from "./replay.ts";
import { recordRun } from "./testing/record-run.ts";

const OPTIONS = { tickMs: 30_000, analyzer: DEFAULT_ANALYZER_SETTINGS, policy: DEFAULT_POLICY };

function recordedComponent(ticks?: number): RecordedComponent {
  const read = readRecording(JSON.parse(JSON.stringify(writeRecording(recordRun(ticks)))));
  if (!read.ok) throw new Error("unreadable");
  return read.value.components[0] as RecordedComponent;
}

describe("the replay of a run", () => {
  test("makes the same decisions, with the same digests", () => {
    const recorded = recordedComponent();
    const result = replay(recorded, OPTIONS);
    expect(recorded.decisions.length).toBeGreaterThan(3);
    expect(new Set(recorded.decisions.map(({ outcome }) => "lane" in outcome && outcome.lane))).toEqual(
      // The spike comes two minutes after a decrease, which is reverted first.
      new Set(["stable", "verification", "emergency"]),
    );
    expect(result.comparisons.map(({ result: equality }) => equality)).toEqual(
      recorded.decisions.map(() => "identical"),
    );
    expect(result.actions.map(({ record }) => record?.digest)).toEqual(recorded.decisions.map(({ digest }) => digest));
  });

  test("makes the recorded decisions at their times when samples were completed later", () => {
    const recorded = recordedComponent();
    // The load that is known afterwards is higher than the one that was known then.
    const signals = Object.fromEntries(
      Object.entries(recorded.signals).map(([signal, series]) => [
        signal,
        series.map(({ atMs, value }) => ({ atMs: atMs - 45_000, value: value * 1.1 })),
      ]),
    );
    const textOf = ({ from, to, lane }: { from?: number; to?: number; lane?: string }) => `${from} ${to} ${lane}`;
    const result = replay({ ...recorded, signals }, OPTIONS);
    expect(result.actions.map((one) => `${one.atMs} ${textOf(one)}`)).toEqual(
      recorded.decisions.map(({ input, outcome }) => `${input.nowMs} ${textOf(outcome as object)}`),
    );
    expect(result.actions.map(({ record }) => record?.digest)).toEqual(recorded.decisions.map(({ digest }) => digest));
    expect(new Set(result.comparisons.map(({ result: equality }) => equality))).toEqual(new Set(["same"]));
  });

  test("decides on the samples before the first recorded decision, when it was not the first of all", () => {
    const recorded = recordedComponent();
    const result = replay({ ...recorded, decisions: recorded.decisions.slice(2) }, OPTIONS);
    expect(result.actions.map(({ record }) => record?.digest).slice(2)).toEqual(
      recorded.decisions.slice(2).map(({ digest }) => digest),
    );
    expect(result.actions.length).toBe(recorded.decisions.length);
  });

  test("makes the same decisions when the decisions are not recorded", () => {
    const recorded = recordedComponent();
    const changes = ({ from, to, lane, atMs }: { from: number; to: number; lane: string; atMs: number }) =>
      `${atMs} ${from} ${to} ${lane}`;
    const withRecords = replay(recorded, OPTIONS).actions.map(changes);
    expect(replay({ ...recorded, decisions: [] }, OPTIONS).actions.map(changes)).toEqual(withRecords);
  });

  test("reports a decision that another policy makes differently", () => {
    const policy = { ...DEFAULT_POLICY, maxReplicas: 4 };
    const result = replay(recordedComponent(), { ...OPTIONS, policy });
    expect(result.comparisons.some(({ result: equality }) => equality === "different")).toBe(true);
    expect(Math.max(...result.points.map(({ decidedReplicas }) => decidedReplicas))).toBe(4);
  });

  test("sums replica hours and violated minutes", () => {
    const recorded = recordedComponent();
    const { replicaHours, recordedReplicaHours, violatedMinutes, changes, points } = replay(recorded, OPTIONS);
    // The record follows a decision one tick later.
    expect(replicaHours).toBeCloseTo(recordedReplicaHours ?? 0, 0);
    expect(violatedMinutes).toBeGreaterThan(1);
    expect(violatedMinutes).toBeLessThan(60);
    expect(changes).toBe(recorded.decisions.length);
    expect(points).toHaveLength(300);
  });

  test("decides nothing while data is missing", () => {
    const { signals, ...rest } = recordedComponent();
    const lastMs = signals.requests_per_second?.at(-1)?.atMs ?? 0;
    const gap = Object.fromEntries(
      Object.entries(signals).map(([signal, series]) => [
        signal,
        series.filter(({ atMs }, at) => at < 100 || atMs === lastMs),
      ]),
    );
    const { actions, points } = replay({ ...rest, signals: gap, decisions: [] }, OPTIONS);
    const outageMs = points[112]?.atMs ?? 0;
    expect(actions.filter(({ atMs }) => atMs > outageMs)).toEqual([]);
    expect(points.at(-10)?.compliance).toBe("unknown");
  });

  test("reports its progress", () => {
    const shares = [...replayInSteps(recordedComponent(), OPTIONS)];
    expect(shares).toEqual([1 / 3, 2 / 3, 1]);
  });

  test("has no result to sum without samples", () => {
    const empty = { ...recordedComponent(), signals: { requests_per_second: [] }, decisions: [] };
    expect(replay(empty, OPTIONS)).toMatchObject({ actions: [], points: [], replicaHours: 0, violatedMinutes: 0 });
  });
});
