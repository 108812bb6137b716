import {
  Fault,
  orAbort,
  retry,
  Semaphore,
  startDeadline,
  unavailable,
  type Ambient,
  type BackoffPolicy,
  type Deadline,
} from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import {
  admit,
  CLOSED,
  recordOutcome,
  effectiveState,
  type Breaker,
  type BreakerPolicy,
  type BreakerState,
  type CallOutcome,
} from "./circuit-breaker.ts";

/** How calls to one cluster are held together. */
export interface GuardPolicy {
  readonly breaker: BreakerPolicy;
  /** Calls under way at the same time; more of them wait. */
  readonly mostAtOnce: number;
  /** Calls that may wait; further ones are refused at once. */
  readonly mostWaiting: number;
  readonly backoff: BackoffPolicy;
}

export const DEFAULT_GUARD: GuardPolicy = {
  breaker: { threshold: 5, openMs: 60_000 },
  mostAtOnce: 64,
  mostWaiting: 1024,
  backoff: { baseMs: 100, capMs: 2_000, factor: 2, jitter: 0.5 },
};

export interface GuardedCall {
  /** For the whole call: waiting, every attempt, and the pauses between them. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** A health check: passes an open breaker, and does not wait behind other calls. */
  readonly probe?: boolean;
}

/**
 * Stands between everybody and one cluster.
 *
 * *Guarantees*: a call ends by its deadline, whatever the cluster does; it is repeated only while its fault is retryable and time is left, and
 * then the last true fault is told rather than "too late"; a cluster that failed several calls in a row is refused at once until it was
 * asked again; every fault names the cluster.
 * *Caveats*: any answer counts as life, so that a cluster which answers health checks and hangs on all else is held by deadlines alone.
 */
export class ClusterGuard {
  readonly #cluster: ClusterName;
  readonly #ambient: Ambient;
  readonly #policy: GuardPolicy;
  readonly #attempts: number;
  readonly #calls: Semaphore;
  readonly #onState: (state: BreakerState) => void;
  #breaker: Breaker = CLOSED;

  constructor(options: {
    readonly cluster: ClusterName;
    readonly ambient: Ambient;
    readonly policy: GuardPolicy;
    /** Tries of one call, the first included. */
    readonly attempts: number;
    readonly onState?: (state: BreakerState) => void;
  }) {
    this.#cluster = options.cluster;
    this.#ambient = options.ambient;
    this.#policy = options.policy;
    this.#attempts = Math.max(1, options.attempts);
    this.#calls = new Semaphore({
      name: peerName(options.cluster),
      permits: options.policy.mostAtOnce,
      maxWaiting: options.policy.mostWaiting,
    });
    this.#onState = options.onState ?? (() => undefined);
  }

  get state(): BreakerState {
    return effectiveState(this.#breaker, this.#ambient.clock.monotonic());
  }

  /** Makes a call. `work` is given what is left of the time, anew for each attempt. */
  async call<T>(work: (attempt: Deadline) => Promise<T>, call: GuardedCall): Promise<T> {
    let release: (() => void) | undefined;
    try {
      this.#refuseWhileOpen(call);
      using deadline = startDeadline(this.#ambient, call.deadlineMs, call.signal);
      if (!call.probe) release = await this.#calls.acquire(deadline.signal);
      return await this.#admitted(work, deadline, call);
    } catch (thrown) {
      throw withClusterName(this.#cluster, Fault.from(thrown));
    } finally {
      release?.();
    }
  }

  async #admitted<T>(work: (attempt: Deadline) => Promise<T>, deadline: Deadline, call: GuardedCall): Promise<T> {
    const { clock } = this.#ambient;
    const { breaker: policy } = this.#policy;
    const admission = admit(this.#breaker, clock.monotonic(), call.probe ? "probe" : "normal", policy);
    if (!admission.admitted) throw this.#openFault(admission.retryAfterMs);
    this.#become(admission.breaker);
    let outcome: CallOutcome = "answered";
    try {
      return await this.#attempt(work, deadline);
    } catch (thrown) {
      outcome = call.signal?.aborted ? "unknown" : outcomeOf(Fault.from(thrown));
      throw thrown;
    } finally {
      this.#become(recordOutcome(this.#breaker, clock.monotonic(), outcome, policy));
    }
  }

  async #attempt<T>(work: (attempt: Deadline) => Promise<T>, deadline: Deadline): Promise<T> {
    let last: Fault | undefined;
    try {
      return await retry(
        {
          ...this.#ambient,
          retries: this.#attempts - 1,
          policy: this.#policy.backoff,
          signal: deadline.signal,
          onRetry: (fault) => (last = fault),
        },
        () => orAbort(work(deadline), deadline.signal),
      );
    } catch (thrown) {
      const tooLate = deadline.signal.aborted && thrown === deadline.signal.reason;
      throw tooLate && Fault.from(thrown).kind === "deadline-exceeded" && last !== undefined ? last : thrown;
    }
  }

  #refuseWhileOpen({ probe }: GuardedCall): void {
    const { breaker: policy } = this.#policy;
    const admission = admit(this.#breaker, this.#ambient.clock.monotonic(), probe ? "probe" : "normal", policy);
    if (!admission.admitted) throw this.#openFault(admission.retryAfterMs);
  }

  #openFault(retryAfterMs: number): Fault {
    const { failures } = this.#breaker;
    const message = `it failed ${failures} times in a row and is left alone for ${Math.ceil(retryAfterMs / 1000)} s`;
    return unavailable(peerName(this.#cluster), message, { retryAfterMs });
  }

  #become(breaker: Breaker): void {
    const before = this.#breaker.state;
    this.#breaker = breaker;
    if (breaker.state !== before) this.#onState(breaker.state);
  }
}

/** How a cluster is called in faults. */
export function peerName(cluster: ClusterName): string {
  return `cluster "${cluster}"`;
}

/** The same fault, with the cluster in its message. */
export function withClusterName(cluster: ClusterName, fault: Fault): Fault {
  const name = peerName(cluster);
  if (fault.message.includes(name)) return fault;
  return fault.with({ message: `${name}: ${fault.message}`, context: { ...fault.context, cluster }, cause: fault });
}

function outcomeOf(fault: Fault): CallOutcome {
  if (fault.kind === "unavailable" || fault.kind === "deadline-exceeded") return "failed";
  return fault.kind === "cancelled" ? "unknown" : "answered";
}
