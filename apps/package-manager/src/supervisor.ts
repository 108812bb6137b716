import { backoffDelay, unavailable, type Ambient, type Timer } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import { BACKOFF } from "./backoff-policies.ts";

/** A process that serves. */
export interface WorkerProcess {
  readonly id: number;
  readonly pid: number | undefined;
  /** Resolves when it listens; never when it ends before. */
  readonly listening: Promise<void>;
  /** Resolves with how it ended. */
  readonly ended: Promise<string>;
  /** Asks it to end in order. */
  stop(): void;
}

export interface SupervisorOptions {
  readonly count: number;
  readonly begin: () => WorkerProcess;
  readonly ambient: Ambient;
  readonly logger: Logger;
}

/** A worker that lived so long was well, whatever it died of. */
const WELL_AFTER_MS = 60_000;

/**
 * Keeps a number of workers running.
 *
 * *Guarantees*: the first worker begins alone, and what keeps it from serving ends the start, as it would with one process: a wrong setting or
 * a store out of reach is said once. From then on one that ends is started again, after 1, 2, 4 … up to 30 seconds while they keep ending
 * early, for ever: what served once is expected to serve again.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #running = new Set<WorkerProcess>();
  readonly #waiting = new Set<Timer>();
  #early = 0;
  #stopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Resolves when the first worker listens and the others were begun. */
  async start(): Promise<void> {
    const first = this.#begin();
    const end = await Promise.race([first.listening, first.ended]);
    if (end !== undefined) {
      this.#stopping = true;
      throw unavailable("worker", `the first worker ended before it listened (${end}); what it said stands above`);
    }
    this.#keep(first);
    for (let more = 1; more < this.#options.count; more += 1) this.#keep(this.#begin());
  }

  /** Ends all workers in order. */
  async close(): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#waiting) timer.cancel();
    await Promise.all(
      [...this.#running].map((worker) => {
        worker.stop();
        return worker.ended;
      }),
    );
  }

  #begin(): WorkerProcess {
    const worker = this.#options.begin();
    this.#running.add(worker);
    void worker.ended.then(() => this.#running.delete(worker));
    this.#options.logger.info("a worker was started", { worker: worker.id, pid: worker.pid });
    return worker;
  }

  #keep(worker: WorkerProcess): void {
    const { clock } = this.#options.ambient;
    const since = clock.monotonic();
    void worker.ended.then((how) => {
      if (!this.#stopping) this.#replace(worker, how, clock.monotonic() - since);
    });
  }

  #replace(worker: WorkerProcess, how: string, livedMs: number): void {
    const { ambient, logger } = this.#options;
    this.#early = livedMs >= WELL_AFTER_MS ? 0 : this.#early + 1;
    const delayMs = Math.round(backoffDelay(BACKOFF.workerRestart, Math.max(0, this.#early - 1), ambient.random));
    logger.error("a worker ended and is started again", {
      worker: worker.id,
      how,
      delay_ms: delayMs,
      still_running: this.#running.size,
    });
    const timer = ambient.timers.after(delayMs, () => {
      this.#waiting.delete(timer);
      if (!this.#stopping) this.#keep(this.#begin());
    });
    this.#waiting.add(timer);
  }
}
