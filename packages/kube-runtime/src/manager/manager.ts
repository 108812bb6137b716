import { backoffDelay, Fault, sleep, type Ambient, type BackoffPolicy } from "@oaas/foundation";
import { NOOP_LOGGER, type Logger } from "@oaas/observability";
import type { InformerPool } from "../cache/informer-pool.ts";
import type { Controller } from "../controller/controller.ts";
import type { LeaseElector } from "../leader/lease-elector.ts";

/** Another task that runs only while this process leads, such as a periodic loop. */
export interface LedTask {
  readonly name: string;
  /** Runs until the signal aborts. Restarted after a delay when it throws; finished for this term when it returns. */
  run(signal: AbortSignal): Promise<void>;
}

/** What has to hold before this process works or is ready. */
export interface Prerequisite {
  /** Why it does not hold; empty when it does. */
  readonly problems: readonly string[];
  /** Resolves when it holds; rejects when the signal aborts. */
  met(signal: AbortSignal): Promise<void>;
}

/** The parts of a controller process. */
export interface ManagerOptions {
  readonly ambient: Ambient;
  readonly informers: InformerPool;
  /** Called for each term: a stopped controller cannot be restarted. */
  readonly controllers: () => readonly Controller[];
  readonly tasks?: readonly LedTask[];
  readonly prerequisite?: Prerequisite;
  /** Without it the process starts working at once. */
  readonly elector?: LeaseElector;
  readonly logger?: Logger;
  /** Grace period for running work at stop; none when leadership is lost. Default 10 s. */
  readonly graceMs?: number;
}

/** Result of a health or readiness check. */
export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

const TASK_BACKOFF: BackoffPolicy = { baseMs: 1_000, capMs: 60_000, factor: 2, jitter: 0.5 };

/**
 * Starts and stops the parts of a controller process in order.
 *
 * *Flow*: caches → synced and prerequisite met → leadership → workers; the reverse at stop: workers, lease released, caches.
 *
 * *Guarantees*: no worker runs before every cache is synced, nor without leadership; when leadership is lost, running
 * work is aborted at once, and the workers start again with the next term; `stop` may be called at any time and
 * repeatedly; a manager that fails releases leadership and reports it in `health`.
 */
export class Manager {
  readonly #options: ManagerOptions;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  readonly #ready = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;
  #working = false;
  #controllers: readonly Controller[] = [];
  #failure: Fault | undefined;

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#logger = options.logger ?? NOOP_LOGGER;
  }

  /** Starts everything and returns at once; `readiness` reports progress. A stopped manager cannot be restarted. */
  start(): void {
    if (this.#stopping.signal.aborted) return;
    this.#running ??= this.#run().catch(async (thrown: unknown) => {
      if (this.#stopping.signal.aborted) return;
      this.#failure = Fault.from(thrown);
      this.#logger.fatal("manager failed", { fault: this.#failure });
      await this.#options.elector?.stop();
    });
  }

  /** Resolves when every cache is synced and the prerequisite is met. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Ready when every cache is synced and the prerequisite is met: followers serve reads too. */
  readiness(): Readiness {
    const { unsynced, faults } = this.#options.informers;
    const whyOf = new Map(faults.map(({ informer, fault }) => [informer, `: ${fault.message}`]));
    const reasons = unsynced.map((name) => `the cache of ${name} is not synced yet${whyOf.get(name) ?? ""}`);
    if (this.#stopping.signal.aborted) reasons.push("the process is stopping");
    const problems = this.#options.prerequisite?.problems ?? [];
    return answer([...problems, ...reasons, ...this.health().reasons]);
  }

  /** Healthy until it has failed permanently; then only a restart of the process helps. */
  health(): Readiness {
    return answer(this.#failure ? [`the manager failed: ${this.#failure.message}`] : []);
  }

  /** Whether the workers run in this process. */
  get isWorking(): boolean {
    return this.#working;
  }

  /** Controllers of the current term, for adding keys from outside. */
  get controllers(): readonly Controller[] {
    return this.#controllers;
  }

  /** Stops everything in order; resolves when done. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Fault({ kind: "cancelled" }, "the manager is stopping"));
    await this.#running;
    await this.#options.elector?.stop();
    await this.#options.informers.stop();
  }

  async #run(): Promise<void> {
    const { informers, prerequisite, elector } = this.#options;
    informers.start();
    await Promise.all([informers.synced(this.#stopping.signal), prerequisite?.met(this.#stopping.signal)]);
    this.#ready.resolve();
    elector?.start();
    while (!this.#stopping.signal.aborted) {
      const term = elector ? await elector.leading(this.#stopping.signal) : this.#stopping.signal;
      await this.#work(AbortSignal.any([term, this.#stopping.signal]));
    }
  }

  async #work(term: AbortSignal): Promise<void> {
    const controllers = this.#options.controllers();
    this.#controllers = controllers;
    this.#working = true;
    for (const controller of controllers) controller.start();
    const tasks = (this.#options.tasks ?? []).map((task) => this.#runTask(task, term));
    await new Promise<void>((resolve) => {
      if (term.aborted) resolve();
      term.addEventListener("abort", () => resolve(), { once: true });
    });
    // During a stop the lease is still held, so work may finish. Lost leadership leaves no time: another process may
    // start.
    const graceMs = this.#stopping.signal.aborted ? this.#options.graceMs : 0;
    await Promise.all([...controllers.map((controller) => controller.stop(graceMs)), ...tasks]);
    this.#controllers = [];
    this.#working = false;
  }

  async #runTask(task: LedTask, term: AbortSignal): Promise<void> {
    const { timers, random } = this.#options.ambient;
    for (let failures = 0; !term.aborted; failures += 1) {
      try {
        await task.run(term);
        return;
      } catch (thrown) {
        if (term.aborted) return;
        const retryInMs = backoffDelay(TASK_BACKOFF, failures, random);
        this.#logger.error("task failed, will restart", {
          task: task.name,
          fault: Fault.from(thrown),
          retryInMs,
        });
        await sleep(timers, retryInMs, term).catch(() => undefined);
      }
    }
  }
}

function answer(reasons: readonly string[]): Readiness {
  return { ready: reasons.length === 0, reasons };
}
