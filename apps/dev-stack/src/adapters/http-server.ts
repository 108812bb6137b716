import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { faultToProblem, type ProblemOptions } from "@oaas/contracts/rest";
import { Fault, notFound, type Ids } from "@oaas/foundation";
import { CORRELATION_HEADER, ensureCorrelationId, type ContextStore, type Logger } from "@oaas/observability";
import type { Reply, Route } from "../http/routes.ts";
import { listenFault } from "./can-listen.ts";

export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly routes: readonly Route[];
  readonly logger: Logger;
  readonly context: ContextStore;
  readonly ids: Ids;
}

export interface HttpServer {
  /** Where it listens, with the port that was chosen. */
  readonly url: string;
  /** Refuses new connections, lets running requests end, then closes what is left after `graceMs`. Repeatable. */
  close(graceMs: number): Promise<void>;
}

/** Serves the routes. Rejects with a fault that says what to do when the port is taken. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const server = createServer((request, response) => {
    const correlationId = ensureCorrelationId(headerOf(request, CORRELATION_HEADER), options.ids);
    void options.context.run({ correlationId }, async () => {
      const reply = await replyTo(request, options.routes, correlationId).catch((thrown: unknown) => {
        const fault = Fault.from(thrown).withCorrelationId(correlationId);
        if (fault.kind === "internal") options.logger.error("request failed", { fault, path: request.url });
        return problemReply(fault);
      });
      send(request, response, reply, correlationId);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(listenFault(error, options.host, options.port, "--oaas-stack-page-port")),
    );
    server.listen(options.port, options.host, resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : options.port;
  return {
    url: `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${port}`,
    close: (graceMs) => closeServer(server, graceMs),
  };
}

async function replyTo(request: IncomingMessage, routes: readonly Route[], correlationId: string): Promise<Reply> {
  const path = (request.url ?? "/").split("?")[0] ?? "/";
  const route = routes.find((known) => known.path === path);
  if (!route) throw notFound("path", path);
  if (request.method !== "GET" && request.method !== "HEAD") {
    const fault = new Fault(
      { kind: "unimplemented", feature: `${request.method} ${path}` },
      `${path} can only be read; use GET`,
    );
    return problemReply(fault.withCorrelationId(correlationId), { refusal: "method-not-allowed" });
  }
  return route.read();
}

function problemReply(fault: Fault, options: ProblemOptions = {}): Reply {
  const problem = faultToProblem(fault, options);
  return { status: problem.status, contentType: "application/problem+json", body: JSON.stringify(problem) };
}

function send(request: IncomingMessage, response: ServerResponse, reply: Reply, correlationId: string): void {
  const body = Buffer.from(reply.body);
  response.writeHead(reply.status, {
    "content-type": reply.contentType,
    "content-length": body.length,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    [CORRELATION_HEADER]: correlationId,
    ...(reply.status === 405 ? { allow: "GET, HEAD" } : {}),
  });
  response.end(request.method === "HEAD" ? undefined : body);
}

function closeServer(server: ReturnType<typeof createServer>, graceMs: number): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
