import {
  abortFault,
  backoffDelay,
  deadlineExceeded,
  Fault,
  isFault,
  parseWarnings,
  sleep,
  startDeadline,
  type Ambient,
  type BackoffPolicy,
} from "@oaas/foundation";
import { faultFromStatus } from "@oaas/kube-core";
import {
  formatTraceparent,
  NOOP_METER,
  NOOP_TRACER,
  TRACEPARENT_HEADER,
  type Meter,
  type Span,
  type SpanStart,
  type Tracer,
} from "@oaas/observability";
import { FlowControl, type FlowControlOptions } from "./flow-control.ts";
import { clientMetrics, type ClientMetrics } from "./telemetry.ts";
import type { HttpRequest, HttpResponse, Transport } from "./transport.ts";

/** Cancellation and deadline of a call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Covers all attempts and waiting in the queue. Defaults to the client's deadline. */
  readonly deadlineMs?: number;
}

/** Query parameters; undefined and empty values are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** One API call, before it becomes HTTP. */
export interface ApiCall {
  /** RBAC verb: get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb: string;
  /** For metrics and faults: the kind, or the meaning of the path. */
  readonly subject: string;
  readonly method: HttpRequest["method"];
  readonly path: string;
  readonly query?: Query;
  readonly accept?: string;
  readonly contentType?: string;
  /** In addition to those that the client sets. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Never retried, for requests whose response is worthless later. */
  readonly once?: boolean;
}

/** Dependencies and settings of a client. */
export interface RequesterOptions {
  readonly transport: Transport;
  readonly ambient: Ambient;
  readonly flow?: FlowControlOptions;
  readonly meter?: Meter;
  /** Records a span per request that is part of a trace. Watches and other streams have none. */
  readonly tracer?: Tracer;
  /** The User-Agent header. */
  readonly userAgent?: string;
  /** Default deadline of a call. Default 30 s. */
  readonly deadlineMs?: number;
  /** Called once per distinct server warning, such as a deprecated version. */
  readonly onWarning?: (text: string) => void;
}

/** Callbacks to the rest of the client. */
export interface RequesterHooks {
  /** Called when a path (not an object) was not found: the kind may have been removed. */
  readonly onUnserved?: () => void;
}

const RETRY: BackoffPolicy = { baseMs: 100, capMs: 5_000, factor: 2, jitter: 0.5 };
const DEFAULT_DEADLINE_MS = 30_000;
const MOST_TRIES = 10;
const MOST_WARNINGS = 1_000;

/**
 * Sends calls and converts responses into values and faults.
 *
 * *Guarantees*: every call has a deadline over all attempts; a 429 is retried after the requested delay, because the
 * server did nothing; so is a 5xx with Retry-After; a broken connection is retried for reads only; every other failure
 * is thrown once, as a fault.
 */
export class Requester {
  readonly #options: RequesterOptions;
  readonly #flow: FlowControl;
  readonly #metrics: ClientMetrics;
  readonly #hooks: RequesterHooks;
  readonly #warned = new Set<string>();

  constructor(options: RequesterOptions, hooks: RequesterHooks = {}) {
    this.#options = options;
    this.#hooks = hooks;
    this.#flow = new FlowControl(options.ambient, options.flow);
    this.#metrics = clientMetrics(options.meter ?? NOOP_METER);
  }

  /** Sends a call with a JSON response. */
  async json<T>(call: ApiCall, options: CallOptions = {}): Promise<T> {
    const text = await this.text(call, options);
    try {
      return JSON.parse(text) as T;
    } catch (error) {
      throw new Fault(
        { kind: "unavailable", dependency: "API server" },
        `the response to ${describe(call)} is not JSON`,
        {
          cause: error,
          context: { start: text.slice(0, 200) },
        },
      );
    }
  }

