import { backoffDelay, unavailable, type Ambient, type Timer } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import { BACKOFF } from "./backoff-policies.ts";

/** A worker process. */
export interface WorkerProcess {
  readonly id: number;
  readonly pid: number | undefined;
  /** Resolves when it listens; never when it exits before. */
  readonly listening: Promise<void>;
  /** Resolves with its exit code or signal. */
  readonly ended: Promise<string>;
  /** Requests a graceful stop. */
  stop(): void;
}

export interface SupervisorOptions {
  readonly count: number;
  readonly startWorker: () => WorkerProcess;
  readonly ambient: Ambient;
  readonly logger: Logger;
}

/** Uptime after which the restart backoff of a worker is reset. */
const HEALTHY_UPTIME_MS = 60_000;

/**
 * Keeps a number of workers running.
 *
 * *Guarantees*: the first worker starts alone, and its failure fails the start, so that an invalid setting or an unreachable store is
 * reported once. After that a worker that exits is restarted, with a backoff of 1, 2, 4 … up to 30 seconds while workers exit early.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #running = new Set<WorkerProcess>();
  readonly #waiting = new Set<Timer>();
  #earlyExits = 0;
  #stopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Resolves when the first worker listens and the others are starting. */
  async start(): Promise<void> {
    const first = this.#start();
    const exit = await Promise.race([first.listening, first.ended]);
    if (exit !== undefined) {
      this.#stopping = true;
      throw unavailable("worker", `the first worker exited before it listened (${exit}); see its output above`);
    }
    this.#watch(first);
    for (let more = 1; more < this.#options.count; more += 1) this.#watch(this.#start());
  }

  /** Stops all workers gracefully. */
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

  #start(): WorkerProcess {
    const worker = this.#options.startWorker();
    this.#running.add(worker);
    void worker.ended.then(() => this.#running.delete(worker));
    this.#options.logger.info("started worker", { worker: worker.id, pid: worker.pid });
    return worker;
  }

  #watch(worker: WorkerProcess): void {
    const { clock } = this.#options.ambient;
    const startedAt = clock.monotonic();
    void worker.ended.then((exit) => {
      if (!this.#stopping) this.#restart(worker, exit, clock.monotonic() - startedAt);
    });
  }

  #restart(worker: WorkerProcess, exit: string, uptimeMs: number): void {
    const { ambient, logger } = this.#options;
    this.#earlyExits = uptimeMs >= HEALTHY_UPTIME_MS ? 0 : this.#earlyExits + 1;
    const delayMs = Math.round(backoffDelay(BACKOFF.workerRestart, Math.max(0, this.#earlyExits - 1), ambient.random));
    logger.error("worker exited; restarting", {
      worker: worker.id,
      exit,
      delay_ms: delayMs,
      running: this.#running.size,
    });
    const timer = ambient.timers.after(delayMs, () => {
      this.#waiting.delete(timer);
      if (!this.#stopping) this.#watch(this.#start());
    });
    this.#waiting.add(timer);
  }
}
