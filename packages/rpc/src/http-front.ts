import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Stream, ServerOptions } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { ConnectionInjector, Server as GrpcServer, ServerCredentials } from "@grpc/grpc-js";

/** Handles an HTTP/1.1 or HTTP/2 request. */
export type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

const GRPC_CONTENT_TYPE = /^application\/grpc(?:[+;]|$)/i;

/** Private members of the server of grpc-js. The tests of this package fail if a new release changes them. */
interface GrpcServerInternals {
  readonly http2Servers?: Map<Http2Server, unknown>;
  readonly commonServerOptions?: object;
}

/** Creates an injector of connections whose HTTP/2 server has these options. */
export function createInjector(
  grpc: GrpcServer,
  credentials: ServerCredentials,
  options: ServerOptions,
): ConnectionInjector {
  const { commonServerOptions } = grpc as unknown as GrpcServerInternals;
  if (!commonServerOptions) throw new TypeError("the HTTP/2 options were not found: unsupported version of grpc-js");
  Object.assign(commonServerOptions, options);
  return grpc.createConnectionInjector(credentials);
}

/**
 * Routes HTTP/2 requests that are not gRPC to `listener`, on connections injected into grpc-js. `onStream` is called
 * for each stream, after its listeners have been added. Returns the HTTP/2 server.
 */
export function shareHttp2(
  grpc: GrpcServer,
  listener: RequestListener,
  onStream: (stream: ServerHttp2Stream, path: string, isGrpc: boolean) => void,
): Http2Server {
  const { http2Servers } = grpc as unknown as GrpcServerInternals;
  const http2 = [...(http2Servers?.keys() ?? [])].at(-1);
  if (!http2) throw new TypeError("the HTTP/2 server of grpc-js was not found: unsupported version of grpc-js");
  const toGrpc = http2.listeners("stream");
  http2.on("request", listener as never);
  const toHttp = http2.listeners("stream").filter((each) => !toGrpc.includes(each));
  http2.removeAllListeners("stream");
  http2.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...more: unknown[]) => {
    const isGrpc = GRPC_CONTENT_TYPE.test(headers["content-type"] ?? "");
    for (const target of isGrpc ? toGrpc : toHttp) target.call(http2, stream, headers, ...more);
    onStream(stream, headers[":path"] ?? "", isGrpc);
  });
  return http2;
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
