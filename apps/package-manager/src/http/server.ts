import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { Fault, type Clock, type Timers } from "@oaas/foundation";
import { allRoutes, HEADERS, type OperationId, type Route } from "@oaas/contracts/rest";
import { Answers } from "./answers.ts";
import { headerOf, KEEP_ALIVE_MS, NO_BODY, pathOf, type Exchange } from "./exchange.ts";
import type { Handler, Handlers, OwnOperation } from "./handler.ts";
import { NodeExchange } from "./node-exchange.ts";
import { isAllowedOrigin, preflightHeaders } from "./origins.ts";
import { operationOf, type Operation, type Pipeline } from "./pipeline.ts";
import { PlainLane } from "./plain/plain-lane.ts";
import { RefusedRequest } from "./read-request.ts";
import { RouteTable, type Match, type RoutePlace } from "./routing.ts";
import { isTooLong } from "./take-body.ts";
import { TakenRequest } from "./taken-request.ts";
import {
  answerUnreadable,
  refusedByParser,
  refusedExpectation,
  refusedForHost,
  REQUEST_TIMEOUT,
} from "./unreadable-request.ts";

export interface HttpServerOptions {
  readonly handlers: Handlers;
  readonly pipeline: Pipeline;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly newCorrelationId: (given: string | undefined) => string;
  /** Origins of pages that may read answers; none by default. */
  readonly corsOrigins: readonly string[];
  readonly maxBodyBytes: number;
  /** A client that takes longer to send its request is let go. */
  readonly requestTimeoutMs: number;
}

type Mounted = RoutePlace & { readonly operation: Operation };

