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
  type CallPriority,
  PROBE_INTERVAL_MS,
} from "./circuit-breaker.ts";

const policy: BreakerPolicy = { threshold: 3, openMs: 5_000 };
const open: Breaker = { state: "open", untilMs: 5_000, probeAtMs: 1_000, failures: 3 };
const halfOpen: Breaker = { state: "half-open", failures: 3 };

describe("circuit breaker", () => {
  const admissions: { from: Breaker; atMs: number; call: CallPriority; expected: object; why: string }[] = [
    {
      from: CLOSED,
      atMs: 0,
      call: "background",
      expected: { admitted: true, breaker: CLOSED },
      why: "closed admits calls",
    },
    {
      from: open,
      atMs: 400,
      call: "background",
      expected: { admitted: false, retryAfterMs: 4_600 },
      why: "open rejects calls",
    },
    {
      from: open,
      atMs: 400,
      call: "explicit",
      expected: { admitted: false, retryAfterMs: 600 },
      why: "the last call failed less than a second ago",
    },
    {
      from: open,
      atMs: 1_000,
      call: "explicit",
      expected: { admitted: true, breaker: halfOpen },
      why: "an explicit request probes",
    },
    {
      from: open,
      atMs: 400,
      call: "health-check",
      expected: { admitted: true, breaker: halfOpen },
      why: "health checks pass",
    },
    {
      from: open,
      atMs: 5_000,
      call: "background",
      expected: { admitted: true, breaker: halfOpen },
      why: "the timeout has passed",
    },
    {
      from: halfOpen,
      atMs: 2_000,
      call: "background",
      expected: { admitted: false, retryAfterMs: 1_000 },
      why: "a probe is in flight",
    },
    {
      from: halfOpen,
      atMs: 2_000,
      call: "health-check",
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
      to: { state: "open", untilMs: 5_500, probeAtMs: 1_500, failures: 3 },
      why: "the threshold is reached",
    },
    { from: two, outcome: "answered", to: CLOSED, why: "a success resets the count" },
    { from: two, outcome: "unknown", to: two, why: "an aborted call does not count" },
    { from: halfOpen, outcome: "answered", to: CLOSED, why: "the probe succeeded" },
    {
      from: halfOpen,
      outcome: "failed",
      to: { state: "open", untilMs: 5_500, probeAtMs: 1_500, failures: 4 },
      why: "the probe failed",
    },
    {
      from: halfOpen,
      outcome: "unknown",
      to: { state: "open", untilMs: 1_500, probeAtMs: 1_500, failures: 3 },
      why: "the next call may probe",
    },
    { from: open, outcome: "failed", to: open, why: "an older call does not extend the timeout" },
    { from: open, outcome: "answered", to: CLOSED, why: "a late success closes it" },
  ];
  it.each(outcomes)("$from.state + $outcome: $why", ({ from, outcome, to }) => {
    expect(recordOutcome(from, 500, outcome, policy)).toEqual(to);
  });

  it("reports an open breaker as half-open after the timeout", () => {
    expect([effectiveState(open, 4_999), effectiveState(open, 5_000), effectiveState(CLOSED, 0)]).toEqual([
      "open",
      "half-open",
      "closed",
    ]);
  });

  it("admits one probe at a time, and always one after the timeout", () => {
    const step = fc.record({
      afterMs: fc.nat(2_000),
      call: fc.constantFrom<CallPriority[]>("background", "explicit", "health-check"),
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
            expect(nowMs).toBeLessThan(call === "explicit" ? breaker.probeAtMs : breaker.untilMs);
            expect(admission.retryAfterMs).toBeLessThanOrEqual(policy.openMs);
          } else expect(probing).toBe(true);
          if (!ends) continue;
          breaker = recordOutcome(breaker, nowMs, outcome, policy);
          if (breaker.state !== "half-open") probing = false;
        }
      }),
    );
  });

  it("lets explicit requests start at most one probe per second, however many there are", () => {
    const step = fc.record({
      afterMs: fc.nat(300),
      outcome: fc.constantFrom<CallOutcome[]>("failed", "unknown"),
      tookMs: fc.nat(400),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        let breaker: Breaker = open;
        let nowMs = 0;
        let lastProbeMs = Number.NEGATIVE_INFINITY;
        for (const { afterMs, outcome, tookMs } of steps) {
          nowMs += afterMs;
          const admission = admit(breaker, nowMs, "explicit", policy);
          if (!admission.admitted) {
            expect(admission.retryAfterMs).toBeLessThanOrEqual(PROBE_INTERVAL_MS);
            continue;
          }
          expect(nowMs - lastProbeMs).toBeGreaterThanOrEqual(PROBE_INTERVAL_MS);
          lastProbeMs = nowMs;
          nowMs += tookMs;
          breaker = recordOutcome(admission.breaker, nowMs, outcome, policy);
        }
      }),
    );
  });
});
