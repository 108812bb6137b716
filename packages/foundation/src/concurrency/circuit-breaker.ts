/**
 * The circuit breaker of one peer, as a pure state machine.
 *
 * ```
 *            threshold failures in a row                timeout, or a health check
 *   closed ─────────────────────────────▶ open ─────────────────────────────────▶ half-open
 *     ▲                                     ▲                 the probe failed       │  │
 *     │                                     └────────────────────────────────────────┘  │
 *     └─────────────────────────── any call succeeded ──────────────────────────────────┘
 * ```
 *
 * Times are monotonic.
 */
export type Breaker =
  | { readonly state: "closed"; readonly failures: number }
  | { readonly state: "open"; readonly untilMs: number; readonly failures: number }
  /** One probe is in flight. */
  | { readonly state: "half-open"; readonly failures: number };

export interface BreakerPolicy {
  /** Consecutive failures that open it. */
  readonly threshold: number;
  /** How long it rejects calls. */
  readonly openMs: number;
}

export type BreakerState = Breaker["state"];

export const CLOSED: Breaker = { state: "closed", failures: 0 };

/** Whether a call may pass. A health check passes an open breaker at once, but not while another probe is in flight. */
export type Admission =
  | { readonly admitted: true; readonly breaker: Breaker }
  | { readonly admitted: false; readonly retryAfterMs: number };

export function admit(breaker: Breaker, nowMs: number, call: "normal" | "probe", policy: BreakerPolicy): Admission {
  switch (breaker.state) {
    case "closed":
      return { admitted: true, breaker };
    case "half-open":
      return { admitted: false, retryAfterMs: Math.min(1_000, policy.openMs) };
    case "open":
      return call === "probe" || nowMs >= breaker.untilMs
        ? { admitted: true, breaker: { state: "half-open", failures: breaker.failures } }
        : { admitted: false, retryAfterMs: breaker.untilMs - nowMs };
  }
}

/** The outcome of a call: the peer responded, it failed to respond, or the caller aborted before either. */
export type CallOutcome = "answered" | "failed" | "unknown";

/** The breaker after a call ended. */
export function recordOutcome(breaker: Breaker, nowMs: number, outcome: CallOutcome, policy: BreakerPolicy): Breaker {
  if (outcome === "answered") return CLOSED;
  const failures = breaker.failures + (outcome === "failed" ? 1 : 0);
  switch (breaker.state) {
    case "closed":
      return failures >= policy.threshold
        ? { state: "open", untilMs: nowMs + policy.openMs, failures }
        : { state: "closed", failures };
    case "half-open":
      // After an aborted probe the next caller may probe.
      return { state: "open", untilMs: outcome === "failed" ? nowMs + policy.openMs : nowMs, failures };
    case "open":
      // The call started before the breaker opened.
      return breaker;
  }
}

/** The reported state: an open breaker whose timeout has passed is half-open. */
export function effectiveState(breaker: Breaker, nowMs: number): BreakerState {
  return breaker.state === "open" && nowMs >= breaker.untilMs ? "half-open" : breaker.state;
}
