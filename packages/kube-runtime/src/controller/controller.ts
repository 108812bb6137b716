import { abortFault, Fault, isFault, startDeadline, type Ambient } from "@oaas/foundation";
import { formatObjectKey, parseObjectKey, type ObjectKey } from "@oaas/kube-core";
import {
  NOOP_LOGGER,
  NOOP_METER,
  NOOP_TRACER,
  type Logger,
  type Meter,
  type SpanStart,
  type Tracer,
} from "@oaas/observability";
import { PRIORITY, WorkQueue, type QueueItem, type WorkQueueOptions } from "../queue/work-queue.ts";
import type { Outcome } from "./outcome.ts";
import type { Source } from "./sources.ts";
import { controllerMetrics, type ControllerMetrics, type ReconcileResult } from "./telemetry.ts";

/** Context of a reconcile, besides its key. A reconcile does not receive the event that triggered it. */
export interface ReconcileContext {
  /** Aborts at the deadline, and when the controller stops and its grace period is over. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Consecutive faults before this attempt. */
  readonly retries: number;
}

/**
 * Reconciles one object.
 *
 * Returning means success. A retryable or internal fault is retried with backoff; any other fault is final: counted,
 * logged, and not retried until something changes.
 */
export type Reconcile = (key: ObjectKey, context: ReconcileContext) => Promise<Outcome>;

/** Definition of a controller. */
export interface ControllerOptions {
  readonly name: string;
  readonly reconcile: Reconcile;
  readonly sources: readonly Source[];
  readonly ambient: Ambient;
  /** Keys processed in parallel. Default 4. */
  readonly concurrency?: number;
  /** Reconcile timeout; the signal aborts then. Default 60 s. */
  readonly deadlineMs?: number;
  /** Limits and delays of the queue; see `WorkQueueOptions`. */
  readonly queue?: Pick<WorkQueueOptions<string>, "limit" | "backoff" | "overallRate">;
  readonly logger?: Logger;
  /** Extra fields for every log line about a key. */
  readonly logFields?: (key: ObjectKey) => Readonly<Record<string, unknown>>;
  readonly meter?: Meter;
  readonly tracer?: Tracer;
  /** The span that caused a reconcile, as parent or as link. Default: a new trace. */
  readonly traceOf?: (key: ObjectKey) => Pick<SpanStart, "parent" | "links" | "attributes">;
}

