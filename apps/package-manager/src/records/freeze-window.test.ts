import type { ClusterName, FreezeWindow, FreezeWindowName, FreezeWindowSpec } from "@oaas/models";
import { describe, expect, test } from "vitest";
import { activeFreezes, freezeText, freezeWindowState, occurrenceAt } from "./freeze-window.ts";

const at = (text: string): number => Date.parse(text);
const HOUR = 3600;
const ONCE = { clusters: [], start: "2026-12-23T00:00:00Z", end: "2027-01-02T00:00:00Z" };
const WEEKEND = { clusters: [], schedule: "0 18 * * 5", durationSeconds: 62 * HOUR, timeZone: "Europe/Berlin" };
const WORKDAYS = { clusters: [], schedule: "0 0 * * 1-5", durationSeconds: 24 * HOUR };

describe("the present occurrence", () => {
  test.each<{ name: string; window: FreezeWindowSpec; now: string; until: string | undefined }>([
    { name: "one window, before it", window: ONCE, now: "2026-12-22T23:59:59Z", until: undefined },
    { name: "one window, at its start", window: ONCE, now: "2026-12-23T00:00:00Z", until: "2027-01-02T00:00:00.000Z" },
    { name: "one window, at its end", window: ONCE, now: "2027-01-02T00:00:00Z", until: undefined },
    { name: "a schedule, before it", window: WEEKEND, now: "2026-11-20T16:59:00Z", until: undefined },
    {
      name: "a schedule in its zone",
      window: WEEKEND,
      now: "2026-11-20T17:00:00Z",
      until: "2026-11-23T07:00:00.000Z",
    },
    { name: "a schedule, at its end", window: WEEKEND, now: "2026-11-23T07:00:00Z", until: undefined },
    {
      name: "a duration over a clock change",
      window: WEEKEND,
      now: "2026-10-25T12:00:00Z",
      until: "2026-10-26T06:00:00.000Z",
    },
    {
      name: "occurrences without a gap as one",
      window: WORKDAYS,
      now: "2026-11-17T12:00:00Z",
      until: "2026-11-21T00:00:00.000Z",
    },
    { name: "the gap after them", window: WORKDAYS, now: "2026-11-21T00:00:00Z", until: undefined },
    {
      name: "a day that never comes",
      window: { ...WORKDAYS, schedule: "0 0 30 2 *" },
      now: "2026-11-21T00:00:00Z",
      until: undefined,
    },
  ])("$name", ({ window, now, until }) => {
    const present = occurrenceAt(window, at(now));
    expect(present && new Date(present.endMs).toISOString()).toBe(until);
  });

  test("of windows that always follow each other has a limit", () => {
    const window = { clusters: [], schedule: "* * * * *", durationSeconds: HOUR };
    expect(occurrenceAt(window, at("2026-11-17T12:00:00Z"))?.endMs).toBeLessThan(at("2026-11-17T14:00:00Z"));
  });
});

const named = (name: string, spec: FreezeWindowSpec): FreezeWindow => ({
  ...spec,
  name: name as FreezeWindowName,
  by: "ann",
  at: "2026-01-01T00:00:00Z",
});
const [A, B] = ["a", "b"] as ClusterName[] as [ClusterName, ClusterName];

test("a state names the end of the present occurrence and the next start", () => {
  expect(freezeWindowState(named("w", WEEKEND), at("2026-11-20T20:00:00Z"))).toMatchObject({
    active: true,
    until: "2026-11-23T07:00:00.000Z",
    nextStart: "2026-11-27T17:00:00.000Z",
  });
  const ended = freezeWindowState(named("w", ONCE), at("2027-02-01T00:00:00Z"));
  expect(ended).toMatchObject({ active: false });
  expect(ended).not.toHaveProperty("nextStart");
});

test("windows freeze their clusters, or all; the one that ends last comes first", () => {
  const windows = [
    named("edge", { clusters: [A], start: "2026-01-01T00:00:00Z", end: "2026-01-02T00:00:00Z", reason: "audit" }),
    named("all", { clusters: [], start: "2026-01-01T00:00:00Z", end: "2026-01-03T00:00:00Z" }),
    named("later", { clusters: [], start: "2026-02-01T00:00:00Z", end: "2026-02-03T00:00:00Z" }),
  ];
  const active = activeFreezes({ windows }, [A, B], at("2026-01-01T12:00:00Z"));
  expect(active.map(({ window, clusters }) => [window, clusters])).toEqual([
    ["all", [A, B]],
    ["edge", [A]],
  ]);
  expect(freezeText(active)).toContain('freeze window "edge" (audit) of a until 2026-01-02T00:00:00.000Z');
  expect(activeFreezes({ windows }, [], at("2026-01-01T12:00:00Z"))).toEqual([]);
});
