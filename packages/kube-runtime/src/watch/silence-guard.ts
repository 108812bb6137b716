import { abortFault, unavailable, type Ambient, type Timer } from "@oaas/foundation";

/** A signal that aborts after too long a silence, or with its parent. Dispose it when done. */
export class SilenceGuard implements Disposable {
  readonly #controller = new AbortController();
  readonly #ambient: Pick<Ambient, "clock" | "timers">;
  readonly #parent: AbortSignal;
  readonly #onAbort: () => void;
  readonly limitMs: number;
  #heardAt: number;
  #timer: Timer;
  #silent = false;

  constructor(ambient: Pick<Ambient, "clock" | "timers">, limitMs: number, parent: AbortSignal) {
    this.#ambient = ambient;
    this.#parent = parent;
    this.limitMs = limitMs;
    this.#heardAt = ambient.clock.monotonic();
    this.#onAbort = () => this.#controller.abort(abortFault(parent));
    parent.addEventListener("abort", this.#onAbort, { once: true });
    if (parent.aborted) this.#onAbort();
    this.#timer = ambient.timers.after(limitMs, () => this.#look());
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether silence caused the abort. */
  get silent(): boolean {
    return this.#silent;
  }

  /** Resets the timer. */
  heard(): void {
    this.#heardAt = this.#ambient.clock.monotonic();
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
    this.#parent.removeEventListener("abort", this.#onAbort);
  }

  /** One timer that is re-armed, not one per event: busy watches have tens of thousands per second. */
  #look(): void {
    const leftMs = this.#heardAt + this.limitMs - this.#ambient.clock.monotonic();
    if (leftMs > 0) {
      this.#timer = this.#ambient.timers.after(leftMs, () => this.#look());
      return;
    }
    this.#silent = true;
    this.#controller.abort(unavailable("watch", `the watch received nothing for ${this.limitMs} ms`));
  }
}