/**
 * Feeds keys from its sources to its reconcile function.
 *
 * *Guarantees*: one key is never processed by two workers; namespaces take turns; nothing runs before `start` or after
 * `stop`; `stop` waits for running work for the grace period, then aborts it and waits for its end. *Assumptions*:
 * informers are synced before `start`, or the first reconciles see a partial state; a reconcile ends soon after its
 * signal aborts.
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
  /** The last key enqueued by an unfinished pass. */
  #filledTo: string | undefined;
  /** Whether the full queue rejected a change since the last complete pass began. */
  #hasRejectedKeys = false;

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
          this.#logger.warn("queue is full; rejected keys are added again when there is room", {
            limit: options.queue?.limit,
          }),
      },
    });
  }

  /** Requests a reconcile of one key from outside the sources. */
  enqueue(key: ObjectKey, options: { readonly priority?: number; readonly afterMs?: number } = {}): void {
    if (!this.#queue.add(formatObjectKey(key), options)) this.#hasRejectedKeys = true;
  }

  /** Waiting keys. */
  get queueLength(): number {
    return this.#queue.length;
  }

  /** Subscribes to the sources and starts the workers. A stopped controller cannot be restarted. */
  start(): void {
    if (this.#workers.length > 0 || this.#stopped) return;
    this.#fill();
    this.#workers = Array.from({ length: this.#options.concurrency ?? 4 }, () => this.#work());
  }

  /** Accepts no more keys and waits for running work; aborts it after the grace period. Idempotent. */
  async stop(graceMs = 10_000): Promise<void> {
    this.#stopped = true;
    for (const end of this.#endSources.splice(0)) end();
    const abort = (): void => this.#stopping.abort(new Fault({ kind: "cancelled" }, "the controller is stopping"));
    const timer = graceMs > 0 ? this.#options.ambient.timers.after(graceMs, abort) : undefined;
    if (!timer) abort();
    await this.#queue.stop();
    await Promise.all(this.#workers);
    timer?.cancel();
    this.#metrics.queueDepth.set(0, { controller: this.name });
  }

  /**
   * Subscribes to all sources, each of which delivers all its objects, and continues where a full queue ended the last
   * pass. A queue smaller than the number of objects is thus filled in several passes.
   */
  #fill(): void {
    for (const end of this.#endSources.splice(0)) end();
    const existing = new Map<string, number>();
    let replaying = true;
    this.#endSources = this.#options.sources.map((source) =>
      source((key, { priority = PRIORITY.normal } = {}) => {
        const text = formatObjectKey(key);
        if (replaying) existing.set(text, Math.max(priority, existing.get(text) ?? priority));
        else if (!this.#queue.add(text, { priority })) this.#hasRejectedKeys = true;
      }),
    );
    replaying = false;
    if (this.#addFrom(this.#filledTo, existing) && this.#hasRejectedKeys) {
      // Changes that arrived while the queue was full may precede the position where this pass began.
      this.#hasRejectedKeys = false;
      this.#addFrom(undefined, existing);
    }
  }

  /** Adds the keys after the given one (all if it is absent); false when the queue is full. */
  #addFrom(start: string | undefined, existing: ReadonlyMap<string, number>): boolean {
    let skipping = start !== undefined && existing.has(start);
    for (const [key, priority] of existing) {
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

  async #reconcileOne({ key, priority }: QueueItem<string>): Promise<ReconcileResult> {
    const parsed = parseObjectKey(key);
    if (!parsed.ok) return "failed";
    const logger = this.#logger.child({ key, ...this.#options.logFields?.(parsed.value) });
    const retries = this.#queue.retriesOf(key);
    using deadline = startDeadline(this.#options.ambient, this.#options.deadlineMs ?? 60_000, this.#stopping.signal);
    try {
      const outcome = await this.#traced(parsed.value, retries, () =>
        this.#options.reconcile(parsed.value, { signal: deadline.signal, logger, retries }),
      );
      this.#queue.forget(key);
      if (outcome.type === "check-again") {
        // The reason for the priority is handled; the next check is routine.
        this.#queue.add(key, { afterMs: Math.max(1, outcome.afterMs), priority: Math.min(priority, PRIORITY.normal) });
      }
      return outcome.type;
    } catch (thrown) {
      if (this.#stopping.signal.aborted) {
        logger.info("reconcile aborted: controller is stopping", { fault: Fault.from(thrown) });
        return "cancelled";
      }
      // Libraries throw their own errors when a signal aborts; the deadline is the cause.
      const fault = deadline.signal.aborted ? abortFault(deadline.signal) : Fault.from(thrown);
      return this.#failed(key, priority, fault, logger);
    }
  }

  #traced(key: ObjectKey, retries: number, work: () => Promise<Outcome>): Promise<Outcome> {
    const { tracer = NOOP_TRACER, traceOf, name } = this.#options;
    const { attributes, ...cause } = traceOf?.(key) ?? {};
    return tracer.run(
      {
        // The span of the worker that added the key is not the cause.
        parent: "root",
        ...cause,
        name: `reconcile ${name}`,
        kind: "consumer",
        attributes: {
          "k8s.namespace.name": key.namespace,
          "oaas.object.name": key.name,
          "oaas.retries": retries,
          ...attributes,
        },
      },
      async (span) => {
        const outcome = await work();
        span.set({ "oaas.reconcile.outcome": outcome.type });
        return outcome;
      },
    );
  }

  #failed(key: string, priority: number, fault: Fault, logger: Logger): ReconcileResult {
    if (fault.retryable || fault.kind === "internal") {
      const atLeastMs =
        isFault(fault, "unavailable") || isFault(fault, "resource-exhausted") ? fault.detail.retryAfterMs : undefined;
      const isQueued = this.#queue.retry(key, { priority, ...(atLeastMs === undefined ? {} : { atLeastMs }) });
      if (!isQueued) this.#hasRejectedKeys = true;
      logger.warn("reconcile failed, will retry", { fault, retries: this.#queue.retriesOf(key) });
      return "retried";
    }
    this.#queue.forget(key);
    logger.error("reconcile failed, no retry until something changes", { fault });
    return "failed";
  }
}
