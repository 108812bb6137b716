import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  admit,
  CLOSED,
  recordOutcome,
  effectiveState,
  type Breaker,
  type BreakerPolicy,
  type CallOutcome,
} from "./circuit-breaker.ts";

const policy: BreakerPolicy = { threshold: 3, openMs: 1_000 };
const open: Breaker = { state: "open", untilMs: 1_000, failures: 3 };
const halfOpen: Breaker = { state: "half-open", failures: 3 };

describe("the breaker", () => {
  const admissions: { from: Breaker; atMs: number; call: "normal" | "probe"; expected: object; why: string }[] = [
    { from: CLOSED, atMs: 0, call: "normal", expected: { admitted: true, breaker: CLOSED }, why: "all is well" },
    { from: open, atMs: 400, call: "normal", expected: { admitted: false, retryAfterMs: 600 }, why: "it rests" },
    { from: open, atMs: 400, call: "probe", expected: { admitted: true, breaker: halfOpen }, why: "checks may ask" },
    { from: open, atMs: 1_000, call: "normal", expected: { admitted: true, breaker: halfOpen }, why: "it rested" },
    {
      from: halfOpen,
      atMs: 2_000,
      call: "normal",
      expected: { admitted: false, retryAfterMs: 1_000 },
      why: "one asks",
    },
    { from: halfOpen, atMs: 2_000, call: "probe", expected: { admitted: false, retryAfterMs: 1_000 }, why: "one asks" },
  ];
  it.each(admissions)("$from.state at $atMs, $call: $why", ({ from, atMs, call, expected }) => {
    expect(admit(from, atMs, call, policy)).toEqual(expected);
  });

  const two: Breaker = { state: "closed", failures: 2 };
  const settlements: { from: Breaker; outcome: CallOutcome; to: Breaker; why: string }[] = [
    { from: CLOSED, outcome: "answered", to: CLOSED, why: "nothing happened" },
    { from: CLOSED, outcome: "failed", to: { state: "closed", failures: 1 }, why: "once is nothing" },
    { from: two, outcome: "failed", to: { state: "open", untilMs: 1_500, failures: 3 }, why: "three in a row" },
    { from: two, outcome: "answered", to: CLOSED, why: "an answer ends the row" },
    { from: two, outcome: "unknown", to: two, why: "who gave up learnt nothing" },
    { from: halfOpen, outcome: "answered", to: CLOSED, why: "it is back" },
    { from: halfOpen, outcome: "failed", to: { state: "open", untilMs: 1_500, failures: 4 }, why: "still gone" },
    { from: halfOpen, outcome: "unknown", to: { state: "open", untilMs: 500, failures: 3 }, why: "the next may ask" },
    { from: open, outcome: "failed", to: open, why: "it began before; the rest is not prolonged" },
    { from: open, outcome: "answered", to: CLOSED, why: "an answer is an answer, however late" },
  ];
  it.each(settlements)("$from.state + $outcome: $why", ({ from, outcome, to }) => {
    expect(recordOutcome(from, 500, outcome, policy)).toEqual(to);
  });

  it("shows an open one that has rested as half open", () => {
    expect([effectiveState(open, 999), effectiveState(open, 1_000), effectiveState(CLOSED, 0)]).toEqual([
      "open",
      "half-open",
      "closed",
    ]);
  });

  it("never lets two calls pass while it doubts, and always lets one pass after the rest", () => {
    const step = fc.record({
      afterMs: fc.nat(1_500),
      call: fc.constantFrom<("normal" | "probe")[]>("normal", "probe"),
      outcome: fc.constantFrom<CallOutcome[]>("answered", "failed", "unknown"),
      ends: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let breaker = CLOSED;
        let nowMs = 0;
        let probing = false;
        for (const { afterMs, call, outcome, ends } of steps) {
          nowMs += afterMs;
          const admission = admit(breaker, nowMs, call, policy);
          if (admission.admitted) {
            if (breaker.state !== "closed") {
              expect(probing).toBe(false);
              probing = true;
            }
            breaker = admission.breaker;
          } else if (breaker.state === "open") {
            expect(nowMs).toBeLessThan(breaker.untilMs);
            expect(admission.retryAfterMs).toBeLessThanOrEqual(policy.openMs);
          } else expect(probing).toBe(true);
          if (!ends) continue;
          breaker = recordOutcome(breaker, nowMs, outcome, policy);
          if (breaker.state !== "half-open") probing = false;
        }
      }),
    );
  });
});
