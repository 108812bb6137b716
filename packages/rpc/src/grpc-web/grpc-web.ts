import type { IncomingMessage, ServerResponse } from "node:http";
import type { RpcServer } from "../server.ts";
import { answerHeaders, isAllowedOrigin, preflightHeaders, type AllowedOrigins } from "./origins.ts";
import { WebCall } from "./web-call.ts";
import { webFormOf } from "./web-form.ts";

export interface GrpcWebOptions {
  readonly rpc: RpcServer;
  readonly origins: AllowedOrigins;
}

/**
 * gRPC for callers that cannot speak HTTP/2 frames: unary and server-streaming calls by the gRPC-Web protocol, binary and text. Answers true when the request was
 * such a call, or a browser's question whether it may make one; others are left alone.
 *
 * Guarantees: the same handlers, authorisation, deadlines, limits and faults as by gRPC. A page is let in only when its origin is listed, also on the same
 * host: the name in the Host header is the attacker's to choose.
 */
export function grpcWeb(options: GrpcWebOptions): (request: IncomingMessage, response: ServerResponse) => boolean {
  const { rpc, origins } = options;
  return (request, response) => {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const form = webFormOf(request.headers["content-type"]);
    const isQuestion = request.method === "OPTIONS" && rpc.serves(path);
    if (form === undefined && !isQuestion) return false;
    const { origin } = request.headers;
    if (!isAllowedOrigin(origins, origin)) {
      refuse(response, 403, "Pages of this origin may not call here.\n", { vary: "origin" });
    } else if (isQuestion) {
      if (origin === undefined) refuse(response, 405, "Use POST.\n", { allow: "POST" });
      else response.writeHead(204, preflightHeaders(origin)).end();
    } else if (form === undefined || request.method !== "POST") {
      refuse(response, 405, "Use POST.\n", { allow: "POST" });
    } else {
      const call = new WebCall({ request, response, form, clock: rpc.clock, headers: answerHeaders(origin) });
      void rpc.answerWeb(path, call);
    }
    return true;
  };
}

function refuse(response: ServerResponse, status: number, text: string, headers: Record<string, string>): void {
  response.writeHead(status, { "content-type": "text/plain", "cache-control": "no-store", ...headers }).end(text);
}
