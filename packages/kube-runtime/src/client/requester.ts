import {
  abortFault,
  backoffDelay,
  deadlineExceeded,
  Fault,
  isFault,
  sleep,
  startDeadline,
  type Ambient,
  type BackoffPolicy,
} from "@oaas/foundation";
import { faultFromStatus } from "@oaas/kube-core";
import { NOOP_METER, type Meter } from "@oaas/observability";
import { FlowControl, type FlowControlOptions } from "./flow-control.ts";
import { clientMetrics, type ClientMetrics } from "./telemetry.ts";
import type { HttpRequest, HttpResponse, Transport } from "./transport.ts";

/** What every call may say about its own end. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Over all tries, waiting in line included. By default the client's. */
  readonly deadlineMs?: number;
}

/** Parameters of a URL; what is undefined or empty is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** One call of the API, before it becomes HTTP. */
export interface ApiCall {
  /** As RBAC calls it: get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb: string;
  /** For metrics and faults: the kind, or the path's meaning. */
  readonly subject: string;
  readonly method: HttpRequest["method"];
  readonly path: string;
  readonly query?: Query;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: string;
  /** Never tried again: for questions whose answer is worth nothing later. */
  readonly once?: boolean;
}

/** What a client is made of. */
export interface RequesterOptions {
  readonly transport: Transport;
  readonly ambient: Ambient;
  readonly flow?: FlowControlOptions;
  readonly meter?: Meter;
  /** Sent as User-Agent; servers log it. */
  readonly userAgent?: string;
  /** For calls that do not say theirs. Default 30 s. */
  readonly deadlineMs?: number;
  /** Told once per text: the server's warnings, such as a deprecated version. */
  readonly onWarning?: (text: string) => void;
}

/** What the rest of the client learns from answers. */
export interface RequesterHooks {
  /** A path was not found, rather than an object on it: a kind that was served may be gone. */
  readonly onUnserved?: () => void;
}

const RETRY: BackoffPolicy = { baseMs: 100, capMs: 5_000, factor: 2, jitter: 0.5 };
const DEFAULT_DEADLINE_MS = 30_000;
const MOST_TRIES = 10;
const MOST_WARNINGS = 1_000;

/**
 * Sends calls and turns what comes back into values and faults.
 *
 * *Guarantees*: every call has a deadline over all its tries; an answer of 429 is tried again after the time the server asks for, because
 * it means that nothing was done; so is a 5xx that asks for it; a connection that failed is tried again for reads only; every other
 * failure is thrown once, as a fault.
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

  /** A call whose answer is JSON. */
  async json<T>(call: ApiCall, options: CallOptions = {}): Promise<T> {
    const text = await this.text(call, options);
    try {
      return JSON.parse(text) as T;
    } catch (error) {
      throw new Fault({ kind: "unavailable", dependency: "API server" }, `the answer to ${describe(call)} is no JSON`, {
        cause: error,
        context: { start: text.slice(0, 200) },
      });
    }
  }

  /** A call whose answer is text. */
  async text(call: ApiCall, options: CallOptions = {}): Promise<string> {
    using deadline = startDeadline(
      this.#options.ambient,
      options.deadlineMs ?? this.#options.deadlineMs ?? DEFAULT_DEADLINE_MS,
      options.signal,
    );
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#flow.run(deadline.signal, () => this.#once(call, deadline.signal));
      } catch (thrown) {
        const fault = Fault.from(thrown);
        if (call.once || attempt + 1 >= MOST_TRIES || !mayTryAgain(call, fault)) throw fault;
        const delayMs = Math.max(askedDelayMs(fault), backoffDelay(RETRY, attempt, this.#options.ambient.random));
        // Waiting past the deadline would hide the reason behind "deadline exceeded".
        if (delayMs >= deadline.remainingMs()) throw fault;
        await sleep(this.#options.ambient.timers, delayMs, deadline.signal);
      }
    }
  }

  /** A call whose answer goes on: resolves when the server accepted it. The signal ends it; there is no deadline after that. */
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

  async #once(call: ApiCall, signal: AbortSignal): Promise<string> {
    const response = await this.#send(call, signal, "call");
    const text = await response.text();
    if (response.status >= 300) throw this.#fault(call, response, text);
    return text;
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
    for (const [, text = ""] of header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)) {
      if (this.#warned.has(text) || this.#warned.size >= MOST_WARNINGS) continue;
      this.#warned.add(text);
      this.#options.onWarning(text.replaceAll(/\\(.)/g, "$1"));
    }
  }
}

/** Callers may open many streams under one signal that outlives them all. */
async function* withEnd<T>(chunks: AsyncIterable<T>, onEnd: () => void): AsyncGenerator<T> {
  try {
    yield* chunks;
  } finally {
    onEnd();
  }
}

function describe(call: ApiCall): string {
  return `${call.verb} ${call.subject}`;
}

function mayTryAgain(call: ApiCall, fault: Fault): boolean {
  if (isFault(fault, "resource-exhausted")) return true;
  if (!isFault(fault, "unavailable")) return false;
  // Asked for by the server, so nothing was done; a broken connection may hide a write that was.
  return fault.detail.retryAfterMs !== undefined || call.method === "GET";
}

function askedDelayMs(fault: Fault): number {
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
