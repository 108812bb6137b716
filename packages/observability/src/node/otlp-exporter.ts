import type { Timers, Timer } from "@oaas/foundation";
import type { Logger } from "../logger.ts";
import type { Counter, Meter } from "../meter.ts";
import { otlpTraceRequest } from "../otlp-json.ts";
import type { AttributeValue, FinishedSpan, SpanSink } from "../tracer.ts";

export interface OtlpExporterOptions {
  /** The URL that receives traces, such as http://collector:4318/v1/traces. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Time limit of one request. */
  readonly timeoutMs: number;
  /** Attributes of the process, such as service.name. */
  readonly resource: Readonly<Record<string, AttributeValue>>;
  readonly version: string;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Limits by the defaults of the OpenTelemetry batch span processor. */
const MAX_QUEUE = 2_048;
const MAX_BATCH = 512;
const EVERY_MS = 5_000;
const RETRY_AFTER_MS = 5_000;
const MAX_ATTEMPTS = 5;
/** Responses after which the same request may be sent again, by the OTLP specification. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Sends spans over OTLP/HTTP in JSON.
 *
 * *Guarantees*: `add` never throws or waits; at most 2048 spans are queued and further ones are dropped and counted; a
 * failed export is logged once per outage and never affects the work that is traced. `close` sends the queued spans, at
 * most for one request time limit.
 */
export class OtlpExporter implements SpanSink {
  readonly #options: OtlpExporterOptions;
  readonly #exported: Counter<"result">;
  #queue: FinishedSpan[] = [];
  #timer: Timer | undefined;
  #sending: Promise<void> | undefined;
  #attempts = 0;
  #isFailing = false;
  #isClosed = false;

  constructor(options: OtlpExporterOptions) {
    this.#options = options;
    this.#exported = options.meter.counter({
      name: "oaas_trace_spans_total",
      help: "Finished spans by result: exported, dropped (queue full) or failed (rejected by the receiver).",
      labels: ["result"],
      startAtZero: [{ result: "exported" }, { result: "dropped" }, { result: "failed" }],
    });
  }

  add(span: FinishedSpan): void {
    if (this.#isClosed || this.#queue.length >= MAX_QUEUE) {
      this.#exported.add(1, { result: "dropped" });
      return;
    }
    this.#queue.push(span);
    if (this.#queue.length >= MAX_BATCH && this.#attempts === 0) this.#send();
    else this.#timer ??= this.#options.timers.after(EVERY_MS, () => this.#send());
  }

  /** Sends the queued spans and stops. */
  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#sending;
    this.#isClosed = true;
    this.#timer?.cancel();
    // One attempt per batch: a receiver that is away must not delay the stop.
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, MAX_BATCH);
      const isSent = await this.#post(batch).then(
        (problem) => problem === undefined,
        () => false,
      );
      this.#exported.add(batch.length, { result: isSent ? "exported" : "failed" });
      if (!isSent) break;
    }
    if (this.#queue.length > 0) this.#exported.add(this.#queue.length, { result: "dropped" });
    this.#queue = [];
  }

  #send(): void {
    if (this.#sending !== undefined || this.#isClosed) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#sending = this.#sendBatch().finally(() => {
      this.#sending = undefined;
      if (this.#queue.length === 0 || this.#isClosed) return;
      const delayMs = this.#attempts > 0 ? RETRY_AFTER_MS : this.#queue.length >= MAX_BATCH ? 0 : EVERY_MS;
      this.#timer ??= this.#options.timers.after(delayMs, () => this.#send());
    });
  }

  /** Sends the oldest spans; they stay queued for the next attempt when the receiver is not available. */
  async #sendBatch(): Promise<void> {
    const batch = this.#queue.slice(0, MAX_BATCH);
    const problem = await this.#post(batch).catch((thrown: unknown) => ({
      text: thrown instanceof Error ? thrown.message : String(thrown),
      isRetryable: true,
    }));
    this.#attempts = problem === undefined ? 0 : this.#attempts + 1;
    if (problem?.isRetryable === true && this.#attempts < MAX_ATTEMPTS) return this.#report(problem.text);
    this.#attempts = 0;
    this.#queue.splice(0, batch.length);
    this.#exported.add(batch.length, { result: problem === undefined ? "exported" : "failed" });
    this.#report(problem?.text);
  }

  /** Returns undefined when the receiver accepted the spans. */
  async #post(
    batch: readonly FinishedSpan[],
  ): Promise<{ readonly text: string; readonly isRetryable: boolean } | undefined> {
    const { url, headers, timeoutMs, resource, version, timers, fetch: send = fetch } = this.#options;
    const ending = new AbortController();
    const timer = timers.after(timeoutMs, () => ending.abort(new Error(`no response within ${timeoutMs} ms`)));
    try {
      const response = await send(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(otlpTraceRequest(resource, { name: "oaas", version }, batch)),
        signal: ending.signal,
      });
      await response.body?.cancel();
      if (response.ok) return undefined;
      return { text: `the receiver responded ${response.status}`, isRetryable: RETRYABLE.has(response.status) };
    } finally {
      timer.cancel();
    }
  }

  #report(problem: string | undefined): void {
    const { logger, url } = this.#options;
    if (problem === undefined && this.#isFailing) logger.info("export traces works again", { url });
    if (problem !== undefined && !this.#isFailing) logger.warn("export traces failed", { url, problem });
    this.#isFailing = problem !== undefined;
  }
}
