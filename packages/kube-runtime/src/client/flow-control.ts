import { Semaphore, sleep, type Clock, type Timers } from "@oaas/foundation";
import { TokenBucket } from "../queue/rate-limiter.ts";

/** Request limits of a client. */
export interface FlowControlOptions {
  /** Requests per second after the burst. */
  readonly perSecond: number;
  readonly burst: number;
  /** Concurrent requests; further requests wait in order. */
  readonly inFlight: number;
}

/** Enough for a controller to saturate its work without overloading the server, which has its own fairness. */
export const DEFAULT_FLOW: FlowControlOptions = { perSecond: 1000, burst: 2000, inFlight: 64 };

/**
 * Limits the requests of a client.
 *
 * Guarantees: at most `inFlight` requests run at once, started no faster than the rate; waiting requests are served in
 * order; an aborted request leaves the queue.
 */
export class FlowControl {
  readonly #timers: Timers;
  readonly #bucket: TokenBucket;
  readonly #requests: Semaphore;

  constructor(ambient: { readonly clock: Clock; readonly timers: Timers }, options: FlowControlOptions = DEFAULT_FLOW) {
    this.#timers = ambient.timers;
    this.#bucket = new TokenBucket(ambient.clock, options);
    this.#requests = new Semaphore({ name: "the API server", permits: options.inFlight });
  }

  /** Running requests. */
  get running(): number {
    return this.#requests.running;
  }

  /** Waiting requests. */
  get waiting(): number {
    return this.#requests.waiting;
  }

  /** Runs a request when the limits allow it. Rejects with the signal's fault if it aborts before. */
  run<T>(signal: AbortSignal, request: () => Promise<T>): Promise<T> {
    return this.#requests.run(signal, async () => {
      const delayMs = this.#bucket.reserve();
      if (delayMs > 0) await sleep(this.#timers, delayMs, signal);
      return request();
    });
  }
}
