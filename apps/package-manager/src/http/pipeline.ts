import type { ParsedUrlQuery } from "node:querystring";
import { HEADERS, omitUndefined, type OperationId, type Route } from "@oaas/contracts/rest";
import { isFault, type Ambient, type Fault } from "@oaas/foundation";
import { contextFromHeaders, type ContextStore, type Logger, type Meter } from "@oaas/observability";
import type { AuditEntry, AuditTrail } from "../access/audit.ts";
import type { Authenticator } from "../access/authenticator.ts";
import { assertRole, callerId, callerLabel, type Caller } from "../access/caller.ts";
import type { Idempotency } from "../idempotency/idempotency.ts";
import type { Handler, HttpReply, HttpRequest, OwnOperation } from "./handler.ts";
import { problemReply } from "./problem-reply.ts";
import { conditionOf, matchingTag, versionMismatch } from "./request/preconditions.ts";
import { readBody, readQuery } from "./request/read-request.ts";
import { withSentPaths } from "./request/request-aliases.ts";

/** A request, independent of the server that received it. */
export interface Incoming {
  readonly url: string;
  readonly address: string;
  readonly correlationId: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: ParsedUrlQuery;
  readonly body: Buffer;
  /** A header; the first one when it was sent several times. */
  header(name: string): string | undefined;
  /** A header that holds a list, all its lines joined (RFC 9110, 5.3). */
  list(name: string): string | undefined;
  /** Aborts when the client disconnects before the response. */
  readonly signal: AbortSignal;
}

export interface PipelineOptions {
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly context: ContextStore;
  readonly audit: AuditTrail;
  readonly idempotency: Idempotency<HttpReply>;
  readonly authenticate: Authenticator;
  /** Throws resource-exhausted when the caller exceeds its rate limit. */
  readonly admit: (caller: Caller) => void;
}

/** A route of the contract with its handler. */
export interface Operation {
  readonly id: OperationId;
  readonly route: Route;
  readonly handler: Handler<OwnOperation>;
}

const ANONYMOUS: Caller = { name: "anonymous", role: "public" };
/** POST requests that change nothing. */
const READ_ONLY: ReadonlySet<OperationId> = new Set<OperationId>(["createPlan"]);

/** The result of a request; with the fault of a rejected one. */
interface Attempt {
  readonly reply: HttpReply;
  readonly fault?: Fault;
}

/** What is known of a request while it is served. */
interface Progress {
  caller: Caller;
  /** Whether the audit trail records it. */
  isChange: boolean;
  /** From here on violations come from a use case, which does not know aliases. */
  isRead: boolean;
}

