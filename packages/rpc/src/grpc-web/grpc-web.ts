import type { IncomingMessage, ServerResponse } from "node:http";
import type { RpcServer } from "../server.ts";
import { corsHeaders, isAllowedOrigin, preflightHeaders, type AllowedOrigins } from "./origins.ts";
import { WebCall } from "./web-call.ts";
import { webEncodingOf } from "./web-encoding.ts";

export interface GrpcWebOptions {
  readonly rpc: RpcServer;
  readonly origins: AllowedOrigins;
}

/**
 * Serves unary and server-streaming calls over gRPC-Web, binary and text. Returns true if the request was a gRPC-Web
 * call or its CORS preflight request; other requests are not touched.
 *
 * Guarantees: same handlers, authorisation, deadlines, limits and faults as gRPC. A web page needs a listed origin,
 * also on the same host, because an attacker controls the Host header (DNS rebinding).
 */
export function grpcWeb(options: GrpcWebOptions): (request: IncomingMessage, response: ServerResponse) => boolean {
  const { rpc, origins } = options;
  return (request, response) => {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const encoding = webEncodingOf(request.headers["content-type"]);
    const isPreflight = request.method === "OPTIONS" && rpc.serves(path);
    if (encoding === undefined && !isPreflight) return false;
    const { origin } = request.headers;
    if (!isAllowedOrigin(origins, origin)) {
      reject(response, 403, "This origin is not allowed.\n", { vary: "origin" });
    } else if (isPreflight) {
      if (origin === undefined) reject(response, 405, "Use POST.\n", { allow: "POST" });
      else response.writeHead(204, preflightHeaders(origin)).end();
    } else if (encoding === undefined || request.method !== "POST") {
      reject(response, 405, "Use POST.\n", { allow: "POST" });
    } else {
      const call = new WebCall({ request, response, encoding, clock: rpc.clock, headers: corsHeaders(origin) });
      void rpc.handleWebCall(path, call);
    }
    return true;
  };
}

function reject(response: ServerResponse, status: number, text: string, headers: Record<string, string>): void {
  response.writeHead(status, { "content-type": "text/plain", "cache-control": "no-store", ...headers }).end(text);
}
