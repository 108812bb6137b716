import {
  admit,
  CLOSED,
  effectiveState,
  Fault,
  orAbort,
  recordOutcome,
  retry,
  Semaphore,
  startDeadline,
  unavailable,
  type Ambient,
  type BackoffPolicy,
  type Breaker,
  type BreakerPolicy,
  type CallPriority,
  type BreakerState,
  type CallOutcome,
  type Deadline,
} from "@oaas/foundation";
import { endpointUrl } from "./base-url.ts";
import { parseResponse } from "./parse-response.ts";
import type { InstantQuery, PrometheusHealth, QueryOptions, QueryResult, RangeQuery } from "./query.ts";
import { readBody } from "./read-body.ts";
import { problemFault, statusFault, type ServerName } from "./response-fault.ts";
import type { PrometheusResponse, PrometheusTransport } from "./transport.ts";

export interface PrometheusClientOptions {
  readonly transport: PrometheusTransport;
  readonly ambient: Ambient;
  /** Base URL of the server, with its path prefix and without credentials. */
  readonly url: string;
  /** Name of the setting that holds the URL, for messages. */
  readonly urlSetting: string;
  /** Headers of every request; called each time, so that credentials can rotate. */
  readonly headers?: () => Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Limit of one response body. Default 32 MiB. */
  readonly maxBytes?: number;
  /** Limit of the samples of one response. Default 500,000. */
  readonly maxSamples?: number;
  /** Concurrent queries; further ones wait. Default 4. */
  readonly maxConcurrent?: number;
  /** Default: opens for 30 s after 5 failures. */
  readonly breaker?: BreakerPolicy;
}

/** A client of one server with the Prometheus HTTP API: Prometheus, Thanos, Mimir, VictoriaMetrics. */
export interface PrometheusClient {
  queryRange(query: RangeQuery, options?: QueryOptions): Promise<QueryResult>;
  queryInstant(query: InstantQuery, options?: QueryOptions): Promise<QueryResult>;
  /** Runs a query without data. Passes an open circuit breaker, and closes it when the server answers. */
  healthCheck(options?: QueryOptions): Promise<PrometheusHealth>;
  readonly breaker: BreakerState;
  close(): Promise<void>;
}

const RETRY_ONCE: BackoffPolicy = { baseMs: 200, capMs: 1_000, factor: 2, jitter: 0.5 };
const DEFAULT_BREAKER: BreakerPolicy = { threshold: 5, openMs: 30_000 };

interface Call {
  readonly endpoint: "query" | "query_range";
  readonly parameters: Readonly<Record<string, string>>;
  readonly kind: CallPriority;
  readonly options: QueryOptions;
}

/**
 * Creates a client.
 *
 * *Guarantees*: a call ends by its deadline; a server error or a broken connection is retried once; memory is bounded
 * by `maxBytes`; after consecutive failures calls are rejected until a query or a health check succeeds; every fault
 * says what to change.
 */
export function createPrometheusClient(options: PrometheusClientOptions): PrometheusClient {
  return new HttpPrometheusClient(options);
}

class HttpPrometheusClient implements PrometheusClient {
  readonly #options: PrometheusClientOptions;
  readonly #server: ServerName;
  readonly #policy: BreakerPolicy;
  readonly #queries: Semaphore;
  #breaker: Breaker = CLOSED;
  /** Some proxies accept only GET. */
  #method: "GET" | "POST" = "POST";

  constructor(options: PrometheusClientOptions) {
    this.#options = options;
    this.#server = { url: options.url, setting: options.urlSetting };
    this.#policy = options.breaker ?? DEFAULT_BREAKER;
    this.#queries = new Semaphore({ name: "Prometheus", permits: options.maxConcurrent ?? 4, maxWaiting: 1_000 });
  }

  get breaker(): BreakerState {
    return effectiveState(this.#breaker, this.#options.ambient.clock.monotonic());
  }

  queryRange(query: RangeQuery, options: QueryOptions = {}): Promise<QueryResult> {
    const parameters = {
      query: query.expression,
      start: seconds(query.startMs),
      end: seconds(query.endMs),
      step: seconds(query.stepMs),
    };
    return this.#call({ endpoint: "query_range", parameters, kind: "background", options });
  }

  queryInstant(query: InstantQuery, options: QueryOptions = {}): Promise<QueryResult> {
    const time = query.atMs === undefined ? {} : { time: seconds(query.atMs) };
    const parameters = { query: query.expression, ...time };
    return this.#call({ endpoint: "query", parameters, kind: "background", options });
  }

  async healthCheck(options: QueryOptions = {}): Promise<PrometheusHealth> {
    const { clock } = this.#options.ambient;
    const startMs = clock.monotonic();
    try {
      // Unlike /-/healthy, a query exists in every server, and shows whether prefix, credentials and tenant are right.
      const parameters = { query: "vector(1)" };
      const { warnings } = await this.#call({ endpoint: "query", parameters, kind: "health-check", options });
      return { isHealthy: true, latencyMs: clock.monotonic() - startMs, warnings };
    } catch (thrown) {
      return { isHealthy: false, reason: Fault.from(thrown).message };
    }
  }

  close(): Promise<void> {
    return this.#options.transport.close();
  }

  async #call(call: Call): Promise<QueryResult> {
    const { ambient, timeoutMs } = this.#options;
    using deadline = startDeadline(ambient, call.options.deadlineMs ?? timeoutMs, call.options.signal);
    const release = call.kind === "health-check" ? undefined : await this.#queries.acquire(deadline.signal);
    try {
      return await this.#guard(call, deadline);
    } finally {
      release?.();
    }
  }

