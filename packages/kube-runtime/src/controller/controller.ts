import { abortFault, Fault, isFault, startDeadline, type Ambient } from "@oaas/foundation";
import { formatObjectKey, parseObjectKey, type ObjectKey } from "@oaas/kube-core";
import { NOOP_LOGGER, NOOP_METER, type Logger, type Meter } from "@oaas/observability";
import { PRIORITY, WorkQueue, type Taken, type WorkQueueOptions } from "../queue/work-queue.ts";
import type { Outcome } from "./outcome.ts";
import type { Source } from "./sources.ts";
import { controllerMetrics, type ControllerMetrics, type ReconcileResult } from "./telemetry.ts";

/** What a reconcile may use besides its key. It never learns why it was called. */
export interface ReconcileContext {
  /** Aborts at the deadline, and when the controller stops and its grace is over. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Faults in a row before this try. */
  readonly retries: number;
}

/**
 * Brings the world to what one object asks for.
 *
 * Returning means it went well; a thrown fault that is retryable is tried again with growing delays, and so is one we did not foresee
 * (internal); any other fault is final: counted, logged, and not tried again until something changes.
 */
export type Reconcile = (key: ObjectKey, context: ReconcileContext) => Promise<Outcome>;

/** What a controller does, from where, and how fast. */
export interface ControllerOptions {
  readonly name: string;
  readonly reconcile: Reconcile;
  readonly sources: readonly Source[];
  readonly ambient: Ambient;
  /** Keys worked on at once. Default 4. */
  readonly concurrency?: number;
  /** The longest a reconcile may take: its signal aborts then. Default 60 s. */
  readonly deadlineMs?: number;
  /** Bounds and delays of the queue; see `WorkQueueOptions`. */
  readonly queue?: Pick<WorkQueueOptions<string>, "limit" | "backoff" | "overallRate">;
  readonly logger?: Logger;
  /** What every log line about a key says besides the key. */
  readonly logFields?: (key: ObjectKey) => Readonly<Record<string, unknown>>;
  readonly meter?: Meter;
}

/**
 * Takes keys from its sources to its reconcile.
 *
 * *Guarantees*: one key is never with two workers; keys of different namespaces take turns; nothing starts before `start`, nothing after `stop`; `stop`
 * waits for work in hand as long as its grace, then aborts it and waits for its end. *Assumptions*: informers are synced before `start`, or the first
 * reconciles see a part of the world; a reconcile ends soon after its signal aborts.
 */
export class Controller {
  readonly name: string;
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue<string>;
  readonly #logger: Logger;
  readonly #metrics: ControllerMetrics;
  readonly #stopping = new AbortController();
  #endSources: (() => void)[] = [];
  #workers: Promise<void>[] = [];
  #stopped = false;
  /** The last key that went into the queue of a pass that is not over. */
  #filledTo: string | undefined;
  /** Whether a full queue refused a change since the last pass began at the beginning. */
  #refused = false;

