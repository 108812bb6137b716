import type { Ambient, Fault } from "@oaas/foundation";
import { HEADERS, ROUTES, type OperationId, type Role, type Route } from "@oaas/contracts/rest";
import { contextFromHeaders, inContext, type ContextStore, type Logger, type Meter } from "@oaas/observability";
import type { AuditTrail } from "../access/audit.ts";
import type { Caller } from "../access/caller.ts";
import type { Handler, HttpReply, HttpRequest, OwnOperation } from "./handler.ts";
import { httpMetrics } from "./http-metrics.ts";
import type { Idempotency } from "./idempotency.ts";
import { HttpCall } from "./http-call.ts";
import { readBody, readQuery, versionFrom } from "./read-request.ts";
import { refusalReply } from "./refusals.ts";

/** A request as it came, whatever server took it. */
export interface Incoming {
  readonly method: string;
  readonly url: string;
  readonly address: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: Uint8Array;
  header(name: string): string | undefined;
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
  /** Who asks; throws unauthenticated. Not a promise where it can be helped, because every request passes it. */
  readonly authenticate: (authorization: string | undefined, address: string) => Caller | Promise<Caller>;
  /** Throws permission-denied. */
  readonly authorize: (caller: Caller, role: Role, action: string) => void;
  /** Throws resource-exhausted when this caller asks too often. */
  readonly admit: (caller: Caller) => void;
}

export interface Served {
  readonly reply: HttpReply;
  readonly correlationId: string;
}

const ANONYMOUS: Caller = { name: "anonymous", role: "public" };
const METHODS_THAT_CHANGE = new Set(["POST", "PUT", "DELETE"]);
/** Sent with POST, and changes nothing. */
const CHANGES_NOTHING: ReadonlySet<OperationId> = new Set<OperationId>(["createPlan"]);

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

  async serve<Id extends OwnOperation>(id: OperationId, handler: Handler<Id>, incoming: Incoming): Promise<Served> {
    const { ambient, context } = this.#options;
    const route: Route = ROUTES[id];
    const startedAt = ambient.clock.monotonic();
    const work = contextFromHeaders((name) => incoming.header(name), ambient.ids);
    const correlationId = work.correlationId as string;
    const asked: { caller: Caller } = { caller: ANONYMOUS };
    let failed: Fault | undefined;
    let reply: HttpReply;
    try {
      reply = await inContext(context, work, () => this.#carryOut(id, route, handler, incoming, correlationId, asked));
    } catch (thrown) {
      ({ fault: failed, reply } = this.refuse(thrown, incoming.url, correlationId));
    }
    if (METHODS_THAT_CHANGE.has(incoming.method) && !CHANGES_NOTHING.has(id))
      this.#options.audit.record({
        caller: asked.caller.name,
        action: id,
        target: incoming.url,
        status: reply.status,
        correlationId,
        ...(failed ? { refused: failed.message } : {}),
      });
    this.#metrics.observe(id, reply.status, (ambient.clock.monotonic() - startedAt) / 1000);
    return { reply, correlationId };
  }

  /** The answer to something that went wrong; what is our own fault is logged. */
  refuse(thrown: unknown, url: string, correlationId: string): { readonly fault: Fault; readonly reply: HttpReply } {
    const refusal = refusalReply(thrown, { instance: url, correlationId });
    if (refusal.fault.kind === "internal")
      this.#options.logger.error("a request failed", { fault: refusal.fault, url, correlation_id: correlationId });
    return refusal;
  }

  async #carryOut<Id extends OwnOperation>(
    id: OperationId,
    route: Route,
    handler: Handler<Id>,
    incoming: Incoming,
    correlationId: string,
    asked: { caller: Caller },
  ): Promise<HttpReply> {
    if (route.role !== "public") {
      const known = this.#options.authenticate(incoming.header("authorization"), incoming.address);
      asked.caller = known instanceof Promise ? await known : known;
      this.#options.admit(asked.caller);
      this.#options.authorize(asked.caller, route.role, id);
    }
    const request = read<Id>(route, incoming, { caller: asked.caller.name, correlationId });
    const key = route.idempotent ? incoming.header(HEADERS.idempotencyKey) : undefined;
    if (key === undefined) return handler(request);
    const { url, body } = incoming;
    return this.#options.idempotency.once({ key, caller: asked.caller.name, operation: id, url, body }, () =>
      handler(request),
    );
  }
}

function read<Id extends OperationId>(
  route: Route,
  incoming: Incoming,
  asker: { readonly caller: string; readonly correlationId: string },
): HttpRequest<Id> {
  const query = readQuery(route, incoming.query);
  const reason = (query as { readonly reason?: string } | undefined)?.reason;
  const ifVersion = route.method === "GET" ? undefined : versionFrom(incoming.header(HEADERS.ifMatch));
  const lastEventId = incoming.header(HEADERS.lastEventId);
  return {
    parameters: incoming.parameters,
    query,
    body: readBody(route, incoming.header("content-type"), incoming.body),
    call: new HttpCall(incoming, asker, reason),
    ...(ifVersion === undefined ? {} : { ifVersion }),
    ...(lastEventId === undefined ? {} : { lastEventId }),
  } as HttpRequest<Id>;
}