  /** Sends a call with a text response. */
  async text(call: ApiCall, options: CallOptions = {}): Promise<string> {
    using deadline = startDeadline(
      this.#options.ambient,
      options.deadlineMs ?? this.#options.deadlineMs ?? DEFAULT_DEADLINE_MS,
      options.signal,
    );
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#flow.run(deadline.signal, () => this.#once(call, deadline.signal, attempt));
      } catch (thrown) {
        const fault = Fault.from(thrown);
        if (call.once || attempt + 1 >= MOST_TRIES || !isRetryable(call, fault)) throw fault;
        const delayMs = Math.max(retryAfterMs(fault), backoffDelay(RETRY, attempt, this.#options.ambient.random));
        // Waiting past the deadline would hide the reason behind "deadline exceeded".
        if (delayMs >= deadline.remainingMs()) throw fault;
        await sleep(this.#options.ambient.timers, delayMs, deadline.signal);
      }
    }
  }

  /**
   * Opens a streaming call: resolves when the server accepted it. The signal ends it; there is no deadline after that.
   */
  async stream(call: ApiCall, signal: AbortSignal): Promise<HttpResponse> {
    const ending = new AbortController();
    const end = (): void => ending.abort(abortFault(signal));
    const forget = (): void => signal.removeEventListener("abort", end);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
    const deadlineMs = this.#options.deadlineMs ?? DEFAULT_DEADLINE_MS;
    const timer = this.#options.ambient.timers.after(deadlineMs, () => ending.abort(deadlineExceeded(deadlineMs)));
    try {
      const response = await this.#send(call, ending.signal, "stream");
      if (response.status < 300) {
        const { status, headers } = response;
        return { status, headers, text: () => response.text(), chunks: () => withEnd(response.chunks(), forget) };
      }
      throw this.#fault(call, response, await response.text());
    } catch (thrown) {
      forget();
      throw thrown;
    } finally {
      timer.cancel();
    }
  }

  /** Sends a call once and returns the response with any status. The signal ends it. */
  exchange(call: ApiCall, signal: AbortSignal): Promise<HttpResponse> {
    return this.#send(call, signal, "stream");
  }

  #once(call: ApiCall, signal: AbortSignal, attempt: number): Promise<string> {
    return (this.#options.tracer ?? NOOP_TRACER).run(requestSpan(call, attempt), async (span) => {
      const response = await this.#send(withTrace(call, span), signal, "call");
      span.set({ "http.response.status_code": response.status });
      const text = await response.text();
      if (response.status >= 300) throw this.#fault(call, response, text);
      return text;
    });
  }

  async #send(call: ApiCall, signal: AbortSignal, purpose: HttpRequest["purpose"]): Promise<HttpResponse> {
    const startedAt = this.#options.ambient.clock.monotonic();
    const labels = { verb: call.verb, kind: call.subject };
    try {
      const response = await this.#options.transport.send({
        method: call.method,
        path: call.path + queryText(call.query),
        headers: {
          accept: call.accept ?? "application/json",
          "user-agent": this.#options.userAgent ?? "kube-runtime",
          ...call.headers,
          ...(call.body === undefined ? {} : { "content-type": call.contentType ?? "application/json" }),
        },
        ...(call.body === undefined ? {} : { body: call.body }),
        signal,
        purpose,
      });
      this.#metrics.requests.add(1, { ...labels, code: String(response.status) });
      this.#warn(response.headers["warning"]);
      return response;
    } catch (thrown) {
      this.#metrics.requests.add(1, { ...labels, code: "none" });
      throw thrown;
    } finally {
      this.#metrics.duration.observe((this.#options.ambient.clock.monotonic() - startedAt) / 1000, { verb: call.verb });
    }
  }

  #fault(call: ApiCall, response: HttpResponse, text: string): Fault {
    const retryAfter = Number(response.headers["retry-after"]);
    const fault = faultFromStatus(text, {
      httpStatus: response.status,
      what: describe(call),
      ...(Number.isFinite(retryAfter) ? { retryAfterSeconds: retryAfter } : {}),
    });
    if (isFault(fault, "not-found") && fault.detail.name === "") this.#hooks.onUnserved?.();
    return fault;
  }

  #warn(header: string | undefined): void {
    if (header === undefined || !this.#options.onWarning) return;
    for (const text of parseWarnings(header)) {
      if (this.#warned.has(text) || this.#warned.size >= MOST_WARNINGS) continue;
      this.#warned.add(text);
      this.#options.onWarning(text);
    }
  }
}

/** Callers may open many streams under one long-lived signal. */
async function* withEnd<T>(chunks: AsyncIterable<T>, onEnd: () => void): AsyncGenerator<T> {
  try {
    yield* chunks;
  } finally {
    onEnd();
  }
}

function requestSpan(call: ApiCall, attempt: number): SpanStart {
  return {
    name: describe(call),
    kind: "client",
    childOnly: true,
    attributes: {
      "http.request.method": call.method,
      "url.path": call.path,
      "http.request.resend_count": attempt === 0 ? undefined : attempt,
    },
  };
}

function withTrace(call: ApiCall, { context }: Span): ApiCall {
  if (context === undefined) return call;
  return { ...call, headers: { ...call.headers, [TRACEPARENT_HEADER]: formatTraceparent(context) } };
}

function describe(call: ApiCall): string {
  return `${call.verb} ${call.subject}`;
}

function isRetryable(call: ApiCall, fault: Fault): boolean {
  if (isFault(fault, "resource-exhausted")) return true;
  if (!isFault(fault, "unavailable")) return false;
  // Requested by the server, so nothing was done; a broken connection may hide a completed write.
  return fault.detail.retryAfterMs !== undefined || call.method === "GET";
}

function retryAfterMs(fault: Fault): number {
  return isFault(fault, "unavailable") || isFault(fault, "resource-exhausted") ? (fault.detail.retryAfterMs ?? 0) : 0;
}

function queryText(query: Query | undefined): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === "") continue;
    params.set(name, String(value));
  }
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}
