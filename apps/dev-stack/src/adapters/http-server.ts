import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { faultToProblem, crossSiteError, HttpError, type ProblemOptions } from "@oaas/contracts/rest";
import {
  Fault,
  findCrossSiteProblem,
  invalidArgument,
  isLoopbackHost,
  notFound,
  resourceExhausted,
  ROOT_PATH,
  sentRequest,
  type Ids,
} from "@oaas/foundation";
import { CORRELATION_HEADER, ensureCorrelationId, type ContextStore, type Logger } from "@oaas/observability";
import type { Reply, Route } from "../http/routes.ts";
import { listenFault } from "./listen.ts";

export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly routes: readonly Route[];
  /** Bearer token of the control routes. Keeps out browsers and other users of this machine. */
  readonly secret: string;
  readonly logger: Logger;
  readonly context: ContextStore;
  readonly ids: Ids;
}

export interface HttpServer {
  /** URL with the actual port. */
  readonly url: string;
  /** Rejects new connections, waits for running requests, then closes the rest after `graceMs`. Idempotent. */
  close(graceMs: number): Promise<void>;
}

/** Serves the routes. Rejects with a fault that contains the fix if the port is in use. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const server = createServer((request, response) => {
    const correlationId = ensureCorrelationId(readHeader(request, CORRELATION_HEADER), options.ids);
    void options.context.run({ correlationId }, async () => {
      const reply = await handleRequest(request, options, correlationId).catch((thrown: unknown) => {
        const error = thrown instanceof HttpError ? thrown : undefined;
        const fault = (error?.fault ?? Fault.from(thrown)).withCorrelationId(correlationId);
        if (fault.kind === "internal") options.logger.error("request failed", { fault, path: request.url });
        return problemReply(fault, error && { httpError: error.httpError });
      });
      send(request, response, reply, correlationId);
    });
  });
  const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once("error", resolve);
    server.listen(options.port, options.host, () => resolve(undefined));
  });
  if (error !== undefined) throw await listenFault(error, options.host, options.port, "--oaas-stack-page-port");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : options.port;
  return {
    url: `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${port}`,
    close: (graceMs) => closeServer(server, graceMs),
  };
}

async function handleRequest(
  request: IncomingMessage,
  { host, routes, secret }: HttpServerOptions,
  correlationId: string,
): Promise<Reply> {
  const problem = findCrossSiteProblem(sentRequest(request), { acceptsAddresses: !isLoopbackHost(host) });
  if (problem) throw crossSiteError(problem);
  const path = (request.url ?? "/").split("?")[0] ?? "/";
  const route = routes.find((candidate) => candidate.path === path);
  if (!route) throw notFound("path", path);
  const methods = METHODS[route.does];
  if (!methods.includes(request.method ?? "")) {
    const hint = route.does === "read" ? "is read-only; use GET" : "changes state; use POST";
    const fault = new Fault({ kind: "unimplemented", feature: `${request.method} ${path}` }, `${path} ${hint}`);
    const reply = problemReply(fault.withCorrelationId(correlationId), { httpError: "method-not-allowed" });
    return { ...reply, allow: methods.join(", ") };
  }
  if (route.does === "read") return route.read();
  if (!hasSecret(readHeader(request, "authorization"), secret)) {
    throw new Fault(
      { kind: "unauthenticated" },
      "this route needs the secret in the stack's state file: use the oaas CLI",
    );
  }
  return route.act(await readBody(request));
}

const METHODS: Readonly<Record<Route["does"], readonly string[]>> = { read: ["GET", "HEAD"], act: ["POST"] };
const MAX_BODY_BYTES = 16_384;
const JSON_TYPE = /^application\/json(?:;|$)/i;

function hasSecret(header: string | undefined, secret: string): boolean {
  const [received, candidate] = [header ?? "", `Bearer ${secret}`].map((text) =>
    createHash("sha256").update(text).digest(),
  );
  return received !== undefined && candidate !== undefined && timingSafeEqual(received, candidate);
}

/** Parses the JSON body; undefined without a body. */
async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > MAX_BODY_BYTES) {
      throw resourceExhausted("body", `the request body is limited to ${MAX_BODY_BYTES} bytes`);
    }
  }
  if (text === "") return undefined;
  if (!JSON_TYPE.test(request.headers["content-type"] ?? "")) {
    const fix = "send the header content-type: application/json";
    const fault = invalidArgument("the body", [{ path: ROOT_PATH, message: "is not declared as JSON", fix }]);
    throw new HttpError(fault, "unsupported-media-type");
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw invalidArgument("the body", [{ path: ROOT_PATH, message: "is not valid JSON", fix: "send an object" }], {
      cause,
    });
  }
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
    ...(reply.allow === undefined ? {} : { allow: reply.allow }),
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

function readHeader(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
