import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Fault, onceThere, type Timers } from "@oaas/foundation";
import { allRoutes, HEADERS, type OperationId, type Route } from "@oaas/contracts/rest";
import { Answers } from "./answers.ts";
import type { Handler, Handlers, OwnOperation } from "./handler.ts";
import { isAllowedOrigin, preflightHeaders } from "./origins.ts";
import { operationOf, type Operation, type Pipeline } from "./pipeline.ts";
import { RefusedRequest } from "./read-request.ts";
import { RouteTable, type RoutePlace } from "./routing.ts";
import { NO_BODY, takeBody } from "./take-body.ts";
import { headerOf, pathOf, TakenRequest } from "./taken-request.ts";
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

const KEEP_ALIVE_MS = 65_000;

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
      },
      (request, response) => this.#take(request, response),
    );
    this.#server.on("clientError", ({ code = "" }: NodeJS.ErrnoException, socket) => {
      const correlationId = options.newCorrelationId(undefined);
      const { reply } = options.pipeline.refuse(refusedByParser(code, requestTimeoutMs), "/", correlationId);
      answerUnreadable(socket, { reply, correlationId });
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
    });
  }

  /** Lets go of whoever is still there. */
  closeAllConnections(): void {
    this.#server.closeAllConnections();
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    try {
      const { method = "", url = "" } = request;
      const match = this.#routes.match(method, pathOf(url));
      if (match === undefined) this.#unrouted(request, response);
      else if (match.route.operation.route.body === undefined) this.#serve(request, response, match, NO_BODY);
      else
        takeBody(request, this.#options.maxBodyBytes, (body) => {
          if (body instanceof RefusedRequest) this.#refuse(body, request, response, { last: true });
          else this.#serve(request, response, match, body);
        });
    } catch (thrown) {
      this.#refuse(thrown, request, response);
    }
  }

  #serve(
    request: IncomingMessage,
    response: ServerResponse,
    { route, parameters }: { readonly route: Mounted; readonly parameters: Readonly<Record<string, string>> },
    body: Buffer,
  ): void {
    const failed = (thrown: unknown): void => {
      if (response.headersSent) response.destroy();
      else this.#refuse(thrown, request, response);
    };
    try {
      const taken = new TakenRequest(request, response, { parameters, body });
      const sent = onceThere(this.#options.pipeline.serve(route.operation, taken), (served) =>
        this.#answers.send(request, response, served),
      );
      if (sent instanceof Promise) sent.catch(failed);
    } catch (thrown) {
      failed(thrown);
    }
  }

  #refuse(
    thrown: unknown,
    request: IncomingMessage,
    response: ServerResponse,
    {
      last = false,
      headers = {},
    }: { readonly last?: boolean; readonly headers?: Readonly<Record<string, string>> } = {},
  ): void {
    const correlationId = this.#options.newCorrelationId(headerOf(request, HEADERS.correlationId));
    const { reply } = this.#options.pipeline.refuse(thrown, request.url ?? "", correlationId);
    const served = { reply: { ...reply, headers: { ...reply.headers, ...headers } }, correlationId };
    this.#answers.send(request, response, served, last);
  }

  #unrouted(request: IncomingMessage, response: ServerResponse): void {
    const { method = "", url = "" } = request;
    const path = pathOf(url);
    const methods = this.#routes.methods(path);
    if (methods.length === 0) return this.#refuse(unknownPath(path), request, response);
    if (method === "OPTIONS" && isAllowedOrigin(request, this.#options.corsOrigins)) {
      const correlationId = this.#options.newCorrelationId(headerOf(request, HEADERS.correlationId));
      const reply = { status: 204, headers: preflightHeaders(methods) };
      return this.#answers.send(request, response, { reply, correlationId });
    }
    return this.#refuse(wrongMethod(method, methods), request, response, { headers: { allow: methods.join(", ") } });
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
