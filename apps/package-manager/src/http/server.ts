import { Fault, type Timers } from "@oaas/foundation";
import { allRoutes, HEADERS } from "@oaas/contracts/rest";
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { compressed } from "./compression.ts";
import { sendEvents } from "./event-stream.ts";
import type { Handler, Handlers, OwnOperation } from "./handler.ts";
import type { Incoming, Pipeline, Served } from "./pipeline.ts";
import { RefusedRequest } from "./read-request.ts";
import { methodsOf, routerPath } from "./routing.ts";

export interface HttpServerOptions {
  readonly handlers: Handlers;
  readonly pipeline: Pipeline;
  readonly timers: Timers;
  readonly newCorrelationId: (given: string | undefined) => string;
  /** Origins of pages that may read answers; none by default. */
  readonly corsOrigins: readonly string[];
  readonly maxBodyBytes: number;
  /** A client that takes longer to send its request is let go. */
  readonly requestTimeoutMs: number;
}

/** Headers of every answer: nothing of ours is to be guessed at, framed or kept by a proxy. */
const COMMON_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

const EMPTY = Buffer.alloc(0);

/** The HTTP server of the package manager: every route of the contract, mounted from the one table. */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const { pipeline, handlers } = options;
  const app = fastify({
    bodyLimit: options.maxBodyBytes,
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: 65_000,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => refuse(error, request as FastifyRequest, reply as FastifyReply),
  });
  // Bodies are read by the route's own schema, in JSON or YAML.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_, body, done) => done(null, body));

  const refuse = (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const correlationId = options.newCorrelationId(headerOf(request, HEADERS.correlationId));
    const { reply: refusal } = pipeline.refuse(thrown, request.url, correlationId);
    void answer(request, reply, { reply: refusal, correlationId });
  };

  // A stream has no end of its own: when the server stops, its readers are let go and find another.
  const streams = new Set<FastifyReply>();
  app.addHook("preClose", async () => {
    for (const { raw } of streams) raw.destroy();
  });
  const streaming = (reply: FastifyReply, send: () => Promise<void>): Promise<void> => {
    streams.add(reply);
    return send().finally(() => streams.delete(reply));
  };

  const answer = async (request: FastifyRequest, reply: FastifyReply, served: Served): Promise<FastifyReply> => {
    const { status, headers, json, content, events } = served.reply;
    reply.code(status).headers(COMMON_HEADERS).header(HEADERS.correlationId, served.correlationId);
    if (headers) reply.headers(headers);
    allowOrigin(request, reply, options.corsOrigins);
    if (events) await streaming(reply, () => sendEvents(reply, events, options.timers));
    else if (json !== undefined || content) {
      const body = await compressed(json ?? content?.text ?? "", headerOf(request, "accept-encoding"));
      reply.header("content-type", content?.type ?? "application/json; charset=utf-8");
      if (body.encoding !== undefined)
        reply.header("content-encoding", body.encoding).header("vary", "accept-encoding");
      reply.send(body.bytes);
    } else reply.send();
    return reply;
  };

  for (const { operationId, ...route } of allRoutes()) {
    const handler =
      route.offered === false
        ? () => notOffered(operationId)
        : (handlers[(route.aliasOf ?? operationId) as OwnOperation] as Handler<OwnOperation>);
    app.route({
      method: route.method,
      url: routerPath(route.path),
      handler: async (request, reply) =>
        answer(request, reply, await pipeline.serve(operationId, handler, incomingOf(request, reply))),
    });
  }

  app.setErrorHandler(refuse);
  app.setNotFoundHandler((request, reply) => {
    const [path = ""] = request.url.split("?", 1);
    const methods = methodsOf(path);
    if (methods.length === 0) return refuse(unknownPath(path), request, reply);
    if (request.method === "OPTIONS" && allowOrigin(request, reply, options.corsOrigins))
      return void preflight(reply, methods).send();
    reply.header("allow", methods.join(", "));
    return refuse(wrongMethod(request.method, methods), request, reply);
  });
  return app;
}

function incomingOf(request: FastifyRequest, reply: FastifyReply): Incoming {
  return {
    method: request.method,
    url: request.url,
    address: request.ip,
    parameters: request.params as Record<string, string>,
    query: request.query,
    body: (request.body as Buffer | undefined) ?? EMPTY,
    header: (name) => headerOf(request, name),
    get gone() {
      const gone = new AbortController();
      reply.raw.once("close", () => {
        if (!reply.raw.writableEnded) gone.abort();
      });
      return gone.signal;
    },
  };
}

function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Whether a page of another origin may read the answer; if so, the answer says it. */
function allowOrigin(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): boolean {
  const origin = headerOf(request, "origin");
  if (origin === undefined || !origins.some((allowed) => allowed === "*" || allowed === origin)) return false;
  reply
    .header("access-control-allow-origin", origin)
    .header("access-control-expose-headers", Object.values(HEADERS).join(", "))
    .header("vary", "origin");
  return true;
}

function preflight(reply: FastifyReply, methods: readonly string[]): FastifyReply {
  return reply
    .code(204)
    .header("access-control-allow-methods", methods.join(", "))
    .header("access-control-allow-headers", [...Object.values(HEADERS), "authorization", "content-type"].join(", "))
    .header("access-control-max-age", "600");
}

function wrongMethod(method: string, methods: readonly string[]): RefusedRequest {
  return new RefusedRequest(
    new Fault(
      { kind: "unimplemented", feature: `${method} here` },
      `${method} is not offered here; use ${methods.join(" or ")}`,
    ),
    "method-not-allowed",
  );
}

function unknownPath(path: string): Fault {
  return new Fault(
    { kind: "not-found", resource: "path", name: path },
    `There is nothing at ${path}. GET /openapi.json lists every path, /docs shows them.`,
  );
}

function notOffered(operation: string): never {
  throw new Fault(
    { kind: "unimplemented", feature: operation },
    "This path belongs to the data plane of the earlier implementation (artifacts, scripts, gateway) and is not offered by this control plane.",
  );
}