/**
 * Serves requests: correlation id → caller → rate limit → role → validation → idempotency key → handler → response.
 *
 * *Guarantees*: everything thrown on the way becomes a problem document, and every attempted change is in the audit trail.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #countRequest;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#countRequest = httpMetrics(options.meter);
  }

  serve(operation: Operation, incoming: Incoming): Promise<HttpReply> {
    const { ambient, context } = this.#options;
    const header = (name: string): string | undefined =>
      name === HEADERS.correlationId ? incoming.correlationId : incoming.header(name);
    return context.run(contextFromHeaders(header, ambient.ids), () => this.#serve(operation, incoming));
  }

  /** The problem document for an error; logs internal errors. */
  refuse(thrown: unknown, url: string, correlationId: string): Required<Attempt> {
    const problem = problemReply(thrown, { instance: url, correlationId });
    if (isFault(problem.fault, "internal"))
      this.#options.logger.error("serve request failed", { fault: problem.fault, url, correlation_id: correlationId });
    return problem;
  }

  async #serve(operation: Operation, incoming: Incoming): Promise<HttpReply> {
    const { clock } = this.#options.ambient;
    const startedAt = clock.monotonic();
    const isChange = operation.route.method !== "GET" && !READ_ONLY.has(operation.id);
    const progress: Progress = { caller: ANONYMOUS, isChange, isRead: false };
    const { reply: whole, fault } = await this.#attempt(operation, incoming, progress);
    const reply = this.#applyPreconditions(operation, incoming, whole);
    if (progress.isChange)
      await this.#options.audit.record(auditEntry(operation, incoming, progress.caller, reply, fault));
    this.#countRequest(operation.id, reply.status, (clock.monotonic() - startedAt) / 1000);
    return reply;
  }

  async #attempt(operation: Operation, incoming: Incoming, progress: Progress): Promise<Attempt> {
    try {
      await this.#admit(operation, incoming, progress);
      return { reply: await this.#handle(operation, incoming, progress) };
    } catch (thrown) {
      const fault = progress.isRead ? withSentPaths(thrown, incoming) : thrown;
      return this.refuse(fault, incoming.url, incoming.correlationId);
    }
  }

  /** Authenticates the caller, then applies its rate limit and role. */
  async #admit({ id, route: { role } }: Operation, incoming: Incoming, progress: Progress): Promise<void> {
    if (role === "public") return;
    const caller = await this.#options.authenticate(incoming.header("authorization"), incoming.address);
    progress.caller = caller;
    this.#options.admit(caller);
    assertRole(caller, role, id);
  }

  async #handle({ id, route, handler }: Operation, incoming: Incoming, progress: Progress): Promise<HttpReply> {
    const { caller } = progress;
    const query = route.query && (readQuery(route.query, incoming.query) as CommonQuery);
    progress.isChange &&= query?.dry_run !== true;
    const request = readRequest(route, incoming, callerLabel(caller), query);
    progress.isRead = true;
    const key = route.idempotent && progress.isChange ? incoming.header(HEADERS.idempotencyKey) : undefined;
    if (key === undefined) return handler(request);
    const { url, body } = incoming;
    return this.#options.idempotency.once({ key, caller: callerId(caller), operation: id, url, body }, (idempotency) =>
      handler({ ...request, idempotency }),
    );
  }

  /** Applies If-Match and If-None-Match to a read: 412 for another version, 304 for one that the client has. */
  #applyPreconditions({ route }: Operation, incoming: Incoming, reply: HttpReply): HttpReply {
    const etag = reply.headers?.[HEADERS.etag];
    if (etag === undefined || reply.status !== 200 || route.method !== "GET") return reply;
    const ifMatch = incoming.list(HEADERS.ifMatch);
    const mismatch = ifMatch === undefined ? undefined : versionMismatch(ifMatch, etag);
    if (mismatch !== undefined) return this.refuse(mismatch, incoming.url, incoming.correlationId).reply;
    const ifNoneMatch = incoming.list(HEADERS.ifNoneMatch);
    const known = ifNoneMatch === undefined ? undefined : matchingTag(ifNoneMatch, etag);
    return known === undefined ? reply : { status: 304, headers: { [HEADERS.etag]: known } };
  }
}

function auditEntry(
  { id, route }: Operation,
  { url, correlationId }: Incoming,
  caller: Caller,
  { status, headers }: HttpReply,
  fault: Fault | undefined,
): AuditEntry {
  // The response to a POST names the resource; elsewhere a location is where to follow the work.
  const created =
    route.method === "POST" ? (headers?.[HEADERS.location] ?? headers?.[HEADERS.contentLocation]) : undefined;
  const entry = { caller: callerLabel(caller), action: id, target: created ?? url, status, correlationId };
  return fault === undefined ? entry : { ...entry, refused: fault.message };
}

/** Parameters that several routes have. */
interface CommonQuery {
  readonly dry_run?: boolean;
  readonly reason?: string;
}

function readRequest(
  route: Route,
  incoming: Incoming,
  caller: string,
  query: CommonQuery | undefined,
): HttpRequest<OwnOperation> {
  const { correlationId, parameters } = incoming;
  const isRead = route.method === "GET";
  const request = {
    parameters,
    query,
    body: route.body && readBody(route.body, incoming),
    call: omitUndefined({ caller, correlationId, signal: incoming.signal, reason: query?.reason }),
    ifVersion: route.versioned && !isRead ? conditionOf(incoming) : undefined,
    lastEventId: isRead ? incoming.header(HEADERS.lastEventId) : undefined,
    idempotency: undefined,
  };
  return request as unknown as HttpRequest<OwnOperation>;
}

/** Registers the metrics of HTTP requests; returns the function that counts one. */
function httpMetrics(meter: Meter): (operation: string, status: number, seconds: number) => void {
  const requests = meter.counter({
    name: "pm_http_requests_total",
    help: "Requests by operation and response status.",
    labels: ["operation", "status"],
  });
  const durations = meter.histogram({
    name: "pm_http_request_seconds",
    help: "Time from receiving a request to sending its response.",
    labels: ["operation"],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60],
  });
  return (operation, status, seconds) => {
    requests.add(1, { operation, status: String(status) });
    durations.observe(seconds, { operation });
  };
}
