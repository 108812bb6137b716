import {
  backoffDelay,
  Fault,
  isFault,
  orAbort,
  sleep,
  startDeadline,
  type Ambient,
  type BackoffPolicy,
} from "@oaas/foundation";
import type { LedTask } from "@oaas/kube-runtime";
import type { Logger } from "@oaas/observability";
import type { ClassDirectory } from "../classes/ports.ts";
import { correlationIdOf } from "../mapping/object-identity.ts";
import { metricsReport } from "./metrics-report.ts";
import type { ReportSink } from "./ports.ts";
import { ReportQueue, type Report } from "./report-queue.ts";
import { isNews, statusReport } from "./status-report.ts";
import type { ReportingMetrics } from "./telemetry.ts";

export interface PmReporterOptions {
  readonly classes: Pick<ClassDirectory, "list" | "onChange">;
  readonly sink: ReportSink;
  /** The name by which reports call this cluster. */
  readonly cluster: string;
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly metrics: ReportingMetrics;
  /** Whether this process leads at this very moment. */
  readonly isLeading: () => boolean;
  /** How often numbers are told. */
  readonly metricsEveryMs: number;
  /** How long the last reports may take when the process stops. */
  readonly drainMs: number;
  /** Reports under way at once. Default 8. */
  readonly concurrency?: number;
  readonly backoff?: BackoffPolicy;
}

const BACKOFF: BackoffPolicy = { baseMs: 500, capMs: 60_000, factor: 2, jitter: 0.5 };

/** The report itself is at fault, or nobody there wants it: telling it again changes nothing. */
const REFUSALS = ["invalid-argument", "not-found", "failed-precondition", "already-exists", "conflict"] as const;

/**
 * Tells the package manager how classes are, while this process leads.
 *
 * *Flow*: a term begins → every class is told as it is → changes as they come, numbers now and then → the last ones within `drainMs` when the process stops.
 *
 * *Guarantees*: nothing here is waited for by a reconcile; of each class the newest state is told, never an older one after it; a package manager that is down,
 * hangs or refuses us is tried again with growing pauses by one report at a time, and told everything that changed meanwhile. *Caveats*: states in between may be skipped; more than a
 * thousand deletions during one outage are not all told.
 */
export class PmReporter implements LedTask {
  readonly name = "report-to-package-manager";
  readonly #options: PmReporterOptions;
  #failures = 0;

  constructor(options: PmReporterOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { classes, ambient, metrics } = this.#options;
    const term = { epoch: ambient.ids.uuid(), sequence: 0n };
    const queue = new ReportQueue();
    let wake = (): void => undefined;
    const put = (report: Report): void => {
      metrics.reports.add(queue.put(report), { about: report.about, outcome: "dropped" });
      metrics.queued.set(queue.size);
      wake();
    };
    const endListening = classes.onChange((change) => {
      if (isNews(change)) put({ about: "status", object: change.object, isDeleted: change.type === "deleted" });
    });
    const endNumbers = this.#repeat(() => {
      for (const object of classes.list()) put({ about: "metrics", object, isDeleted: false });
    });
    try {
      while (!signal.aborted) {
        const isDown = this.#failures > 0;
        if (isDown) await this.#pause(signal);
        const woken = new Promise<void>((resolve) => (wake = resolve));
        const batch = queue.take(isDown ? 1 : (this.#options.concurrency ?? 8));
        if (batch.length === 0) await orAbort(woken, signal).catch(() => undefined);
        else await this.#send(batch, queue, term, signal);
      }
    } finally {
      endListening();
      endNumbers();
    }
    await this.#drain(queue, term);
    for (const { about } of queue.take(queue.size)) metrics.reports.add(1, { about, outcome: "dropped" });
    metrics.queued.set(0);
  }

  #repeat(work: () => void): () => void {
    const { ambient, metricsEveryMs } = this.#options;
    const again = (): void => {
      work();
      timer = ambient.timers.after(metricsEveryMs, again);
    };
    let timer = ambient.timers.after(metricsEveryMs, again);
    return () => timer.cancel();
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { ambient, backoff = BACKOFF } = this.#options;
    const delayMs = backoffDelay(backoff, this.#failures - 1, ambient.random);
    await sleep(ambient.timers, delayMs, signal).catch(() => undefined);
  }

  async #send(batch: readonly Report[], queue: ReportQueue, term: Term, signal: AbortSignal): Promise<void> {
    const results = await Promise.all(batch.map((report) => this.#tell(report, term, signal)));
    for (const [index, fault] of results.entries()) if (fault) queue.putBack(batch[index] as Report);
    this.#options.metrics.queued.set(queue.size);
    if (!signal.aborted) this.#judge(results.find((result) => result !== undefined));
  }

  /** Undefined when there is nothing more to do about this report; else why it has to be told again. */
  async #tell(report: Report, term: Term, signal: AbortSignal): Promise<Fault | undefined> {
    const { sink, cluster, ambient, metrics, logger } = this.#options;
    const { about, object } = report;
    const nowMs = ambient.clock.now();
    const origin = { cluster, epoch: term.epoch, sequence: (term.sequence += 1n) };
    try {
      if (about === "status") {
        await sink.status(statusReport(report, origin, nowMs), correlationIdOf(object), signal);
      } else {
        const numbers = metricsReport(report, origin, nowMs);
        if (numbers === undefined) return undefined;
        await sink.metrics(numbers, signal);
      }
      metrics.reports.add(1, { about, outcome: "sent" });
      return undefined;
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (!REFUSALS.some((kind) => isFault(fault, kind))) {
        if (!signal.aborted) metrics.reports.add(1, { about, outcome: "failed" });
        return fault;
      }
      metrics.reports.add(1, { about, outcome: "refused" });
      logger.debug("the package manager does not want a report", { about, name: object.metadata.name, fault });
      return undefined;
    }
  }

  /** Says it once when the package manager goes away, and once when it is back. */
  #judge(fault: Fault | undefined): void {
    const { logger, sink } = this.#options;
    if (fault === undefined) {
      if (this.#failures > 0) logger.info("the package manager takes reports again");
      this.#failures = 0;
      return;
    }
    if (this.#failures === 0)
      logger.warn("the package manager takes no reports; they are kept and tried again", { fault });
    this.#failures += 1;
    sink.startOver();
  }

  /** Only when the process stops in order: who has lost the lead has nothing to say any more. The next leader tells everything anew. */
  async #drain(queue: ReportQueue, term: Term): Promise<void> {
    const { isLeading, ambient, drainMs } = this.#options;
    if (this.#failures > 0 || queue.size === 0 || !isLeading()) return;
    using deadline = startDeadline(ambient, drainMs);
    while (queue.size > 0 && !deadline.signal.aborted && isLeading()) {
      await this.#send(queue.take(this.#options.concurrency ?? 8), queue, term, deadline.signal);
      if (this.#failures > 0) return;
    }
  }
}

interface Term {
  readonly epoch: string;
  sequence: bigint;
}
