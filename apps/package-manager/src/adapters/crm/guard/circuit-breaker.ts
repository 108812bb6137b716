/**
 * When a cluster that keeps failing is left alone, as a pure machine.
 *
 * ```
 *            threshold failures in a row                 waited, or a health check
 *   closed ─────────────────────────────▶ open ─────────────────────────────────▶ half-open
 *     ▲                                     ▲                 the one probe failed   │  │
 *     │                                     └────────────────────────────────────────┘  │
 *     └─────────────────────────── any call succeeded ──────────────────────────────────┘
 * ```
 *
 * Times are those of a monotonic clock.
 */
export type Breaker =
  | { readonly state: "closed"; readonly failures: number }
  | { readonly state: "open"; readonly untilMs: number; readonly failures: number }
  /** One call is under way to find out. */
  | { readonly state: "half-open"; readonly failures: number };

export interface BreakerPolicy {
  /** Failed calls in a row that open it. */
  readonly threshold: number;
  /** How long an open one refuses calls. */
  readonly openMs: number;
}

export type BreakerState = Breaker["state"];

export const CLOSED: Breaker = { state: "closed", failures: 0 };

/** What becomes of a call that wants to pass. A probe (a health check) passes an open breaker at once, but never beside another probe. */
export type Admission =
  | { readonly admitted: true; readonly breaker: Breaker }
  | { readonly admitted: false; readonly retryAfterMs: number };

/** Asks for one call. */
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

/** What a finished call says of the cluster: it answers, it does not, or the caller gave up before that was known. */
export type CallOutcome = "answered" | "failed" | "unknown";

/** Takes in how a call ended. */
export function recordOutcome(breaker: Breaker, nowMs: number, outcome: CallOutcome, policy: BreakerPolicy): Breaker {
  if (outcome === "answered") return CLOSED;
  const failures = breaker.failures + (outcome === "failed" ? 1 : 0);
  switch (breaker.state) {
    case "closed":
      return failures >= policy.threshold
        ? { state: "open", untilMs: nowMs + policy.openMs, failures }
        : { state: "closed", failures };
    case "half-open":
      // A probe that was given up leaves the question open: the next caller may ask.
      return { state: "open", untilMs: outcome === "failed" ? nowMs + policy.openMs : nowMs, failures };
    case "open":
      // Began before it opened; says nothing new.
      return breaker;
  }
}

/** The state as people are told: an open breaker that would let a call pass is half open. */
export function effectiveState(breaker: Breaker, nowMs: number): BreakerState {
  return breaker.state === "open" && nowMs >= breaker.untilMs ? "half-open" : breaker.state;
}
