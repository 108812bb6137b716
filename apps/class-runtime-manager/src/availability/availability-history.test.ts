import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeHistory,
  EMPTY_HISTORY,
  encodeHistory,
  HALF_LIFE_DAYS,
  measureHistory,
  recordObservation,
  WINDOW_DAYS,
  type AvailabilityHistory,
  type Observation,
} from "./availability-history.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = 20_000 * DAY;

const observed = (fromMs: number, ms: number, more: Partial<Observation> = {}): Observation => ({
  fromMs,
  untilMs: fromMs + ms,
  isApiUp: true,
  nodes: { ready: 2, all: 2 },
  samples: 1,
  ...more,
});
const historyOf = (...all: readonly Observation[]): AvailabilityHistory => all.reduce(recordObservation, EMPTY_HISTORY);

describe("measured availability", () => {
  test("is the share of time that the API is up, times the share of ready nodes while it is", () => {
    const history = historyOf(
      observed(START, 8 * HOUR),
      observed(START + 8 * HOUR, 2 * HOUR, { nodes: { ready: 1, all: 2 } }),
      observed(START + 10 * HOUR, 2 * HOUR, { isApiUp: false }),
    );
    const measured = measureHistory(history, START + 12 * HOUR);
    expect(measured).toMatchObject({ samples: 3, observedMs: 12 * HOUR, evidenceMs: 12 * HOUR, sinceMs: START });
    expect(measured?.apiAvailability).toBeCloseTo(10 / 12, 12);
    expect(measured?.nodeAvailability).toBeCloseTo(9 / 10, 12);
    expect(measured?.value).toBeCloseTo((10 / 12) * (9 / 10), 12);
  });

  test("has no node availability when the nodes are not known", () => {
    const history = historyOf({ fromMs: START, untilMs: START + HOUR, isApiUp: true, samples: 1 });
    const measured = measureHistory(history, START + HOUR);
    expect(measured).toMatchObject({ value: 1 });
    expect(measured).not.toHaveProperty("nodeAvailability");
  });

  test("an observation counts half after the half-life, and not at all after the window", () => {
    const history = historyOf(observed(START, DAY, { isApiUp: false }));
    const evidence = (days: number) => measureHistory(history, START + DAY / 2 + days * DAY)?.evidenceMs;
    expect(evidence(0)).toBe(DAY);
    expect(evidence(HALF_LIFE_DAYS)).toBeCloseTo(DAY / 2, 3);
    expect(evidence(WINDOW_DAYS)).toBeUndefined();
  });

  test("a recent outage costs more than an old one of the same length", () => {
    const outageOn = (day: number) =>
      measureHistory(
        historyOf(...Array.from({ length: 20 }, (_, at) => observed(START + at * DAY, DAY, { isApiUp: at !== day }))),
        START + 20 * DAY,
      )?.value ?? 0;
    expect(outageOn(19)).toBeLessThan(outageOn(0));
  });

  test("does not count time twice, and keeps one entry per day of the window", () => {
    const once = historyOf(observed(START, HOUR));
    expect(recordObservation(once, observed(START, HOUR, { isApiUp: false }))).toBe(once);
    const overlapping = recordObservation(once, observed(START + HOUR / 2, HOUR));
    expect(measureHistory(overlapping, START + DAY)?.observedMs).toBe(1.5 * HOUR);
    const long = historyOf(observed(START, 400 * DAY + HOUR));
    expect(long.days).toHaveLength(WINDOW_DAYS);
    expect(encodeHistory(long).length).toBeLessThan(4096);
  });

  const anyObservations = fc.array(
    fc.record({
      gap: fc.integer({ min: 0, max: 3 * DAY }),
      ms: fc.integer({ min: 1, max: 2 * DAY }),
      isApiUp: fc.boolean(),
      nodes: fc.option(fc.record({ ready: fc.nat(5), more: fc.nat(5) }), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 30 },
  );

  test("survives storing, and never leaves 0 to 1", () => {
    fc.assert(
      fc.property(anyObservations, (all) => {
        let at = START;
        let history = EMPTY_HISTORY;
        for (const { gap, ms, isApiUp, nodes } of all) {
          const known = nodes === undefined ? {} : { nodes: { ready: nodes.ready, all: nodes.ready + nodes.more } };
          history = recordObservation(history, {
            fromMs: at + gap,
            untilMs: at + gap + ms,
            isApiUp,
            samples: 1,
            ...known,
          });
          at += gap + ms;
        }
        expect(decodeHistory(encodeHistory(history), at)).toEqual(history);
        const { value = 0, observedMs = 0, evidenceMs = 0 } = measureHistory(history, at) ?? {};
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
        expect(evidenceMs).toBeLessThanOrEqual(observedMs);
        expect(observedMs).toBeLessThanOrEqual(WINDOW_DAYS * DAY);
      }),
    );
  });

  test.each([
    ["", "no text"],
    ["{", "broken JSON"],
    ["null", "null"],
    ['{"version":2,"untilMs":0,"days":[]}', "another version"],
    ['{"version":1,"untilMs":0,"days":[[20000,1]]}', "a short row"],
    ['{"version":1,"untilMs":0,"days":[[20000,10,20,0,0,1]]}', "more up time than observed time"],
    ['{"version":1,"untilMs":0,"days":[[20000,-1,-1,-1,-1,1]]}', "negative times"],
  ])("rejects %j: %s", (text) => {
    expect(decodeHistory(text, START)).toBeUndefined();
  });

  test("cuts off time in the future, which a wrong clock has stored", () => {
    const read = decodeHistory(encodeHistory(historyOf(observed(START + 10 * DAY, HOUR))), START);
    expect(read).toEqual({ untilMs: START, days: [] });
  });
});
