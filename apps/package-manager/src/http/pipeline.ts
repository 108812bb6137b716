import { type Ambient, type Fault } from "@oaas/foundation";
import { HEADERS, ROUTES, type OperationId, type Role, type Route } from "@oaas/contracts/rest";
import { contextFromHeaders, type ContextStore, type Logger, type Meter } from "@oaas/observability";
import type { AuditTrail } from "../access/audit.ts";
import type { Authenticator } from "../access/authenticator.ts";
import type { Caller } from "../access/caller.ts";
import type { Handler, HttpReply, HttpRequest, OwnOperation } from "./handler.ts";
import { httpMetrics } from "./http-metrics.ts";
import type { Idempotency } from "./idempotency.ts";
import { HttpCall } from "./http-call.ts";
import { conditionIn, knownTag, unwanted } from "./preconditions.ts";
import { queryReader, readBody } from "./read-request.ts";
import { refusalReply } from "./refusals.ts";
import { inSentWords } from "./sent-words.ts";

/** A request as it came, whatever server took it. */
export interface Incoming {
  readonly method: string;
  readonly url: string;
  readonly address: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** As it stands behind the question mark. */
  readonly query: string;
  readonly body: Buffer;
  header(name: string): string | undefined;
  /** A header that is a list, whole. */
  list(name: string): string | undefined;
  /** Aborts when the client goes before it has its answer. */
  readonly gone: AbortSignal;
}

export interface PipelineOptions {
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly context: ContextStore;
  readonly audit: AuditTrail;
  readonly idempotency: Idempotency;
  /** Resolves the caller; throws unauthenticated. */
  readonly authenticate: Authenticator;
  /** Throws permission-denied. */
  readonly authorize: (caller: Caller, role: Role, action: string) => void;
  /** Throws resource-exhausted when this caller asks too often. */
  readonly admit: (caller: Caller) => void;
}

export interface Served {
  readonly reply: HttpReply;
  readonly correlationId: string;
}

/** A route with all that is the same for each of its requests. */
export interface Operation<Id extends OwnOperation = OwnOperation> {
  readonly id: OperationId;
  readonly route: Route;
  readonly handler: Handler<Id>;
  /** Whether carrying it out changes something, which the audit trail has to tell. */
  readonly changes: boolean;
  readonly streams: boolean;
  readonly readQuery: ((text: string) => unknown) | undefined;
}

/** Makes an operation of a route and what carries it out. */
export function operationOf<Id extends OwnOperation>(id: OperationId, handler: Handler<Id>): Operation<Id> {
  const route: Route = ROUTES[id];
  return {
    id,
    route,
    handler,
    changes: METHODS_THAT_CHANGE.has(route.method) && !CHANGES_NOTHING.has(id),
    streams: route.answer.mediaType === EVENT_STREAM,
    readQuery: route.query && queryReader(route.query),
  };
}

const ANONYMOUS: Caller = { name: "anonymous", role: "public" };
const METHODS_THAT_CHANGE = new Set(["POST", "PUT", "DELETE"]);
/** Sent with POST, and changes nothing. */
const CHANGES_NOTHING: ReadonlySet<OperationId> = new Set<OperationId>(["createPlan"]);
const EVENT_STREAM = "text/event-stream";

