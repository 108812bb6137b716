import { sleep, type Clock, type Timers } from "@oaas/foundation";
import { TokenBucket } from "../queue/rate-limiter.ts";

/** How fast and how wide a client may be. */
export interface FlowControlOptions {
  /** Requests per second, after the burst. */
  readonly perSecond: number;
  readonly burst: number;
  /** Requests under way at once; further ones wait in order. */
  readonly inFlight: number;
}

/** Enough for a controller to saturate its work, not the server: the server's own fairness does the rest. */
export const DEFAULT_FLOW: FlowControlOptions = { perSecond: 1000, burst: 2000, inFlight: 64 };

/**
 * Keeps a client from flooding its server.
 *
 * Guarantees: at most `inFlight` runs at once, started no faster than the rate; those that wait are served in order; one whose
 * signal aborts leaves the line.
 */
export class FlowControl {
  readonly #ambient: { readonly clock: Clock; readonly timers: Timers };
  readonly #bucket: TokenBucket;
  readonly #inFlight: number;
  readonly #line = new Set<() => void>();
  #running = 0;

  constructor(ambient: { readonly clock: Clock; readonly timers: Timers }, options: FlowControlOptions = DEFAULT_FLOW) {
    this.#ambient = ambient;
    this.#bucket = new TokenBucket(ambient.clock, options);
    this.#inFlight = options.inFlight;
  }

  /** Works under way. */
  get running(): number {
    return this.#running;
  }

  /** Works in line. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Runs the work when its turn comes; rejects with the signal's reason when that aborts before. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(signal);
    try {
      const delayMs = this.#bucket.reserve();
      if (delayMs > 0) await sleep(this.#ambient.timers, delayMs, signal);
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#running < this.#inFlight) {
      this.#running += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#line.delete(enter);
        reject(signal.reason as Error);
      };
      this.#line.add(enter);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Hands the place straight to the next in line, so that nobody overtakes. */
  #leave(): void {
    const next = this.#line.values().next();
    if (next.done) {
      this.#running -= 1;
      return;
    }
    this.#line.delete(next.value);
    next.value();
  }
}