/**
 * The HTTP server of the package manager: every route of the contract, mounted from the one table. Node's own server, because every
 * request passes here and a framework would cost more than all that is done for one.
 */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #routes: RouteTable<Mounted>;
  readonly #answers: Answers;
  readonly #server: Server;
  readonly #lane: PlainLane;

  constructor(options: HttpServerOptions) {
    const { requestTimeoutMs } = options;
    this.#options = options;
    this.#routes = new RouteTable(
      allRoutes().map((route) => ({
        method: route.method,
        path: route.path,
        operation: operationOf(route.operationId, handlerOf(route, options.handlers)),
      })),
    );
    this.#answers = new Answers(options);
    this.#server = createServer(
      {
        requestTimeout: requestTimeoutMs,
        // Node lets bodies take the longer of the two; and by default it looks every 30 seconds only.
        headersTimeout: Math.min(requestTimeoutMs, 60_000),
        connectionsCheckingInterval: Math.min(requestTimeoutMs, 10_000),
        keepAliveTimeout: KEEP_ALIVE_MS,
        // Refused below, in words.
        requireHostHeader: false,
      },
      (request, response) => this.#takeFromNode(request, response),
    );
    this.#server.on("checkContinue", (request, response) => {
      // Who asks beforehand whether it may send too much is told no instead of to go on.
      if (!isTooLong(request, options.maxBodyBytes)) response.writeContinue();
      this.#takeFromNode(request, response);
    });
    this.#server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) =>
      this.#refuse(refusedExpectation(request), new NodeExchange(request, response), { last: true }),
    );
    this.#server.on("clientError", ({ code = "" }: NodeJS.ErrnoException, socket) => this.#refuseUnread(code, socket));
    this.#lane = new PlainLane(this.#server, {
      ...options,
      serve: (exchange) => this.#takePlain(exchange),
      timedOut: (socket) => this.#refuseUnread(REQUEST_TIMEOUT, socket),
    });
  }

  /** Answers the port; rejects with the error of the system when it cannot be had. */
  listen(host: string, port: number): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#server.once("error", reject);
    this.#server.listen(port, host, () => {
      this.#server.off("error", reject);
      resolve((this.#server.address() as AddressInfo).port);
    });
    return promise;
  }

  /** Takes no more connections; ends when the requests that run are answered and everybody is gone. Repeatable. */
  close(): Promise<void> {
    this.#answers.leave();
    return new Promise((resolve) => {
      // Calls back with an error when it does not listen any more: then it is closed as well.
      this.#server.close(() => resolve());
      this.#lane.closeIdle();
    });
  }

  /** Lets go of whoever is still there. */
  closeAllConnections(): void {
    this.#lane.closeAll();
    this.#server.closeAllConnections();
  }

  /** Takes a request that came in the plain form; false when it asks for a stream, which Node's server sends. */
  #takePlain(exchange: Exchange): boolean {
    try {
      const match = this.#match(exchange);
      if (match?.route.operation.streams === true) return false;
      this.#carryOut(exchange, match);
    } catch (thrown) {
      this.#refuse(thrown, exchange);
    }
    return true;
  }

  #takeFromNode(request: IncomingMessage, response: ServerResponse): void {
    const exchange = new NodeExchange(request, response);
    const refused = refusedForHost(request);
    if (refused === undefined) this.#take(exchange);
    else this.#refuse(refused, exchange, { last: true });
  }

  #take(exchange: Exchange): void {
    try {
      this.#carryOut(exchange, this.#match(exchange));
    } catch (thrown) {
      this.#refuse(thrown, exchange);
    }
  }

  #match({ method, url }: Exchange): Match<Mounted> | undefined {
    return this.#routes.match(method, pathOf(url));
  }

  #carryOut(exchange: Exchange, match: Match<Mounted> | undefined): void {
    if (match === undefined) this.#unrouted(exchange);
    else if (match.route.operation.route.body === undefined) this.#serve(exchange, match, NO_BODY);
    else
      exchange.takeBody(this.#options.maxBodyBytes, (body) => {
        if (body instanceof RefusedRequest) this.#refuse(body, exchange, { last: true });
        else this.#serve(exchange, match, body);
      });
  }

  #serve(exchange: Exchange, { route, parameters }: Match<Mounted>, body: Buffer): void {
    const failed = (thrown: unknown): void => {
      if (exchange.isAnswered) exchange.abandon();
      else this.#refuse(thrown, exchange);
    };
    const taken = new TakenRequest(exchange, { parameters, body });
    this.#options.pipeline
      .serve(route.operation, taken)
      .then((served) => this.#answers.send(exchange, served))
      .catch(failed);
  }

  #refuse(
    thrown: unknown,
    exchange: Exchange,
    {
      last = false,
      headers = {},
    }: { readonly last?: boolean; readonly headers?: Readonly<Record<string, string>> } = {},
  ): void {
    const correlationId = this.#options.newCorrelationId(headerOf(exchange, HEADERS.correlationId));
    const { reply } = this.#options.pipeline.refuse(thrown, exchange.url, correlationId);
    const served = { reply: { ...reply, headers: { ...reply.headers, ...headers } }, correlationId };
    this.#answers.send(exchange, served, last);
  }

  /** Answers what never became a request, and ends the connection. */
  #refuseUnread(code: string, socket: Duplex): void {
    const { pipeline, requestTimeoutMs, newCorrelationId } = this.#options;
    const correlationId = newCorrelationId(undefined);
    const { reply } = pipeline.refuse(refusedByParser(code, requestTimeoutMs), "/", correlationId);
    answerUnreadable(socket, { reply, correlationId }, this.#lane.date());
  }

  #unrouted(exchange: Exchange): void {
    const { method, url } = exchange;
    const path = pathOf(url);
    const methods = this.#routes.methods(path);
    if (methods.length === 0) return this.#refuse(unknownPath(path), exchange);
    if (method === "OPTIONS" && isAllowedOrigin(exchange, this.#options.corsOrigins)) {
      const correlationId = this.#options.newCorrelationId(headerOf(exchange, HEADERS.correlationId));
      const reply = { status: 204, headers: preflightHeaders(methods) };
      return this.#answers.send(exchange, { reply, correlationId });
    }
    return this.#refuse(wrongMethod(method, methods), exchange, { headers: { allow: methods.join(", ") } });
  }
}

function handlerOf(
  { operationId, aliasOf, offered }: Route & { readonly operationId: OperationId },
  handlers: Handlers,
): Handler<OwnOperation> {
  if (offered === false) return () => notOffered(operationId);
  return handlers[(aliasOf ?? operationId) as OwnOperation];
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
