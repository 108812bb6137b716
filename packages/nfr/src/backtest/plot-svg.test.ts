import path from "node:path";
import { describe, expect, test } from "vitest";
import { DEFAULT_ANALYZER_SETTINGS } from "../analyzer/settings.ts";
import { DEFAULT_POLICY } from "../policy/settings.ts";
import type { Backtest } from "./backtest.ts";
import { plotSvg } from "./plot-svg.ts";
import type { RecordedComponent } from "./recording.ts";
import { replay } from "./replay.ts";
import { recordRun } from "./testing/record-run.ts";

const GOLDEN = path.join(import.meta.dirname, "../../testdata/recorded/backtest.svg");
const OPTIONS = { tickMs: 30_000, analyzer: DEFAULT_ANALYZER_SETTINGS, policy: DEFAULT_POLICY };

const EMPTY: Backtest = {
  component: "<script>alert(1)</script>&\u0000",
  mode: "simulated",
  fromMs: 0,
  toMs: 0,
  actions: [],
  points: [],
  violatedMinutes: 0,
  unknownMinutes: 0,
  replicaHours: 0,
  changes: 0,
  directionChanges: 0,
  comparisons: [],
};

describe("the plot", () => {
  test("shows load, replicas and violations", async () => {
    const recorded = recordRun().components[0] as RecordedComponent;
    await expect(plotSvg(replay(recorded, OPTIONS))).toMatchFileSnapshot(GOLDEN);
  });

  test("escapes names and has no numbers that are not finite", () => {
    const svg = plotSvg(EMPTY);
    expect(svg).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&amp;:");
    expect(svg).not.toMatch(/<script|NaN|Infinity|undefined/);
    expect(svg).not.toContain("\u0000");
  });

  test("keeps peaks and a bounded size, however long the recording", () => {
    const points = Array.from({ length: 100_000 }, (_, at) => ({
      atMs: at * 30_000,
      requestsPerSecond: at === 77_777 ? 1000 : 1,
      decidedReplicas: 1 + (at % 7),
      compliance: at % 50_000 === 0 ? ("violated" as const) : ("met" as const),
    }));
    const svg = plotSvg({ ...EMPTY, points, toMs: 3e9 });
    expect(svg.length).toBeLessThan(60_000);
    expect(svg).toContain(">1000<");
    expect(svg.match(/fill-opacity/g)).toHaveLength(2);
  });
});
