import { Fault, type Timers } from "@oaas/foundation";
import { allRoutes, HEADERS } from "@oaas/contracts/rest";
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { compressed, encodingFor } from "./compression.ts";
import { sendEvents } from "./event-stream.ts";
import type { Handler, Handlers, OwnOperation } from "./handler.ts";
import type { Pipeline, Served } from "./pipeline.ts";
import { RefusedRequest } from "./read-request.ts";
import { methodsOf, routerPath } from "./routing.ts";
import { headerOf, TakenRequest } from "./taken-request.ts";
import { answerUnreadable, refusedByParser } from "./unreadable-request.ts";

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

/** The HTTP server of the package manager: every route of the contract, mounted from the one table. */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const { pipeline, handlers } = options;
  const app = fastify({
    bodyLimit: options.maxBodyBytes,
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: 65_000,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: true },
    http: {
      // Node lets bodies take the longer of the two; and by default it looks every 30 seconds only.
      headersTimeout: Math.min(options.requestTimeoutMs, 60_000),
      connectionsCheckingInterval: Math.min(options.requestTimeoutMs, 10_000),
    },
    clientErrorHandler: ({ code }, socket) => {
      const correlationId = options.newCorrelationId(undefined);
      const { reply } = pipeline.refuse(refusedByParser(code, options.requestTimeoutMs), "/", correlationId);
      answerUnreadable(socket, { reply, correlationId });
    },
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

  const answer = async (request: FastifyRequest, reply: FastifyReply, served: Served): Promise<void> => {
    const { status, headers, json, content, events } = served.reply;
    reply.code(status).headers(COMMON_HEADERS).header(HEADERS.correlationId, served.correlationId);
    if (headers) reply.headers(headers);
    allowOrigin(request, reply, options.corsOrigins);
    if (events) return streaming(reply, () => sendEvents(reply, events, options.timers));
    const text = json ?? content?.text;
    if (text === undefined) return void reply.send();
    reply.header("content-type", content?.type ?? "application/json; charset=utf-8");
    const encoding = encodingFor(text, headerOf(request, "accept-encoding"));
    if (encoding === undefined) return void reply.send(text);
    const bytes = await compressed(text, encoding);
    reply.header("content-encoding", encoding).header("vary", "accept-encoding").send(bytes);
  };

  for (const { operationId, ...route } of allRoutes()) {
    const handler =
      route.offered === false
        ? () => notOffered(operationId)
        : (handlers[(route.aliasOf ?? operationId) as OwnOperation] as Handler<OwnOperation>);
    app.route({
      method: route.method,
      url: routerPath(route.path),
      // Returns nothing: Fastify would wait for the end of an answer that it is handed back, with listeners for each request.
      handler: (request, reply) =>
        void pipeline
          .serve(operationId, handler, new TakenRequest(request, reply))
          .then((served) => answer(request, reply, served))
          .catch((thrown: unknown) => reply.sent || refuse(thrown, request, reply)),
    });
  }

  const unrouted = (request: FastifyRequest, reply: FastifyReply): void => {
    const [path = ""] = request.url.split("?", 1);
    const methods = methodsOf(path);
    if (methods.length === 0) return refuse(unknownPath(path), request, reply);
    if (request.method === "OPTIONS" && allowOrigin(request, reply, options.corsOrigins))
      return void preflight(reply, methods).send();
    reply.header("allow", methods.join(", "));
    return refuse(wrongMethod(request.method, methods), request, reply);
  };
  app.setNotFoundHandler(unrouted);
  app.setErrorHandler((thrown: { readonly code?: string }, request, reply) => {
    // QUERY, which no route takes, is refused for its body before its path is looked at.
    if (thrown.code === "FST_ERR_ROUTE_MISSING_CONTENT_TYPE") unrouted(request, reply);
    else refuse(thrown, request, reply);
  });
  return app;
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
