import { describe, expect, test } from "vitest";
import type { LoadCurve } from "@oaas/nfr/simulation";
import { dominates, dominatorsOf, ORACLE, runTrace, totalsOf, type Row } from "../../../bench/autoscalers/league.ts";
import { competitorsWith } from "../../../bench/autoscalers/competitors/index.ts";

const row = (trace: string, competitor: string, violatedMinutes: number, replicaHours: number): Row => ({
  trace,
  competitor,
  violatedMinutes,
  replicaHours,
  changesPerHour: 1,
  directionChangesPerHour: 1,
  underProvisioning: 0,
  underProvisionedTime: 0.5,
  overProvisioning: 0,
  overProvisionedTime: 0,
  instability: 0,
  gapToOracle: { violatedMinutes: 0, replicaHours: 0 },
});

describe("domination", () => {
  test.each([
    [1, 10, 2, 20, true],
    [1, 10, 1, 11, true],
    [1, 10, 2, 10, true],
    [1, 10, 1, 10, false],
    [1, 11, 2, 10, false],
    [2, 20, 1, 10, false],
  ])("%d min and %d h against %d min and %d h: %s", (minutes, hours, otherMinutes, otherHours, expected) => {
    expect(dominates(row("t", "a", minutes, hours), row("t", "b", otherMinutes, otherHours))).toBe(expected);
  });

  test("names the competitors that dominate one, by trace, without the oracle", () => {
    const rows = [
      row("t", "a", 5, 50),
      row("t", "b", 4, 40),
      row("t", "c", 4, 60),
      row("t", ORACLE, 0, 1),
      row("u", "a", 0, 10),
      row("u", "b", 1, 5),
      row("u", ORACLE, 0, 1),
    ];
    expect(dominatorsOf("a", rows)).toEqual(new Map([["t", ["b"]]]));
    expect(dominatorsOf("b", rows)).toEqual(new Map());
  });

  test("sums minutes and hours, averages the rest and counts dominated traces", () => {
    const rows = [row("t", "a", 5, 50), row("t", "b", 4, 40), row("u", "a", 0, 10), row("u", "b", 1, 5)];
    expect(totalsOf(rows)).toMatchObject([
      { competitor: "a", violatedMinutes: 5, replicaHours: 60, underProvisionedTime: 0.5, dominated: 1 },
      { competitor: "b", violatedMinutes: 5, replicaHours: 45, dominated: 0 },
    ]);
  });
});

describe("a trace", () => {
  /** Two hours of 20 requests per second of half a second, with a spike to ten times as much in between. */
  const curve: LoadCurve = {
    name: "spike",
    intervalMs: 60_000,
    counts: Array.from({ length: 120 }, (_, minute) => (minute >= 60 && minute < 70 ? 1200 : 120)),
    durationP50Ms: 500,
    durationP99Ms: 900,
  };
  test.each(["same", "own"] as const)(
    "gives the same result again, with the gap to the oracle (%s metrics)",
    (metrics) => {
      const competitors = competitorsWith(metrics);
      const rows = runTrace(curve, competitors);
      expect(runTrace(curve, competitors)).toEqual(rows);
      expect(rows.map(({ competitor }) => competitor)).toEqual([
        "static peak",
        ORACLE,
        ...competitors.map(({ name }) => name),
      ]);
      const oracle = rows.find(({ competitor }) => competitor === ORACLE);
      expect(oracle?.violatedMinutes).toBe(0);
      for (const { gapToOracle, replicaHours } of rows) {
        expect(gapToOracle.replicaHours).toBeCloseTo(replicaHours - (oracle?.replicaHours ?? 0));
      }
      expect(Object.keys(rows[0] ?? {})).toEqual(Object.keys(rows.at(-1) ?? {}));
    },
  );

  test("has fewer violations above a reactive layer than the layer alone", () => {
    const minutes = new Map(
      runTrace(curve, competitorsWith("same")).map(({ competitor, violatedMinutes }) => [competitor, violatedMinutes]),
    );
    expect(minutes.get("oaas with HPA")).toBeLessThanOrEqual(minutes.get("HPA 80 %") ?? 0);
    expect(minutes.get("oaas with KPA")).toBeLessThanOrEqual(minutes.get("KPA") ?? 0);
    expect(minutes.get("oaas")).toBeLessThan(12);
  });
});
