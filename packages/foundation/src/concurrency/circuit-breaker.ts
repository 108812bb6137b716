/**
 * The circuit breaker of one peer, as a pure state machine.
 *
 * ```
 *            threshold failures in a row          timeout, explicit request or health check
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
  /** Explicit requests may probe from `probeAtMs`, all calls from `untilMs`. */
  | { readonly state: "open"; readonly untilMs: number; readonly probeAtMs: number; readonly failures: number }
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

/** The least time between the end of a failed call and a probe by an explicit request. */
export const PROBE_INTERVAL_MS = 1_000;

/**
 * Background work waits until an open breaker times out. A request that a user waits for probes it, at most once per
 * `PROBE_INTERVAL_MS`. A health check, which has its own schedule, probes it at once.
 */
export type CallPriority = "background" | "explicit" | "health-check";

/** Whether a call may pass. No call passes while another probe is in flight. */
export type Admission =
  | { readonly admitted: true; readonly breaker: Breaker }
  | { readonly admitted: false; readonly retryAfterMs: number };

export function admit(breaker: Breaker, nowMs: number, call: CallPriority, policy: BreakerPolicy): Admission {
  switch (breaker.state) {
    case "closed":
      return { admitted: true, breaker };
    case "half-open":
      return { admitted: false, retryAfterMs: probeIntervalMs(policy) };
    case "open": {
      const fromMs = call === "explicit" ? breaker.probeAtMs : breaker.untilMs;
      return call === "health-check" || nowMs >= fromMs
        ? { admitted: true, breaker: { state: "half-open", failures: breaker.failures } }
        : { admitted: false, retryAfterMs: fromMs - nowMs };
    }
  }
}

function probeIntervalMs({ openMs }: BreakerPolicy): number {
  return Math.min(PROBE_INTERVAL_MS, openMs);
}

/** The outcome of a call: the peer responded, it failed to respond, or the caller aborted before either. */
export type CallOutcome = "answered" | "failed" | "unknown";

/** The breaker after a call ended. */
export function recordOutcome(breaker: Breaker, nowMs: number, outcome: CallOutcome, policy: BreakerPolicy): Breaker {
  if (outcome === "answered") return CLOSED;
  const failures = breaker.failures + (outcome === "failed" ? 1 : 0);
  const probeAtMs = nowMs + probeIntervalMs(policy);
  switch (breaker.state) {
    case "closed":
      return failures >= policy.threshold
        ? { state: "open", untilMs: nowMs + policy.openMs, probeAtMs, failures }
        : { state: "closed", failures };
    case "half-open":
      // An aborted probe shows nothing about the peer: any call may probe next.
      return { state: "open", untilMs: outcome === "failed" ? nowMs + policy.openMs : probeAtMs, probeAtMs, failures };
    case "open":
      // The call started before the breaker opened.
      return breaker;
  }
}

/** The reported state: an open breaker whose timeout has passed is half-open. */
export function effectiveState(breaker: Breaker, nowMs: number): BreakerState {
  return breaker.state === "open" && nowMs >= breaker.untilMs ? "half-open" : breaker.state;
}
