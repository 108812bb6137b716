import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http";
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Server as GrpcServer } from "@grpc/grpc-js";

/** Handles an HTTP/1.1 or HTTP/2 request. */
export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/** Inserts `front` before the request listeners of an HTTP server. `next` passes a request on to them. */
export function insertBefore(
  http: HttpServer,
  front: (request: IncomingMessage, response: ServerResponse, next: () => void) => void,
): RequestListener {
  const listeners = http.listeners("request") as RequestListener[];
  const listener: RequestListener = (request, response) =>
    front(request, response, () => {
      for (const handle of listeners) handle.call(http, request, response);
    });
  http.removeAllListeners("request");
  http.on("request", listener);
  return listener;
}

const GRPC_CONTENT_TYPE = /^application\/grpc(?:[+;]|$)/i;

/**
 * Routes HTTP/2 requests that are not gRPC to `listener`, on connections injected into grpc-js.
 *
 * Caveats: grpc-js keeps the HTTP/2 server of its injector in a private member. The tests of this package fail if a new
 * release of grpc-js changes it.
 */
export function shareHttp2(grpc: GrpcServer, listener: RequestListener): void {
  const servers = (grpc as unknown as { readonly http2Servers?: Map<Http2Server, unknown> }).http2Servers;
  const http2 = [...(servers?.keys() ?? [])].at(-1);
  if (!http2) throw new TypeError("the HTTP/2 server of grpc-js was not found: unsupported version of grpc-js");
  const toGrpc = http2.listeners("stream");
  http2.on("request", listener as never);
  const toHttp = http2.listeners("stream").filter((each) => !toGrpc.includes(each));
  http2.removeAllListeners("stream");
  http2.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...more: unknown[]) => {
    const targets = GRPC_CONTENT_TYPE.test(headers["content-type"] ?? "") ? toGrpc : toHttp;
    for (const target of targets) target.call(http2, stream, headers, ...more);
  });
}

/** Client authentication of a connection. */
export type ClientAuth = "plain" | "verified" | "anonymous" | "invalid";

/** "anonymous": no certificate although one is requested. "invalid": a certificate that does not verify. */
export function clientAuthOf(socket: Socket, requestsCertificate: boolean): ClientAuth {
  const { encrypted, authorized } = socket as Partial<TLSSocket>;
  if (!encrypted || !requestsCertificate) return "plain";
  if (authorized) return "verified";
  return (socket as TLSSocket).getPeerX509Certificate() ? "invalid" : "anonymous";
}
