import type { Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { parse } from "node:querystring";
import type { Readable } from "node:stream";
import type { Server as TlsServer, TlsOptions } from "node:tls";
import cors, { type FastifyCorsOptions } from "@fastify/cors";
import { allRoutes, HEADERS, type OperationId, type Route } from "@oaas/contracts/rest";
import type { Clock, Timers } from "@oaas/foundation";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { callerId } from "../../access/caller.ts";
import type { ConsoleFiles } from "../../adapters/console-files.ts";
import type { Handlers, HttpReply } from "../handler.ts";
import type { Admission, Operation, Pipeline } from "../pipeline.ts";
import { BodyBudget } from "../../access/limits/body-budget.ts";
import { encodingsFor } from "./compression.ts";
import { invalidHead, parserError, toHttpError } from "./framework-errors.ts";
import { contentOf, firstHeader, IncomingHead, originForm } from "./incoming.ts";
import { handlerOf, MAX_PATH, pathPatterns, unroutedRequest } from "./paths.ts";
import { claimDeclaredLength, readWholeBody } from "./read-body.ts";
import { rawResponse, sendReply } from "./send-reply.ts";
import { StreamLimit } from "../../access/limits/stream-limit.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set before the body is read. */
    admission: Admission;
    response: ServerResponse;
  }
}

/** Options. The limits are read at each use, so that getters can change them. */
export interface HttpServerOptions {
  readonly handlers: Handlers;
  readonly pipeline: Pick<Pipeline, "admit" | "serve" | "refuse">;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Returns the correlation id that a client sent, or a new one. */
  readonly ensureCorrelationId: (sent: string | undefined) => string;
  /** Origins of web pages that may read responses; none by default. */
  readonly corsOrigins: readonly string[];
  readonly maxBodyBytes: number;
  /** Bytes of request bodies in memory. */
  readonly maxBodiesBytes: number;
  /** Further connections are closed at once. */
  readonly maxConnections: number;
  /** Concurrent event streams per caller. */
  readonly maxStreams: number;
  /** Time limit for a client to send its whole request. */
  readonly requestTimeoutMs: number;
  /** Serves HTTPS instead of HTTP. */
  readonly tls?: TlsOptions | undefined;
  /** Served at `/`, and below it where the API has no path. */
  readonly console?: Pick<ConsoleFiles, "reply"> | undefined;
}

const KEEP_ALIVE_MS = 65_000;

