import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http";
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Server as GrpcServer } from "@grpc/grpc-js";

/** Answers a request of HTTP, whichever version brought it. */
export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/** Puts `front` before the listeners of an HTTP/1 server: it gets every request, and the way to hand one on. */
export function putBefore(
  http: HttpServer,
  front: (request: IncomingMessage, response: ServerResponse, handOn: () => void) => void,
): RequestListener {
  const behind = http.listeners("request") as RequestListener[];
  const listener: RequestListener = (request, response) =>
    front(request, response, () => {
      for (const answer of behind) answer.call(http, request, response);
    });
  http.removeAllListeners("request");
  http.on("request", listener);
  return listener;
}

const NATIVE = /^application\/grpc(?:[+;]|$)/i;

/**
 * Lets requests of HTTP/2 that are not gRPC go to `answer`, on the connections that are injected into grpc-js.
 *
 * Caveats: grpc-js keeps the HTTP/2 server of its injector to itself, and answers every stream on it; this takes it out of a private member, which the tests of
 * this package would miss first.
 */
export function shareHttp2(grpc: GrpcServer, answer: RequestListener): void {
  const servers = (grpc as unknown as { readonly http2Servers?: Map<Http2Server, unknown> }).http2Servers;
  const http2 = [...(servers?.keys() ?? [])].at(-1);
  if (!http2) throw new TypeError("grpc-js has no HTTP/2 server where this release expects it");
  const toGrpc = http2.listeners("stream");
  http2.on("request", answer as never);
  const toHttp = http2.listeners("stream").filter((listener) => !toGrpc.includes(listener));
  http2.removeAllListeners("stream");
  http2.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...more: unknown[]) => {
    const listeners = NATIVE.test(headers["content-type"] ?? "") ? toGrpc : toHttp;
    for (const listener of listeners) listener.call(http2, stream, headers, ...more);
  });
}

/** Who is at the other end of a connection, as far as TLS tells. */
export type Standing = "plain" | "verified" | "anonymous" | "impostor";

/** "anonymous" showed no certificate where one was asked for; "impostor" one that does not verify. */
export function standingOf(socket: Socket, asksCertificate: boolean): Standing {
  const { encrypted, authorized } = socket as Partial<TLSSocket>;
  if (!encrypted || !asksCertificate) return "plain";
  if (authorized) return "verified";
  return (socket as TLSSocket).getPeerX509Certificate() ? "impostor" : "anonymous";
}
