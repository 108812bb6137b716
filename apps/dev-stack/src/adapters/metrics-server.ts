import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { findCrossSiteProblem, sentRequest } from "@oaas/foundation";
import type { ApiRequest, ApiResponse } from "@oaas/promql";

export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
const MAX_BODY_BYTES = 64 * 1024;

/** Serves the HTTP API of Prometheus on a free loopback port. */
export async function startMetricsServer(handle: (request: ApiRequest) => ApiResponse): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    void respond(handle, request, response).catch(() => response.destroy());
  });
  server.listen(0, HOST);
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://${HOST}:${typeof address === "object" && address ? address.port : 0}`,
    close: async () => {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function respond(
  handle: (request: ApiRequest) => ApiResponse,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const problem = findCrossSiteProblem(sentRequest(request), { acceptsAddresses: false });
  const { status, contentType, body } = problem
    ? refuse(problem.status, `${problem.message}: ${problem.fix}`)
    : handle(await readRequest(request));
  response.writeHead(status, {
    "content-type": contentType,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(request.method === "HEAD" ? undefined : body);
}

async function readRequest(request: IncomingMessage): Promise<ApiRequest> {
  const [path = "/", search = ""] = (request.url ?? "/").split("?", 2);
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) {
    body += String(chunk);
    if (body.length > MAX_BODY_BYTES) throw new Error("body too large");
  }
  return { method: request.method ?? "GET", path, search, body };
}

function refuse(status: number, message: string): ApiResponse {
  const body = JSON.stringify({ status: "error", errorType: "forbidden", error: message });
  return { status, contentType: "application/json", body };
}