  constructor(options: ControllerOptions) {
    this.name = options.name;
    this.#options = options;
    this.#logger = (options.logger ?? NOOP_LOGGER).child({ controller: options.name });
    this.#metrics = controllerMetrics(options.meter ?? NOOP_METER, options.name);
    const labels = { controller: options.name };
    this.#queue = new WorkQueue<string>({
      ...options.ambient,
      ...options.queue,
      groupOf: (key) => key.slice(0, Math.max(0, key.indexOf("/"))),
      onRoom: () => this.#fill(),
      observer: {
        added: () => {
          this.#metrics.queueAdds.add(1, labels);
          this.#metrics.queueDepth.set(this.#queue.length, labels);
        },
        taken: (waitedMs) => {
          this.#metrics.queueWait.observe(waitedMs / 1000, labels);
          this.#metrics.queueDepth.set(this.#queue.length, labels);
          this.#metrics.active.add(1, labels);
        },
        finished: (workedMs) => {
          this.#metrics.duration.observe(workedMs / 1000, labels);
          this.#metrics.active.add(-1, labels);
        },
        retried: () => this.#metrics.queueRetries.add(1, labels),
        overflowed: () =>
          this.#logger.warn("the queue is full; what it refuses is added again when there is room", {
            limit: options.queue?.limit,
          }),
      },
    });
  }

  /** Asks for a reconcile of one key, from outside the sources. */
  enqueue(key: ObjectKey, options: { readonly priority?: number; readonly afterMs?: number } = {}): void {
    if (!this.#queue.add(formatObjectKey(key), options)) this.#refused = true;
  }

  /** Keys that wait. */
  get queueLength(): number {
    return this.#queue.length;
  }

  /** Subscribes to the sources and starts the workers. Once: a controller that was stopped stays so. */
  start(): void {
    if (this.#workers.length > 0 || this.#stopped) return;
    this.#fill();
    this.#workers = Array.from({ length: this.#options.concurrency ?? 4 }, () => this.#work());
  }

  /** Takes no more keys and waits for work in hand; what is not done within the grace is aborted. Repeatable. */
  async stop(graceMs = 10_000): Promise<void> {
    this.#stopped = true;
    for (const end of this.#endSources.splice(0)) end();
    const abort = (): void => this.#stopping.abort(new Fault({ kind: "cancelled" }, "the controller stops"));
    const timer = graceMs > 0 ? this.#options.ambient.timers.after(graceMs, abort) : undefined;
    if (!timer) abort();
    await this.#queue.stop();
    await Promise.all(this.#workers);
    timer?.cancel();
    this.#metrics.queueDepth.set(0, { controller: this.name });
  }

  /**
   * Subscribes to all sources, each of which tells of everything there is, and goes on adding where a full queue made the last pass end.
   * So a queue smaller than the world is filled piece by piece until everything was in it.
   */
  #fill(): void {
    for (const end of this.#endSources.splice(0)) end();
    const there = new Map<string, number>();
    let replaying = true;
    this.#endSources = this.#options.sources.map((source) =>
      source((key, { priority = PRIORITY.normal } = {}) => {
        const text = formatObjectKey(key);
        if (replaying) there.set(text, Math.max(priority, there.get(text) ?? priority));
        else if (!this.#queue.add(text, { priority })) this.#refused = true;
      }),
    );
    replaying = false;
    if (this.#addFrom(this.#filledTo, there) && this.#refused) {
      // Changes that came while the queue was full may lie before the place where this pass began.
      this.#refused = false;
      this.#addFrom(undefined, there);
    }
  }

  /** Adds the keys after the given one, all if it is not there; false when the queue took no more. */
  #addFrom(start: string | undefined, there: ReadonlyMap<string, number>): boolean {
    let skipping = start !== undefined && there.has(start);
    for (const [key, priority] of there) {
      if (skipping) skipping = key !== start;
      else if (this.#queue.add(key, { priority })) this.#filledTo = key;
      else return false;
    }
    this.#filledTo = undefined;
    return true;
  }

  async #work(): Promise<void> {
    for (let taken = await this.#queue.take(); taken; taken = await this.#queue.take()) {
      const result = await this.#reconcileOne(taken);
      this.#queue.done(taken.key);
      this.#metrics.reconciles.add(1, { controller: this.name, result });
    }
  }

  async #reconcileOne({ key, priority }: Taken<string>): Promise<ReconcileResult> {
    const parsed = parseObjectKey(key);
    if (!parsed.ok) return "failed";
    const logger = this.#logger.child({ key, ...this.#options.logFields?.(parsed.value) });
    const retries = this.#queue.retriesOf(key);
    using deadline = startDeadline(this.#options.ambient, this.#options.deadlineMs ?? 60_000, this.#stopping.signal);
    try {
      const outcome = await this.#options.reconcile(parsed.value, { signal: deadline.signal, logger, retries });
      this.#queue.forget(key);
      if (outcome.type === "check-again") {
        // Whatever made this run urgent is dealt with; looking again is routine.
        this.#queue.add(key, { afterMs: Math.max(1, outcome.afterMs), priority: Math.min(priority, PRIORITY.normal) });
      }
      return outcome.type;
    } catch (thrown) {
      if (this.#stopping.signal.aborted) {
        logger.info("reconcile was cut short: the controller stops", { fault: Fault.from(thrown) });
        return "cancelled";
      }
      // Libraries throw errors of their own when a signal aborts; the deadline is what counts.
      const fault = deadline.signal.aborted ? abortFault(deadline.signal) : Fault.from(thrown);
      return this.#failed(key, priority, fault, logger);
    }
  }

  #failed(key: string, priority: number, fault: Fault, logger: Logger): ReconcileResult {
    if (fault.retryable || fault.kind === "internal") {
      const asked =
        isFault(fault, "unavailable") || isFault(fault, "resource-exhausted") ? fault.detail.retryAfterMs : undefined;
      const taken = this.#queue.retry(key, { priority, ...(asked === undefined ? {} : { atLeastMs: asked }) });
      if (!taken) this.#refused = true;
      logger.warn("reconcile failed and will be tried again", { fault, retries: this.#queue.retriesOf(key) });
      return "retried";
    }
    this.#queue.forget(key);
    logger.error("reconcile failed for good; it is not tried again until something changes", { fault });
    return "failed";
  }
}
