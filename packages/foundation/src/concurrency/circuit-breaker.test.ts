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

describe("circuit breaker", () => {
  const admissions: { from: Breaker; atMs: number; call: "normal" | "probe"; expected: object; why: string }[] = [
    {
      from: CLOSED,
      atMs: 0,
      call: "normal",
      expected: { admitted: true, breaker: CLOSED },
      why: "closed admits calls",
    },
    {
      from: open,
      atMs: 400,
      call: "normal",
      expected: { admitted: false, retryAfterMs: 600 },
      why: "open rejects calls",
    },
    {
      from: open,
      atMs: 400,
      call: "probe",
      expected: { admitted: true, breaker: halfOpen },
      why: "health checks pass",
    },
    {
      from: open,
      atMs: 1_000,
      call: "normal",
      expected: { admitted: true, breaker: halfOpen },
      why: "the timeout has passed",
    },
    {
      from: halfOpen,
      atMs: 2_000,
      call: "normal",
      expected: { admitted: false, retryAfterMs: 1_000 },
      why: "a probe is in flight",
    },
    {
      from: halfOpen,
      atMs: 2_000,
      call: "probe",
      expected: { admitted: false, retryAfterMs: 1_000 },
      why: "a probe is in flight",
    },
  ];
  it.each(admissions)("$from.state at $atMs, $call: $why", ({ from, atMs, call, expected }) => {
    expect(admit(from, atMs, call, policy)).toEqual(expected);
  });

  const two: Breaker = { state: "closed", failures: 2 };
  const outcomes: { from: Breaker; outcome: CallOutcome; to: Breaker; why: string }[] = [
    { from: CLOSED, outcome: "answered", to: CLOSED, why: "no change" },
    { from: CLOSED, outcome: "failed", to: { state: "closed", failures: 1 }, why: "one failure" },
    {
      from: two,
      outcome: "failed",
      to: { state: "open", untilMs: 1_500, failures: 3 },
      why: "the threshold is reached",
    },
    { from: two, outcome: "answered", to: CLOSED, why: "a success resets the count" },
    { from: two, outcome: "unknown", to: two, why: "an aborted call does not count" },
    { from: halfOpen, outcome: "answered", to: CLOSED, why: "the probe succeeded" },
    { from: halfOpen, outcome: "failed", to: { state: "open", untilMs: 1_500, failures: 4 }, why: "the probe failed" },
    {
      from: halfOpen,
      outcome: "unknown",
      to: { state: "open", untilMs: 500, failures: 3 },
      why: "the next call may probe",
    },
    { from: open, outcome: "failed", to: open, why: "an older call does not extend the timeout" },
    { from: open, outcome: "answered", to: CLOSED, why: "a late success closes it" },
  ];
  it.each(outcomes)("$from.state + $outcome: $why", ({ from, outcome, to }) => {
    expect(recordOutcome(from, 500, outcome, policy)).toEqual(to);
  });

  it("reports an open breaker as half-open after the timeout", () => {
    expect([effectiveState(open, 999), effectiveState(open, 1_000), effectiveState(CLOSED, 0)]).toEqual([
      "open",
      "half-open",
      "closed",
    ]);
  });

  it("admits one probe at a time, and always one after the timeout", () => {
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
