import type { ParsedUrlQuery } from "node:querystring";
import {
  EVENT_STREAM,
  HEADERS,
  omitUndefined,
  crossSiteError,
  type OperationId,
  type Route,
} from "@oaas/contracts/rest";
import {
  findCrossSiteProblem,
  isFault,
  type Ambient,
  type CrossSiteProblem,
  type CrossSiteRules,
  type Fault,
} from "@oaas/foundation";
import {
  contextFromHeaders,
  type ContextStore,
  type CorrelationId,
  type Logger,
  type Meter,
  type WorkContext,
  NOOP_TRACER,
  type Span,
  type Tracer,
} from "@oaas/observability";
import { actorOf, type AuditedAttempt, type AuditResult, type AuditTrail } from "../access/audit.ts";
import type { Authenticator } from "../access/authenticator.ts";
import { assertRole, callerId, callerLabel, mayReadSecrets, type Caller } from "../access/caller.ts";
import type { Idempotency } from "../idempotency/idempotency.ts";
import { readCookie } from "../access/sessions/cookies.ts";
import { assertOwnPage } from "../access/sessions/own-page.ts";
import type { Handler, HttpReply, HttpRequest, OwnOperation, SenderHead } from "./handler.ts";
import { problemReply } from "./problem-reply.ts";
import { FieldChecks } from "./request/field-checks.ts";
import { conditionOf, matchingTag, versionMismatch } from "./request/preconditions.ts";
import { missingContentType, readBody, readQuery } from "./request/read-request.ts";
import { withSentPaths } from "./request/request-aliases.ts";
import { untilAccessEnds, watchAccess, type StreamAccess } from "./stream-access.ts";

/** The head of a request, independent of the server that received it. */
export interface RequestHead extends SenderHead {
  readonly url: string;
  readonly correlationId: CorrelationId;
  readonly hasBody: boolean;
  /** A header that holds a list, all its lines joined (RFC 9110, 5.3). */
  list(name: string): string | undefined;
}

/** The rest of a request; read only after it was admitted. */
export interface RequestContent {
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: ParsedUrlQuery;
  readonly body: Buffer;
  /** Aborts when the client disconnects before the response. */
  readonly signal: AbortSignal;
}

/** A request whose caller may perform its operation. */
export interface Admission {
  readonly head: RequestHead;
  readonly caller: Caller;
  readonly context: WorkContext;
  readonly startedAtMs: number;
}

export interface PipelineOptions {
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly context: ContextStore;
  readonly tracer?: Tracer | undefined;
  readonly audit: Pick<AuditTrail, "begin" | "refuse">;
  readonly idempotency: Idempotency<HttpReply>;
  readonly authenticate: Authenticator;
  /** Set without authentication: exceptions from the rejection of requests of web pages. */
  readonly crossSite?: CrossSiteRules | undefined;
  /** The name of the cookie that authenticates; undefined when browsers cannot sign in. */
  readonly sessionCookie?: string | undefined;
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
/** The settings that allow what is rejected without authentication. */
const CROSS_SITE_SETTINGS: Readonly<Record<CrossSiteProblem["header"], string>> = {
  host: "list the host in SERVER_ALLOWED_HOSTS",
  origin: "list the origin in SERVER_CORS_ORIGINS",
  "sec-fetch-site": "list the origin of the page in SERVER_CORS_ORIGINS",
};
/** Writes that the pipeline does not audit: they change nothing, or audit themselves, because the caller is known later. */
const NOT_AUDITED: ReadonlySet<OperationId> = new Set<OperationId>(["createPlan", "createSession", "deleteSession"]);

/** The result of a request; with the fault of a rejected one. */
interface Attempt {
  readonly reply: HttpReply;
  readonly fault?: Fault | undefined;
}

/** An admitted request while it is served. */
interface ServedRequest {
  readonly operation: Operation;
  readonly head: RequestHead;
  readonly content: RequestContent;
  readonly caller: Caller;
  /** Whether the audit trail records it. */
  isChange: boolean;
  /** Records the end of a change that has started. */
  endChange?: (result: AuditResult) => void;
  /** From here on violations come from a use case, which does not know aliases. */
  isRead: boolean;
}

/**
 * Serves requests. On the head: correlation id → site → caller → rate limit → role → content type. On the content: validation →
 * idempotency key → handler → response.
 *
 * *Guarantees*: no body of a request is read before it is admitted, everything thrown on the way becomes a problem
 * document, and every attempted change is in the audit trail.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #countRequest;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#countRequest = httpMetrics(options.meter);
  }

  /** Decides on the head of a request whether its body is read; else returns the response. Never rejects. */
  async admit(operation: Operation, head: RequestHead): Promise<Admission | { readonly reply: HttpReply }> {
    const context = contextFromHeaders(head.correlationId, (name) => head.header(name));
    const startedAtMs = this.#options.ambient.clock.monotonic();
    const known = { caller: ANONYMOUS };
    try {
      await this.#assertAdmitted(operation, head, known);
      return { head, caller: known.caller, context, startedAtMs };
    } catch (thrown) {
      const refused = this.refuse(thrown, head.url, head.correlationId);
      const reply = isChange(operation)
        ? await this.#auditRefusal(auditedAttempt(operation, head, known.caller), head, refused)
        : refused.reply;
      this.#count(operation, reply, startedAtMs);
      return { reply };
    }
  }

