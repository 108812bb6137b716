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
import type { Counter, Gauge, Logger, Meter } from "@oaas/observability";
import type { ClassDirectory } from "../classes/ports.ts";
import { correlationIdOf } from "../mapping/object-identity.ts";
import { ReportQueue, type Report } from "./report-queue.ts";
import { isReportable, metricsReport, statusReport, type ReportSink } from "./reports.ts";

export interface PmReporterOptions {
  readonly classes: Pick<ClassDirectory, "list" | "onChange">;
  readonly sink: ReportSink;
  /** The cluster name in reports. */
  readonly cluster: string;
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly metrics: ReportingMetrics;
  /** Whether this process is the leader now. */
  readonly isLeading: () => boolean;
  /** Interval of metrics reports. */
  readonly metricsEveryMs: number;
  /** How long pending reports may take when the process stops. */
  readonly drainMs: number;
  /** Reports sent in parallel. Default 8. */
  readonly concurrency?: number;
  readonly backoff?: BackoffPolicy;
}

const BACKOFF: BackoffPolicy = { baseMs: 500, capMs: 60_000, factor: 2, jitter: 0.5 };

/** Faults that a retry cannot fix: the report is invalid or the receiver does not know its subject. */
const REFUSALS = ["invalid-argument", "not-found", "failed-precondition", "already-exists", "conflict"] as const;

/** Metrics of the reporter. */
export interface ReportingMetrics {
  readonly reports: Counter<"about" | "outcome">;
  readonly queued: Gauge;
}

export function reportingMetrics(meter: Meter): ReportingMetrics {
  const outcomes = ["sent", "failed", "refused", "dropped"];
  return {
    reports: meter.counter({
      name: "crm_pm_reports_total",
      help: "Reports to the package manager: sent, failed (and retried), refused by it, or dropped.",
      labels: ["about", "outcome"],
      startAtZero: ["status", "metrics"].flatMap((about) => outcomes.map((outcome) => ({ about, outcome }))),
    }),
    queued: meter.gauge({
      name: "crm_pm_reports_queued",
      help: "Reports waiting to be sent to the package manager.",
      startAtZero: [{}],
    }),
  };
}

/**
 * Reports the state of classes to the package manager while this process is the leader: all classes when a term starts,
 * then every change, metrics at an interval, and pending reports within `drainMs` when the process stops.
 *
 * Guarantees: a reconcile never waits for a report; only the newest state of a class is sent, never an older one after
 * it; while the package manager fails, one report at a time is retried with backoff, and all changes since then follow.
 * Caveats: intermediate states may be skipped; more than a thousand deletions during one outage are not all reported.
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
    const stopListening = classes.onChange((change) => {
      if (isReportable(change)) put({ about: "status", object: change.object, isDeleted: change.type === "deleted" });
    });
    const stopMetrics = this.#repeat(() => {
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
      stopListening();
      stopMetrics();
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
    const results = await Promise.all(batch.map((report) => this.#report(report, term, signal)));
    for (const [index, fault] of results.entries()) if (fault) queue.putBack(batch[index] as Report);
    this.#options.metrics.queued.set(queue.size);
    if (!signal.aborted) this.#countFailure(results.find((result) => result !== undefined));
  }

  /** Returns the fault when the report must be retried. */
  async #report(report: Report, term: Term, signal: AbortSignal): Promise<Fault | undefined> {
    const { sink, cluster, ambient, metrics, logger } = this.#options;
    const { about, object } = report;
    const nowMs = ambient.clock.now();
    const origin = { cluster, epoch: term.epoch, sequence: (term.sequence += 1n) };
    try {
      if (about === "status") {
        await sink.status(statusReport(report, origin, nowMs), correlationIdOf(object), signal);
      } else {
        const metricsOfClass = metricsReport(report, origin, nowMs);
        if (metricsOfClass === undefined) return undefined;
        await sink.metrics(metricsOfClass, signal);
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
      logger.debug("package manager refused report", { about, name: object.metadata.name, fault });
      return undefined;
    }
  }

  /** Logs once when reports start to fail, and once when they succeed again. */
  #countFailure(fault: Fault | undefined): void {
    const { logger, sink } = this.#options;
    if (fault === undefined) {
      if (this.#failures > 0) logger.info("package manager accepts reports again");
      this.#failures = 0;
      return;
    }
    if (this.#failures === 0) logger.warn("send report to package manager failed; retrying", { fault });
    this.#failures += 1;
    sink.reconnect();
  }

  /**
   * Sends pending reports when the process stops. A process that lost leadership sends nothing: the next leader reports
   * every class.
   */
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
