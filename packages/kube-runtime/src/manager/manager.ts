import { Fault, type Ambient } from "@oaas/foundation";
import { NOOP_LOGGER, type Logger } from "@oaas/observability";
import type { InformerPool } from "../cache/informer-pool.ts";
import type { Controller } from "../controller/controller.ts";
import type { LeaseElector } from "../leader/lease-elector.ts";

/** Something else that runs only while this process leads: a periodic loop, say. */
export interface LedTask {
  readonly name: string;
  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ManagerOptions {
  readonly ambient: Ambient;
  readonly informers: InformerPool;
  /** Made anew for each term: a controller that was stopped is not started again. */
  readonly controllers: () => readonly Controller[];
  readonly tasks?: readonly LedTask[];
  /** Without it this process works at once. */
  readonly elector?: LeaseElector;
  readonly logger?: Logger;
  /** What remains for work in hand when leadership ends or the process stops. Default 10 s. */
  readonly graceMs?: number;
}

/** One answer of a health or readiness check. */
export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

/**
 * Starts and stops the parts of a controller process in order.
 *
 * *Flow*: caches → synced → leadership → workers; stopping goes the other way: workers, leadership given back, caches.
 *
 * *Guarantees*: no worker runs before every cache is synced, nor without leadership; when leadership is lost the workers end and start again with the next
 * term; `stop` may be called at any time and twice.
 */
export class Manager {
  readonly #options: ManagerOptions;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #controllers: readonly Controller[] = [];

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#logger = options.logger ?? NOOP_LOGGER;
  }

  /** Starts everything and resolves at once; `readiness` tells how far it is. */
  start(): void {
    this.#running ??= this.#run().catch((thrown: unknown) => {
      if (!this.#stopping.signal.aborted) this.#logger.fatal("the manager ended", { fault: Fault.from(thrown) });
    });
  }

  /** Ready when every cache is synced: followers serve reads too. */
  readiness(): Readiness {
    const reasons = this.#options.informers.unsynced.map((name) => `the cache of ${name} is not synced yet`);
    if (this.#stopping.signal.aborted) reasons.push("the process is stopping");
    return { ready: reasons.length === 0, reasons };
  }

  /** Whether the workers run in this process. */
  get isWorking(): boolean {
    return this.#controllers.length > 0;
  }

  /** Controllers of the present term, for those that add keys from outside. */
  get controllers(): readonly Controller[] {
    return this.#controllers;
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Fault({ kind: "cancelled" }, "the manager stops"));
    await this.#running;
    await this.#options.elector?.stop();
    await this.#options.informers.stop();
  }

  async #run(): Promise<void> {
    const { informers, elector } = this.#options;
    informers.start();
    await informers.synced(this.#stopping.signal);
    elector?.start();
    while (!this.#stopping.signal.aborted) {
      const term = elector ? await elector.leading(this.#stopping.signal) : this.#stopping.signal;
      await this.#work(AbortSignal.any([term, this.#stopping.signal]));
    }
  }

  async #work(term: AbortSignal): Promise<void> {
    this.#controllers = this.#options.controllers();
    for (const controller of this.#controllers) controller.start();
    const tasks = (this.#options.tasks ?? []).map((task) =>
      task.run(term).catch((thrown: unknown) => {
        if (!term.aborted) this.#logger.error("a task ended", { task: task.name, fault: Fault.from(thrown) });
      }),
    );
    await new Promise<void>((resolve) => {
      if (term.aborted) resolve();
      term.addEventListener("abort", () => resolve(), { once: true });
    });
    const controllers = this.#controllers;
    this.#controllers = [];
    await Promise.all(controllers.map((controller) => controller.stop(this.#options.graceMs)));
    await Promise.all(tasks);
  }
}