  /** Serves an admitted request. Never rejects. */
  serve(operation: Operation, admission: Admission, content: RequestContent): Promise<HttpReply> {
    const { context, tracer = NOOP_TRACER } = this.#options;
    const { id, route } = operation;
    return context.run(admission.context, () => {
      // Probes and scrapes: frequent, and part of no work.
      if (route.role === "public") return this.#serve(operation, admission, content);
      const attributes = {
        "http.request.method": route.method,
        "http.route": route.path,
        "url.path": admission.head.url.split("?", 1)[0],
        "client.address": admission.head.address,
        "oaas.operation": id,
      };
      return tracer.run({ name: `${route.method} ${route.path}`, kind: "server", attributes }, async (span: Span) => {
        const reply = await this.#serve(operation, admission, content);
        span.set({ "http.response.status_code": reply.status });
        if (reply.status >= 500) span.fail(`the response status is ${reply.status}`);
        return reply;
      });
    });
  }

  /** The problem document for an error; logs internal errors. */
  refuse(thrown: unknown, url: string, correlationId: string): { readonly reply: HttpReply; readonly fault: Fault } {
    const problem = problemReply(thrown, { instance: url, correlationId });
    if (isFault(problem.fault, "internal"))
      this.#options.logger.error("serve request failed", { fault: problem.fault, url, correlation_id: correlationId });
    return problem;
  }

  async #serve(
    operation: Operation,
    { head, caller, startedAtMs }: Admission,
    content: RequestContent,
  ): Promise<HttpReply> {
    const access = this.#streamAccess(operation, head, content.signal);
    const served = access === undefined ? content : { ...content, signal: access.signal };
    const request: ServedRequest = {
      operation,
      head,
      content: served,
      caller,
      isChange: isChange(operation),
      isRead: false,
    };
    const attempt = withAccess(await this.#attempt(request), access);
    const whole = request.isChange ? await this.#audit(request, attempt) : attempt.reply;
    const reply = this.#applyPreconditions(operation, head, whole);
    this.#count(operation, reply, startedAtMs);
    return reply;
  }

  /** Records the end of a change, or an attempt that was refused before it. */
  async #audit({ operation, head, caller, endChange }: ServedRequest, { reply, fault }: Attempt): Promise<HttpReply> {
    if (endChange === undefined)
      return this.#auditRefusal(auditedAttempt(operation, head, caller), head, { reply, fault });
    endChange({ status: reply.status, reason: fault?.message, target: createdTarget(operation, reply) });
    return reply;
  }

  /** Records a refused attempt; the response is 503 when that is not possible. */
  async #auditRefusal(attempt: AuditedAttempt, head: RequestHead, { reply, fault }: Attempt): Promise<HttpReply> {
    try {
      await this.#options.audit.refuse(attempt, { status: reply.status, reason: fault?.message });
      return reply;
    } catch (thrown) {
      return this.refuse(thrown, head.url, head.correlationId).reply;
    }
  }

  #count({ id }: Operation, { status }: HttpReply, startedAtMs: number): void {
    this.#countRequest(id, status, (this.#options.ambient.clock.monotonic() - startedAtMs) / 1000);
  }

  async #attempt(request: ServedRequest): Promise<Attempt> {
    try {
      return { reply: await this.#handle(request) };
    } catch (thrown) {
      const { head, content } = request;
      const fault = request.isRead ? withSentPaths(thrown, head, content) : thrown;
      return this.refuse(fault, head.url, head.correlationId);
    }
  }

  /** Authenticates the caller, then applies its rate limit and role. A write says what its body is. */
  async #assertAdmitted({ id, route }: Operation, head: RequestHead, known: { caller: Caller }): Promise<void> {
    this.#assertSameSite(route, head);
    if (route.role !== "public") {
      const caller = await this.#callerOf(route, head);
      known.caller = caller;
      this.#options.admit(caller);
      assertRole(caller, route.role, id);
    }
    if (head.hasBody && route.method !== "GET" && head.header("content-type") === undefined) throw missingContentType();
  }

  #callerOf(route: Route, head: RequestHead): Promise<Caller> {
    return this.#options.authenticate({
      address: head.address,
      authorization: head.header("authorization"),
      certificate: () => head.certificate(),
      session: this.#sessionOf(route, head),
    });
  }

  /** Of an operation that streams events: its caller may lose the access while the stream is open. */
  #streamAccess({ id, route }: Operation, head: RequestHead, signal: AbortSignal): StreamAccess | undefined {
    if (route.response.mediaType !== EVENT_STREAM || route.role === "public") return undefined;
    const check = async (): Promise<void> => assertRole(await this.#callerOf(route, head), route.role, id);
    return watchAccess({ timers: this.#options.ambient.timers, signal, check });
  }

  /** The secret of the session cookie, if it is to authenticate the request. Throws when another site's page sent it. */
  #sessionOf({ method }: Route, head: RequestHead): string | undefined {
    const { sessionCookie } = this.#options;
    if (sessionCookie === undefined || head.header("authorization") !== undefined) return undefined;
    const secret = readCookie(head.header("cookie"), sessionCookie);
    if (secret !== undefined) assertOwnPage({ method, header: (name) => head.header(name) }, secret);
    return secret;
  }

  #assertSameSite({ method }: Route, head: RequestHead): void {
    const { crossSite } = this.#options;
    const problem = crossSite && findCrossSiteProblem({ method, header: (name) => head.header(name) }, crossSite);
    if (problem) throw crossSiteError(problem, CROSS_SITE_SETTINGS[problem.header]);
  }

  async #handle(served: ServedRequest): Promise<HttpReply> {
    const { operation, head, content, caller } = served;
    const { id, route, handler } = operation;
    const checks = route.method === "GET" ? undefined : new FieldChecks(content.query);
    const query = readQuery(route.query, content.query, checks) as CommonQuery | undefined;
    served.isChange &&= query?.dry_run !== true;
    const request = readRequest(served, query, checks);
    served.isRead = true;
    if (served.isChange) served.endChange = await this.#options.audit.begin(auditedAttempt(operation, head, caller));
    const key = route.idempotent && served.isChange ? head.header(HEADERS.idempotencyKey) : undefined;
    const keyed =
      key === undefined
        ? undefined
        : { key, caller: callerId(caller), operation: id, url: head.url, body: content.body };
    const reply = keyed
      ? await this.#options.idempotency.once(keyed, (idempotency) => handler({ ...request, idempotency }))
      : await handler(request);
    return checks?.withWarnings(reply) ?? reply;
  }

  /** Applies If-Match and If-None-Match to a read: 412 for another version, 304 for one that the client has. */
  #applyPreconditions({ route }: Operation, head: RequestHead, reply: HttpReply): HttpReply {
    const etag = reply.headers?.[HEADERS.etag];
    if (etag === undefined || reply.status !== 200 || route.method !== "GET") return reply;
    const ifMatch = head.list(HEADERS.ifMatch);
    const mismatch = ifMatch === undefined ? undefined : versionMismatch(ifMatch, etag);
    if (mismatch !== undefined) return this.refuse(mismatch, head.url, head.correlationId).reply;
    const ifNoneMatch = head.list(HEADERS.ifNoneMatch);
    const known = ifNoneMatch === undefined ? undefined : matchingTag(ifNoneMatch, etag);
    return known === undefined ? reply : { status: 304, headers: { [HEADERS.etag]: known } };
  }
}