  async #guard(call: Call, deadline: Deadline): Promise<QueryResult> {
    this.#breaker = this.#admit(call.kind);
    let outcome: CallOutcome = "answered";
    try {
      return await this.#attempt(call, deadline);
    } catch (thrown) {
      outcome = call.options.signal?.aborted ? "unknown" : outcomeOf(Fault.from(thrown));
      throw thrown;
    } finally {
      const now = this.#options.ambient.clock.monotonic();
      this.#breaker = recordOutcome(this.#breaker, now, outcome, this.#policy);
    }
  }

  #admit(kind: Call["kind"]): Breaker {
    const admission = admit(this.#breaker, this.#options.ambient.clock.monotonic(), kind, this.#policy);
    if (admission.admitted) return admission.breaker;
    const { retryAfterMs } = admission;
    const message = `${this.#server.url} failed ${this.#breaker.failures} times in a row; next attempt in ${Math.ceil(retryAfterMs / 1000)} s`;
    throw unavailable(this.#server.url, message, { retryAfterMs });
  }

  /** Retries once. A deadline that passes between the attempts is reported as the fault of the first one. */
  async #attempt(call: Call, deadline: Deadline): Promise<QueryResult> {
    let first: Fault | undefined;
    try {
      return await retry(
        {
          ...this.#options.ambient,
          retries: 1,
          policy: RETRY_ONCE,
          signal: deadline.signal,
          onRetry: (fault) => (first = fault),
        },
        () => orAbort(this.#send(call, deadline), deadline.signal),
      );
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind !== "deadline-exceeded") throw fault;
      throw (
        first ??
        fault.with({
          message: `${this.#server.url} did not answer within ${Math.round(call.options.deadlineMs ?? this.#options.timeoutMs)} ms`,
        })
      );
    }
  }

  async #send(call: Call, deadline: Deadline): Promise<QueryResult> {
    const response = await this.#request(call, this.#method, deadline);
    // A GET is what is left when a proxy or an older server does not accept POST.
    if (response.status === 405 && this.#method === "POST") {
      await discard(response);
      this.#method = "GET";
      return this.#result(await this.#request(call, "GET", deadline));
    }
    return this.#result(response);
  }

  #request(call: Call, method: "GET" | "POST", deadline: Deadline): Promise<PrometheusResponse> {
    const { transport, url, headers } = this.#options;
    const target = endpointUrl(url, call.endpoint);
    const timeout = { timeout: `${Math.max(1, Math.ceil(deadline.remainingMs()))}ms` };
    const form = new URLSearchParams({ ...call.parameters, ...timeout });
    if (method === "GET") for (const [name, value] of form) target.searchParams.set(name, value);
    return transport.send({
      method,
      url: target.href,
      headers: {
        accept: "application/json",
        ...headers?.(),
        ...(method === "POST" ? { "content-type": "application/x-www-form-urlencoded" } : {}),
      },
      ...(method === "POST" ? { body: form.toString() } : {}),
      signal: deadline.signal,
    });
  }

  async #result(response: PrometheusResponse): Promise<QueryResult> {
    const { maxBytes = 32 * 1024 * 1024, maxSamples = 500_000 } = this.#options;
    const parsed = parseResponse(await readBody(response, maxBytes), maxSamples);
    if (response.status !== 200) throw statusFault(response, parsed.ok ? undefined : parsed.error, this.#server);
    if (!parsed.ok) throw problemFault(parsed.error, this.#server);
    return parsed.value;
  }
}

/** Leaves the loop at once, which closes the connection. */
async function discard(response: PrometheusResponse): Promise<void> {
  for await (const _ of response.chunks()) break;
}

function outcomeOf(fault: Fault): CallOutcome {
  if (fault.kind === "unavailable" || fault.kind === "deadline-exceeded") return "failed";
  return fault.kind === "cancelled" ? "unknown" : "answered";
}

function seconds(ms: number): string {
  return String(ms / 1000);
}
