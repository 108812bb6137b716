import type { AuditEntry } from "@oaas/contracts/rest";
import { backoffDelay, Fault, Notifier, sleep, unavailable, type Ambient } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import { BACKOFF } from "../backoff-policies.ts";

/** Where audit lines go. */
export interface AuditSink {
  /** Writes entries in order, all or none. Rejects when they have to be written again. */
  write(entries: readonly AuditEntry[]): Promise<void>;
  close?(): Promise<void>;
}

export interface AuditQueueOptions {
  readonly sink: AuditSink;
  readonly ambient: Ambient;
  readonly logger: Logger;
}

/** Entries that wait for the sink; beyond that changes are refused. */
export const MAX_WAITING = 1_000;
const BATCH = 200;
/** How long a change waits for space. */
const WAIT_MS = 2_000;

/**
 * The entries that wait for the sink, in order and bounded.
 *
 * *Guarantees*: an entry leaves the queue only after the sink has accepted it. A sink that rejects entries gets them again, with a
 * backoff; one that stalls delays no one until the queue is full.
 */
export class AuditQueue {
  readonly #options: AuditQueueOptions;
  readonly #waiting: AuditEntry[] = [];
  readonly #written = new Notifier();
  readonly #stop = new AbortController();
  #isRunning = false;
  #running: Promise<void> = Promise.resolve();
  #fault: Fault | undefined;

  constructor(options: AuditQueueOptions) {
    this.#options = options;
  }

  /** Whether only entries of authenticated callers should be added. */
  get isBusy(): boolean {
    return this.#waiting.length >= MAX_WAITING / 2;
  }

  get isFull(): boolean {
    return this.#waiting.length >= MAX_WAITING;
  }

  /** Problems that need an operator, in sentences. */
  warnings(): readonly string[] {
    if (this.#fault === undefined && !this.isBusy) return [];
    const why = this.#fault === undefined ? "it stalls" : this.#fault.message;
    return [`the audit sink does not accept entries, ${this.#waiting.length} wait: ${why}`];
  }

  /** Adds an entry. Call `waitForSpace` before a change. */
  push(entry: AuditEntry): void {
    this.#waiting.push(entry);
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#running = this.#run();
  }

  /** Resolves when the queue has space; throws unavailable after two seconds. */
  async waitForSpace(): Promise<void> {
    if (!this.isFull) return;
    const { timers } = this.#options.ambient;
    const late = new AbortController();
    const timer = timers.after(WAIT_MS, () => late.abort());
    while (this.isFull && !late.signal.aborted) await this.#written.wait(late.signal);
    timer.cancel();
    if (this.isFull) throw unavailable("audit sink", this.warnings().join());
  }

  /** Writes the waiting entries within the grace period, then closes the sink. */
  async close(graceMs: number): Promise<void> {
    const timer = this.#options.ambient.timers.after(graceMs, () => this.#stop.abort());
    while (this.#isRunning && !this.#stop.signal.aborted)
      await Promise.race([this.#running, this.#written.wait(this.#stop.signal)]);
    timer.cancel();
    if (this.#waiting.length > 0)
      this.#options.logger.error("write audit entries failed", { entries: this.#waiting.length, fault: this.#fault });
    this.#stop.abort();
    await this.#options.sink.close?.();
  }

  async #run(): Promise<void> {
    for (let failures = 0; this.#waiting.length > 0 && !this.#stop.signal.aborted;) {
      const batch = this.#waiting.slice(0, BATCH);
      try {
        await this.#options.sink.write(batch);
        this.#waiting.splice(0, batch.length);
        this.#fault = undefined;
        failures = 0;
        this.#written.notify();
      } catch (thrown) {
        failures += 1;
        await this.#backOff(Fault.from(thrown), failures);
      }
    }
    // In the same turn as the last check, so that no entry is left behind.
    this.#isRunning = false;
  }

  async #backOff(fault: Fault, failures: number): Promise<void> {
    const { ambient, logger } = this.#options;
    if (this.#fault === undefined) logger.error("write audit entries failed; retrying", { fault });
    this.#fault = fault;
    const delayMs = backoffDelay(BACKOFF.auditSink, failures - 1, ambient.random);
    await sleep(ambient.timers, delayMs, this.#stop.signal).catch(() => undefined);
  }
}

/** Writes the end of each attempt as a log line at level warn. */
export function auditToLog(logger: Logger): AuditSink {
  const log = logger.child({ audit: true });
  return {
    write: async (entries) => {
      for (const { actor, action, target, outcome, status, reason, correlation_id } of entries) {
        if (outcome === "started") continue;
        const caller =
          actor.issuer === null || actor.name === actor.subject ? actor.name : `${actor.subject} (${actor.name})`;
        const fields = { caller, action, target, status, correlation_id };
        log.warn("audit", reason === null ? fields : { ...fields, refused: reason });
      }
    },
  };
}
