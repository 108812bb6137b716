import type { Server as HttpServer } from "node:http";
import { createServer as createTcpServer, type Server as TcpServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from "node:tls";
import { failedPrecondition, sleep, type Fault, type Timers } from "@oaas/foundation";
import { grpcWeb } from "./grpc-web/grpc-web.ts";
import type { AllowedOrigins } from "./grpc-web/origins.ts";
import { putBefore, shareHttp2, standingOf } from "./http-front.ts";
import { RpcServer } from "./server.ts";

export interface OnePortOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly rpc: RpcServer;
  /** Not listening anywhere itself; gets what is neither gRPC nor gRPC-Web, by HTTP/1.1 or HTTP/2. Its listeners are in place before. */
  readonly http: HttpServer;
  readonly timers: Timers;
  /** With `requestCert` callers are asked for a certificate; one that does not verify ends the connection. */
  readonly tls?: TlsOptions;
  /** Paths of HTTP that also callers without the certificate may ask for. None by default; gRPC is for `authorize` to judge. */
  readonly openPaths?: readonly string[];
  /** Pages that may call by gRPC-Web. None by default; callers that are no page need no leave. */
  readonly webOrigins?: AllowedOrigins;
}

export interface OnePort {
  readonly port: number;
  /** New certificates for connections from now on. */
  setTls(options: TlsOptions): void;
  /** Refuses new connections; drains gRPC and HTTP within the grace; then ends what is left. Repeatable. */
  close(graceMs: number): Promise<void>;
}

/** What every HTTP/2 connection begins with (RFC 9113, 3.4); 14 bytes decide. */
const PREFACE = Buffer.from("PRI * HTTP/2.0");

/** A connection that says nothing is not kept for ever. */
const UNDECIDED_MS = 5_000;

/** How long connections have to end by themselves once every call is answered. */
const GOODBYE_MS = 500;

/**
 * gRPC, gRPC-Web and HTTP on one port: the first bytes decide between HTTP/1.1 and HTTP/2, or with TLS the protocol the client asked for; then the content type.
 *
 * Guarantees: a preface that comes byte by byte is understood; a connection that does not decide is closed; errors of single sockets stay
 * with them; a certificate that reaches a handler was verified.
 */
export async function listenOnePort(options: OnePortOptions): Promise<OnePort> {
  const { rpc, http, timers, openPaths = [] } = options;
  const asksCertificate = options.tls?.requestCert === true;
  const web = grpcWeb({ rpc, origins: options.webOrigins ?? [] });
  const listener = putBefore(http, (request, response, handOn) => {
    if (web(request, response)) return;
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    if (openPaths.includes(path) || standingOf(request.socket, asksCertificate) !== "anonymous") handOn();
    else response.writeHead(403, { "content-type": "text/plain" }).end("Show a client certificate.\n");
  });
  const injector = rpc.grpc.createConnectionInjector(RpcServer.injected);
  shareHttp2(rpc.grpc, listener);
  const toHttp = (socket: Socket): boolean => http.emit("connection", socket);
  const sockets = new Set<Socket>();
  const accept = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    if (standingOf(socket, asksCertificate) === "impostor") {
      socket.destroy();
      return;
    }
    const protocol = (socket as Partial<TLSSocket>).alpnProtocol;
    if (protocol === "h2") injector.injectConnection(socket);
    else if (protocol === "http/1.1") toHttp(socket);
    else sniff(socket, timers, (isHttp2) => (isHttp2 ? injector.injectConnection(socket) : toHttp(socket)));
  };
  const tlsServer = options.tls && createTlsServer({ ...options.tls, ALPNProtocols: ["h2", "http/1.1"] }, accept);
  tlsServer?.on("tlsClientError", () => undefined);
  const server: TcpServer = tlsServer ?? createTcpServer(accept);
  await listen(server, options);
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : options.port,
    setTls: (tls) => tlsServer?.setSecureContext(tls),
    close: async (graceMs) => {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      http.closeIdleConnections();
      await rpc.drain(graceMs);
      // The last answers are still on their way: say goodbye properly before cutting the line.
      injector.drain(GOODBYE_MS);
      await Promise.race([closed, sleep(timers, GOODBYE_MS)]);
      rpc.grpc.forceShutdown();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Reads until 14 bytes decide, then puts back what was read. */
function sniff(socket: Socket, timers: Timers, decided: (isHttp2: boolean) => void): void {
  let seen = Buffer.alloc(0);
  const timer = timers.after(UNDECIDED_MS, () => socket.destroy());
  const done = (isHttp2: boolean): void => {
    timer.cancel();
    socket.off("readable", look);
    socket.off("close", stop);
    socket.unshift(seen);
    decided(isHttp2);
  };
  const look = (): void => {
    for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null) {
      seen = Buffer.concat([seen, chunk]);
    }
    const compared = seen.subarray(0, PREFACE.length);
    if (!PREFACE.subarray(0, compared.length).equals(compared)) done(false);
    else if (seen.length >= PREFACE.length) done(true);
  };
  const stop = (): void => timer.cancel();
  socket.on("readable", look);
  socket.on("close", stop);
}

function listen(server: TcpServer, { host, port }: OnePortOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(cannotListen(host, port, error)));
    server.listen(port, host, resolve);
  });
}

/** Why a server could not listen, in words that people can act on. */
export function cannotListen(host: string, port: number, error: NodeJS.ErrnoException): Fault {
  const why = error.code === "EADDRINUSE" ? "something else listens there; choose another port" : error.message;
  return failedPrecondition(`${host}:${port}`, `cannot listen on ${host}:${port}: ${why}`, { cause: error });
}