/** Watches the access as long as the stream of the response is open. */
function withAccess(attempt: Attempt, access: StreamAccess | undefined): Attempt {
  const { events } = attempt.reply;
  if (access === undefined) return attempt;
  if (events !== undefined) return { ...attempt, reply: { ...attempt.reply, events: untilAccessEnds(events, access) } };
  access.stop();
  return attempt;
}

/** Whether the audit trail records an operation. */
function isChange({ id, route }: Operation): boolean {
  return route.method !== "GET" && !NOT_AUDITED.has(id);
}

function auditedAttempt(
  { id }: Operation,
  { url, address, correlationId }: RequestHead,
  caller: Caller,
): AuditedAttempt {
  return { actor: actorOf(caller, address), action: id, target: url, correlationId };
}

/** The resource that the response to a POST names; elsewhere a location is where to follow the work. */
function createdTarget({ route }: Operation, { headers, auditTarget }: HttpReply): string | undefined {
  if (auditTarget !== undefined) return auditTarget;
  return route.method === "POST" ? (headers?.[HEADERS.location] ?? headers?.[HEADERS.contentLocation]) : undefined;
}

/** Parameters that several routes have. */
interface CommonQuery {
  readonly dry_run?: boolean;
  readonly reason?: string;
}

function readRequest(
  { operation: { route }, head, content, caller }: ServedRequest,
  query: CommonQuery | undefined,
  checks: FieldChecks | undefined,
): HttpRequest<OwnOperation> {
  const { parameters, body, signal } = content;
  const { correlationId } = head;
  const isRead = route.method === "GET";
  const request = {
    parameters,
    query,
    body: route.body && readBody(route.body, body, head, checks),
    showsSecrets: mayReadSecrets(caller.role),
    call: omitUndefined({ caller: callerLabel(caller), correlationId, signal, reason: query?.reason }),
    ifVersion: route.versioned && !isRead ? conditionOf(head) : undefined,
    lastEventId: isRead ? head.header(HEADERS.lastEventId) : undefined,
    sender: head,
    accept: head.list("accept"),
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
