import { describe, expect, test } from "vitest";
import { toZonedTime, parseSchedule } from "./schedule.ts";

const at = (text: string): number => Date.parse(text);
const text = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

describe("next time of a schedule", () => {
  test.each([
    { schedule: "* * * * *", after: "2026-01-01T00:00:30Z", next: "2026-01-01T00:01:00.000Z", case: "every minute" },
    { schedule: "*/15 * * * *", after: "2026-01-01T00:15:00Z", next: "2026-01-01T00:30:00.000Z", case: "strides" },
    {
      schedule: "5/20 * * * *",
      after: "2026-01-01T00:30:00Z",
      next: "2026-01-01T00:45:00.000Z",
      case: "open range from five",
    },
    { schedule: "0 9-17/4 * * *", after: "2026-01-01T13:00:00Z", next: "2026-01-01T17:00:00.000Z", case: "a range" },
    { schedule: "30 2 1,15 * *", after: "2026-01-01T03:00:00Z", next: "2026-01-15T02:30:00.000Z", case: "a list" },
    { schedule: "0 0 * FEB mon", after: "2026-01-01T00:00:00Z", next: "2026-02-02T00:00:00.000Z", case: "names" },
    { schedule: "0 0 13 * 5", after: "2026-01-01T00:00:00Z", next: "2026-01-02T00:00:00.000Z", case: "13th or Friday" },
    { schedule: "0 0 29 2 *", after: "2026-01-01T00:00:00Z", next: "2028-02-29T00:00:00.000Z", case: "leap year" },
    { schedule: "0 0 30 2 *", after: "2026-01-01T00:00:00Z", next: undefined, case: "never" },
    { schedule: "@weekly", after: "2026-01-01T00:00:00Z", next: "2026-01-04T00:00:00.000Z", case: "on Sunday" },
    { schedule: "@every 1m30s", after: "2026-01-01T00:00:10.400Z", next: "2026-01-01T00:01:40.000Z", case: "interval" },
  ])("$schedule: $case", ({ schedule, after, next }) => {
    expect(text(parseSchedule(schedule).next(at(after)))).toBe(next);
  });

  test.each([
    { zone: "Europe/Berlin", after: "2026-01-01T00:00:00Z", next: "2026-01-01T01:30:00.000Z", case: "winter" },
    { zone: "Europe/Berlin", after: "2026-07-01T00:00:00Z", next: "2026-07-01T00:30:00.000Z", case: "summer" },
    { zone: "America/New_York", after: "2026-01-01T08:00:00Z", next: "2026-01-02T07:30:00.000Z", case: "the next day" },
    { zone: "Asia/Kolkata", after: "2026-01-01T00:00:00Z", next: "2026-01-01T21:00:00.000Z", case: "half an hour" },
  ])("half past two in $zone: $case", ({ zone, after, next }) => {
    expect(text(toZonedTime(parseSchedule("30 2 * * *"), zone).next(at(after)))).toBe(next);
  });

  test("always returns a later time, also when clocks change", () => {
    const schedule = toZonedTime(parseSchedule("*/30 * * * *"), "Europe/Berlin");
    for (const from of ["2026-03-28T23:00:00Z", "2026-10-24T23:00:00Z"]) {
      let now = at(from);
      for (let count = 0; count < 12; count += 1) {
        const next = schedule.next(now) ?? 0;
        expect(next).toBeGreaterThan(now);
        now = next;
      }
      expect(now - at(from)).toBeLessThanOrEqual(8 * 3_600_000);
    }
  });
});
