import {
  admit,
  CLOSED,
  effectiveState,
  Fault,
  orAbort,
  recordOutcome,
  retry,
  Semaphore,
  startDeadline,
  unavailable,
  type Ambient,
  type Breaker,
  type BreakerPolicy,
  type BreakerState,
  type CallOutcome,
  type Deadline,
} from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import { BACKOFF } from "../../../backoff-policies.ts";

/** Limits of the calls to one cluster. */
export interface GuardPolicy {
  readonly breaker: BreakerPolicy;
  /** Concurrent calls; further calls wait. */
  readonly maxConcurrent: number;
  /** Waiting calls; further calls are rejected. */
  readonly maxWaiting: number;
}

export const DEFAULT_GUARD: GuardPolicy = {
  breaker: { threshold: 5, openMs: 60_000 },
  maxConcurrent: 64,
  maxWaiting: 1024,
};

export interface GuardedCall {
  /** Covers waiting, all attempts and the delays between them. */
  readonly deadlineMs: number;
  /** Attempts including the first. Default 1: the caller retries. */
  readonly attempts?: number;
  readonly signal?: AbortSignal | undefined;
  /** A health check: passes an open breaker and does not wait for other calls. */
  readonly probe?: boolean;
  /** Failures do not count for the circuit breaker: they may be of something behind the peer. */
  readonly ignoresFailures?: boolean;
  /** A user waits for the call: it probes an open breaker, at most once per second. */
  readonly explicit?: boolean;
}

/**
 * Guards all calls to one cluster with a deadline, a concurrency limit and a circuit breaker.
 *
 * *Guarantees*: a call ends by its deadline; it is retried only while its fault is retryable and time is left; when time
 * runs out between attempts, the last fault is reported instead of the deadline; after consecutive failures calls are
 * rejected until a probe succeeds, which explicit requests start at most once per second; every fault names the cluster.
 * *Caveats*: every response counts as a success, so only deadlines limit a cluster that hangs on all calls except health
 * checks.
 */
export class ClusterGuard {
  readonly #cluster: ClusterName;
  readonly #ambient: Ambient;
  readonly #policy: GuardPolicy;
  readonly #calls: Semaphore;
  readonly #onState: (state: BreakerState) => void;
  #breaker: Breaker = CLOSED;

  constructor(options: {
    readonly cluster: ClusterName;
    readonly ambient: Ambient;
    readonly policy: GuardPolicy;
    readonly onState?: (state: BreakerState) => void;
  }) {
    const { maxConcurrent, maxWaiting } = options.policy;
    this.#cluster = options.cluster;
    this.#ambient = options.ambient;
    this.#policy = options.policy;
    this.#calls = new Semaphore({ name: "the class runtime manager", permits: maxConcurrent, maxWaiting });
    this.#onState = options.onState ?? (() => undefined);
  }

  get state(): BreakerState {
    return effectiveState(this.#breaker, this.#ambient.clock.monotonic());
  }

  /** Runs `work`, with the remaining time for each attempt. */
  async call<T>(work: (attempt: Deadline) => Promise<T>, call: GuardedCall): Promise<T> {
    let release: (() => void) | undefined;
    try {
      this.#admit(call);
      using deadline = startDeadline(this.#ambient, call.deadlineMs, call.signal);
      if (!call.probe) release = await this.#calls.acquire(deadline.signal);
      return await this.#run(work, deadline, call);
    } catch (thrown) {
      throw withClusterName(this.#cluster, Fault.from(thrown));
    } finally {
      release?.();
    }
  }

  async #run<T>(work: (attempt: Deadline) => Promise<T>, deadline: Deadline, call: GuardedCall): Promise<T> {
    // The breaker may have opened while the call waited.
    this.#setBreaker(this.#admit(call));
    let outcome: CallOutcome = "answered";
    try {
      return await this.#attempt(work, deadline, call.attempts ?? 1);
    } catch (thrown) {
      outcome = call.signal?.aborted || call.ignoresFailures ? "unknown" : outcomeOf(Fault.from(thrown));
      throw thrown;
    } finally {
      const now = this.#ambient.clock.monotonic();
      this.#setBreaker(recordOutcome(this.#breaker, now, outcome, this.#policy.breaker));
    }
  }

  async #attempt<T>(work: (attempt: Deadline) => Promise<T>, deadline: Deadline, attempts: number): Promise<T> {
    let last: Fault | undefined;
    try {
      return await retry(
        {
          ...this.#ambient,
          retries: Math.max(1, attempts) - 1,
          policy: BACKOFF.crmRead,
          signal: deadline.signal,
          onRetry: (fault) => (last = fault),
        },
        () => orAbort(work(deadline), deadline.signal),
      );
    } catch (thrown) {
      const isTimeout = deadline.signal.aborted && thrown === deadline.signal.reason;
      throw isTimeout && Fault.from(thrown).kind === "deadline-exceeded" && last !== undefined ? last : thrown;
    }
  }

  /** The breaker state with the call admitted; throws while the breaker rejects it. */
  #admit({ probe, explicit }: GuardedCall): Breaker {
    const now = this.#ambient.clock.monotonic();
    const priority = probe ? "health-check" : explicit ? "explicit" : "background";
    const admission = admit(this.#breaker, now, priority, this.#policy.breaker);
    if (admission.admitted) return admission.breaker;
    const { retryAfterMs } = admission;
    const seconds = Math.ceil(retryAfterMs / 1000);
    throw unavailable(
      peerName(this.#cluster),
      `circuit breaker open after ${this.#breaker.failures} consecutive failures; next attempt in ${seconds} s`,
      { retryAfterMs },
    );
  }

  #setBreaker(breaker: Breaker): void {
    const before = this.#breaker.state;
    this.#breaker = breaker;
    if (breaker.state !== before) this.#onState(breaker.state);
  }
}

/** The name of a cluster in faults. */
export function peerName(cluster: ClusterName): string {
  return `cluster "${cluster}"`;
}

/** The fault with the cluster in its message. Faults whose context names the peer have it already. */
export function withClusterName(cluster: ClusterName, fault: Fault): Fault {
  const peer = peerName(cluster);
  if (fault.context["peer"] === peer) return fault;
  return fault.with({
    message: `${peer}: ${fault.message}`,
    context: { ...fault.context, peer, cluster },
    cause: fault,
  });
}

function outcomeOf(fault: Fault): CallOutcome {
  if (fault.kind === "unavailable" || fault.kind === "deadline-exceeded") return "failed";
  return fault.kind === "cancelled" ? "unknown" : "answered";
}