/** The REST listener: Fastify with every route of the contract. The pipeline serves the requests. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #fastify: FastifyInstance;
  readonly #streams = new Set<ServerResponse>();
  readonly #streamLimit: StreamLimit;
  readonly #bodyBudget: BodyBudget;
  /** Connections without a request so far: Node does not count them as idle when it closes. */
  readonly #unused = new Set<Socket>();
  /** Responses tell their clients to open new connections, which reach another process. */
  #isClosing = false;

  constructor(options: HttpServerOptions) {
    const { requestTimeoutMs, maxConnections, tls } = options;
    const server = {
      headersTimeout: Math.min(requestTimeoutMs, 60_000),
      connectionsCheckingInterval: Math.min(requestTimeoutMs, 10_000),
      // invalidHead rejects these requests with a problem document.
      requireHostHeader: false,
    };
    this.#options = options;
    this.#streamLimit = new StreamLimit(() => options.maxStreams);
    this.#bodyBudget = new BodyBudget(() => options.maxBodiesBytes);
    this.#fastify = fastify({
      ...(tls ? { https: { ...server, ...tls } } : { http: server }),
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // HEAD shares the route of GET, also for event streams.
      exposeHeadRoutes: false,
      return503OnClosing: false,
      genReqId: (request) => options.ensureCorrelationId(firstHeader(request, HEADERS.correlationId)),
      rewriteUrl: ({ url = "" }) => originForm(url),
      frameworkErrors: (error, _request, reply) => void this.#refuse(error, reply),
      clientErrorHandler: ({ code }, socket) =>
        socket.writable ? socket.end(this.#parserResponse(code)) : socket.destroy(),
      routerOptions: {
        ignoreTrailingSlash: true,
        maxParamLength: MAX_PATH,
        querystringParser: (text) => parse(text, undefined, undefined, { maxKeys: 0 }),
      },
    });
    this.#server.maxConnections = maxConnections;
    this.#addHooks();
    for (const route of allRoutes()) this.#addRoute(route);
  }

  /** Resolves with the port; rejects with the system error when the address cannot be bound. */
  async listen(host: string, port: number): Promise<number> {
    await this.#fastify.listen({ host, port });
    return (this.#server.address() as AddressInfo).port;
  }

  /** Still serves requests, each as the last one of its connection. */
  startClosing(): void {
    this.#isClosing = true;
  }

  /** Stops accepting connections; resolves when running requests are answered and connections closed. Repeatable. */
  async close(): Promise<void> {
    this.#isClosing = true;
    // An event stream never ends by itself: its client reconnects to another server.
    for (const connection of [...this.#streams, ...this.#unused]) connection.destroy();
    await this.#fastify.close();
  }

  /** Replaces the certificates for new connections. */
  setTls(options: TlsOptions): void {
    (this.#server as unknown as TlsServer).setSecureContext(options);
  }

  /** Changes the limit for new connections. */
  setMaxConnections(limit: number): void {
    this.#server.maxConnections = limit;
  }

  closeAllConnections(): void {
    this.#server.closeAllConnections();
  }

  get #server(): Server {
    return this.#fastify.server;
  }

  #addHooks(): void {
    const { corsOrigins, tls } = this.#options;
    const app = this.#fastify;
    // The pipeline parses bodies: idempotency keys compare the bytes.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (request: FastifyRequest, body: Readable) => this.#readBody(request, body));
    app.decorateRequest("admission");
    app.decorateRequest("response");
    // 100 Continue is sent after the request is admitted.
    this.#server.on("checkContinue", (request, response) => app.routing(request, response));
    this.#server.on("checkExpectation", (request, response) => app.routing(request, response));
    this.#server.on(tls ? "secureConnection" : "connection", (socket: Socket) => {
      this.#unused.add(socket);
      socket.once("close", () => this.#unused.delete(socket));
    });
    app.addHook("onRequest", ({ raw }, _reply, done) => {
      this.#unused.delete(raw.socket);
      done(invalidHead(raw));
    });
    if (corsOrigins.length > 0) void app.register(cors, corsOptions(corsOrigins));
    if (this.#options.console !== undefined) app.addHook("onRequest", this.#consoleHook(this.#options.console));
    app.addHook("onRequest", (request, _reply, done) => {
      done(request.is404 ? unroutedRequest(request) : undefined);
    });
    app.setNotFoundHandler((request, reply) => this.#refuse(unroutedRequest(request), reply));
    app.setErrorHandler((error, _request, reply) => this.#refuse(error, reply));
  }

  /** Answers requests for files and pages of the console; all others go on. */
  #consoleHook(files: Pick<ConsoleFiles, "reply">) {
    return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
      const [path = "/"] = request.url.split("?", 1);
      const { method, headers } = request.raw;
      if ((method !== "GET" && method !== "HEAD") || !(request.is404 || path === "/")) return undefined;
      const found = await files.reply({
        path,
        accept: headers.accept,
        encodings: encodingsFor(headers["accept-encoding"]?.toString()),
        ifNoneMatch: headers["if-none-match"],
      });
      if (found === undefined) return undefined;
      if (this.#isClosing) reply.header("connection", "close");
      return reply
        .code(found.status)
        .headers({ ...found.headers, [HEADERS.correlationId]: request.id })
        .send(found.body);
    };
  }

  #addRoute(route: Route & { readonly operationId: OperationId }): void {
    const { handlers, pipeline } = this.#options;
    const operation: Operation = { id: route.operationId, route, handler: handlerOf(route, handlers) };
    const isStream = route.response.mediaType === "text/event-stream";
    const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
      const admission = await pipeline.admit(operation, new IncomingHead(request));
      if ("reply" in admission) return this.#send(admission.reply, reply);
      if (isStream) reply.raw.once("close", this.#streamLimit.open(callerId(admission.caller)));
      request.admission = admission;
      request.response = reply.raw;
      return undefined;
    };
    const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const content = await pipeline.serve(operation, request.admission, contentOf(request, reply));
      return await this.#send(content, reply);
    };
    const method = route.method === "GET" ? ["GET", "HEAD"] : route.method;
    for (const url of pathPatterns(route.path)) this.#fastify.route({ method, url, onRequest, handler });
  }

  /** Reads the body of an admitted request. It counts against the budget until the response is sent. */
  async #readBody({ raw, admission, response }: FastifyRequest, body: Readable): Promise<Buffer> {
    const claim = this.#bodyBudget.open(callerId(admission.caller));
    response.once("close", () => claim.release());
    const limits = { claim, maxBytes: this.#options.maxBodyBytes };
    claimDeclaredLength(raw, limits);
    if (raw.headers.expect !== undefined) response.writeContinue();
    return readWholeBody(body, limits);
  }

  async #refuse(thrown: unknown, reply: FastifyReply): Promise<FastifyReply> {
    const { id, originalUrl, raw } = reply.request;
    const error = toHttpError(thrown, raw);
    return this.#send(this.#options.pipeline.refuse(error, originForm(originalUrl), id).reply, reply);
  }

  #send(content: HttpReply, reply: FastifyReply): Promise<FastifyReply> {
    if (this.#isClosing) reply.header("connection", "close");
    return sendReply(content, reply, { timers: this.#options.timers, streams: this.#streams });
  }

  /** The response to a request that the HTTP parser rejected. The connection ends with it. */
  #parserResponse(code: string | undefined): string {
    const { pipeline, requestTimeoutMs, ensureCorrelationId, clock } = this.#options;
    const correlationId = ensureCorrelationId(undefined);
    const { reply } = pipeline.refuse(parserError(code, requestTimeoutMs), "/", correlationId);
    const date = new Date(clock.now()).toUTCString();
    return rawResponse(reply, { [HEADERS.correlationId]: correlationId, date });
  }
}

function corsOptions(origins: readonly string[]): FastifyCorsOptions {
  return {
    origin: (origin, done) => done(null, origin !== undefined && (origins.includes("*") || origins.includes(origin))),
    methods: ["GET", "HEAD", "POST", "PUT", "DELETE"],
    allowedHeaders: [...Object.values(HEADERS), "authorization", "content-type"],
    exposedHeaders: Object.values(HEADERS),
    maxAge: 600,
    strictPreflight: false,
  };
}