/**
 * What every request goes through: correlation id → caller → rate → role → reading → idempotency → handler → answer. Whatever is
 * thrown on the way becomes a problem document in one place, and every change leaves a line in the audit trail.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #metrics;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#metrics = httpMetrics(options.meter);
  }

  /** Serves a request in its own logging context. Faults become problem documents. */
  serve<Id extends OwnOperation>(operation: Operation<Id>, incoming: Incoming): Promise<Served> {
    const { ambient, context } = this.#options;
    const work = contextFromHeaders((name) => incoming.header(name), ambient.ids);
    return context.run(work, () => this.#answer(operation, incoming, work.correlationId as string));
  }

  /** The answer to something that went wrong; what is our own fault is logged. */
  refuse(thrown: unknown, url: string, correlationId: string): { readonly fault: Fault; readonly reply: HttpReply } {
    const refusal = refusalReply(thrown, { instance: url, correlationId });
    if (refusal.fault.kind === "internal")
      this.#options.logger.error("a request failed", { fault: refusal.fault, url, correlation_id: correlationId });
    return refusal;
  }

  async #answer<Id extends OwnOperation>(
    operation: Operation<Id>,
    incoming: Incoming,
    correlationId: string,
  ): Promise<Served> {
    const { clock } = this.#options.ambient;
    const startedAt = clock.monotonic();
    const progress: Progress = { caller: ANONYMOUS, changes: operation.changes, isRead: false };
    const { reply: whole, failed } = await this.#attempt(operation, incoming, progress, correlationId);
    const reply = this.#asWanted(operation, incoming, whole, correlationId);
    if (progress.changes) await this.#record(operation, incoming, { progress, reply, failed, correlationId });
    this.#metrics.observe(operation.id, reply.status, (clock.monotonic() - startedAt) / 1000);
    return { reply, correlationId };
  }

  async #attempt<Id extends OwnOperation>(
    operation: Operation<Id>,
    incoming: Incoming,
    progress: Progress,
    correlationId: string,
  ): Promise<{ readonly reply: HttpReply; readonly failed: Fault | undefined }> {
    try {
      await this.#admit(operation, incoming, progress);
      return { reply: await this.#carryOut(operation, incoming, progress, correlationId), failed: undefined };
    } catch (thrown) {
      const said = progress.isRead ? inSentWords(thrown, incoming) : thrown;
      const { fault, reply } = this.refuse(said, incoming.url, correlationId);
      return { reply, failed: fault };
    }
  }

  /** Authenticates the caller, then applies its rate limit and role. */
  async #admit({ id, route: { role } }: Operation, incoming: Incoming, progress: Progress): Promise<void> {
    if (role === "public") return;
    const caller = await this.#options.authenticate(incoming.header("authorization"), incoming.address);
    progress.caller = caller;
    this.#options.admit(caller);
    this.#options.authorize(caller, role, id);
  }

  #carryOut<Id extends OwnOperation>(
    operation: Operation<Id>,
    incoming: Incoming,
    progress: Progress,
    correlationId: string,
  ): Promise<HttpReply> {
    const { id, route, handler } = operation;
    const caller = progress.caller.name;
    const query = operation.readQuery?.(incoming.query);
    progress.changes &&= !isDryRun(query);
    const request = read(operation, incoming, query, { caller, correlationId });
    progress.isRead = true;
    const key = route.idempotent && progress.changes ? incoming.header(HEADERS.idempotencyKey) : undefined;
    if (key === undefined) return handler(request);
    const { url, body } = incoming;
    return this.#options.idempotency.once({ key, caller, operation: id, url, body }, (once) =>
      handler({ ...request, once }),
    );
  }

  /** What was read is not sent to who has it already, nor to who wants another version of it. */
  #asWanted({ route }: Operation, incoming: Incoming, reply: HttpReply, correlationId: string): HttpReply {
    const etag = reply.headers?.[HEADERS.etag];
    if (etag === undefined || reply.status !== 200 || route.method !== "GET") return reply;
    const ifMatch = incoming.list(HEADERS.ifMatch);
    const refusal = ifMatch === undefined ? undefined : unwanted(ifMatch, etag);
    if (refusal !== undefined) return this.refuse(refusal, incoming.url, correlationId).reply;
    const ifNoneMatch = incoming.list(HEADERS.ifNoneMatch);
    const known = ifNoneMatch === undefined ? undefined : knownTag(ifNoneMatch, etag);
    return known === undefined ? reply : { status: 304, headers: { etag: known } };
  }

  #record(
    { id, route }: Operation,
    { url }: Incoming,
    { progress, reply, failed, correlationId }: Ended,
  ): Promise<void> {
    const { headers } = reply;
    // Only the answer to a POST names what it was about; where else there is a place, it is one to follow the work.
    const made =
      route.method === "POST" ? (headers?.[HEADERS.location] ?? headers?.[HEADERS.contentLocation]) : undefined;
    return this.#options.audit.record({
      caller: progress.caller.name,
      action: id,
      target: made ?? url,
      status: reply.status,
      correlationId,
      ...(failed ? { refused: failed.message } : {}),
    });
  }
}

/** What is known of a request so far, whatever comes of it. */
interface Progress {
  caller: Caller;
  changes: boolean;
  /** What is wrong from here on is found by the handler, which knows one word where callers have two. */
  isRead: boolean;
}

interface Ended {
  readonly progress: Progress;
  readonly reply: HttpReply;
  readonly failed: Fault | undefined;
  readonly correlationId: string;
}

/** Whether nothing is to be written; only of routes whose query has the switch. */
function isDryRun(query: unknown): boolean {
  return (query as { readonly dry_run?: boolean } | undefined)?.dry_run === true;
}

interface Asker {
  readonly caller: string;
  readonly correlationId: string;
}

function read<Id extends OwnOperation>(
  { route, streams }: Operation<Id>,
  incoming: Incoming,
  query: unknown,
  asker: Asker,
): HttpRequest<Id> {
  const reason = (query as { readonly reason?: string } | undefined)?.reason;
  const request = {
    parameters: incoming.parameters,
    query,
    body: route.body && readBody(route.body, incoming),
    call: new HttpCall(incoming, asker, reason),
    ifVersion:
      route.versioned && route.method !== "GET"
        ? conditionIn(incoming.list(HEADERS.ifMatch), incoming.list(HEADERS.ifNoneMatch))
        : undefined,
    lastEventId: streams ? incoming.header(HEADERS.lastEventId) : undefined,
    once: undefined,
  };
  return request as unknown as HttpRequest<Id>;
}
