import type { Server as HttpServer } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from "node:tls";
import {
  failedPrecondition,
  findCrossSiteProblem,
  sentRequest,
  sleep,
  type CrossSiteRules,
  type Fault,
  type Timers,
} from "@oaas/foundation";
import { grpcWeb } from "./grpc-web/grpc-web.ts";
import type { AllowedOrigins } from "./grpc-web/origins.ts";
import { insertBefore, shareHttp2, clientAuthOf } from "./http-front.ts";
import { RpcServer } from "./server.ts";

export interface OnePortOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly rpc: RpcServer;
  /**
   * Handles requests that are neither gRPC nor gRPC-Web. It must not listen itself; its listeners must be installed.
   */
  readonly http: HttpServer;
  readonly timers: Timers;
  /** With `requestCert` clients are asked for a certificate; an invalid one ends the connection. */
  readonly tls?: TlsOptions;
  /** HTTP paths that clients without a certificate may request; none by default. `authorize` decides for gRPC. */
  readonly openPaths?: readonly string[];
  /** Set without authentication: exceptions from the rejection of HTTP and gRPC-Web requests of web pages. */
  readonly crossSite?: CrossSiteRules | undefined;
  /** Origins of web pages that may use gRPC-Web; none by default. Requests without an origin are allowed. */
  readonly webOrigins?: AllowedOrigins;
}

export interface OnePort {
  /** The bound address. */
  readonly host: string;
  readonly port: number;
  /** Replaces the certificates for new connections. */
  setTls(options: TlsOptions): void;
  /** Stops accepting connections, drains gRPC and HTTP for `graceMs`, then ends the rest. Idempotent. */
  close(graceMs: number): Promise<void>;
}

/** Start of every HTTP/2 connection (RFC 9113, 3.4); 14 bytes are enough to detect it. */
const PREFACE = Buffer.from("PRI * HTTP/2.0");

/** Time limit for the first bytes of a connection. */
const DETECTION_TIMEOUT_MS = 5_000;

/** Time for connections to close by themselves after the last response. */
const CLOSE_GRACE_MS = 500;

/**
 * Serves gRPC, gRPC-Web and HTTP on one port. ALPN or the first bytes select HTTP/1.1 or HTTP/2; the content type
 * selects gRPC.
 *
 * Guarantees: detects a preface that arrives in pieces; closes a silent connection; isolates errors of single sockets;
 * a certificate passed to a handler was verified.
 */
export async function listenOnePort(options: OnePortOptions): Promise<OnePort> {
  const { rpc, http, timers, openPaths = [] } = options;
  const requestsCertificate = options.tls?.requestCert === true;
  const web = grpcWeb({ rpc, origins: options.webOrigins ?? [] });
  const crossSite = options.crossSite && { ...options.crossSite, origins: options.webOrigins ?? [] };
  const listener = insertBefore(http, (request, response, next) => {
    const problem = crossSite && findCrossSiteProblem(sentRequest(request), crossSite);
    if (problem) {
      response.writeHead(problem.status, { "content-type": "text/plain" }).end(`${problem.message}; ${problem.fix}\n`);
      return;
    }
    if (web(request, response)) return;
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    if (openPaths.includes(path) || clientAuthOf(request.socket, requestsCertificate) !== "anonymous") next();
    else response.writeHead(403, { "content-type": "text/plain" }).end("A client certificate is required.\n");
  });
  const injector = rpc.grpc.createConnectionInjector(RpcServer.injected);
  shareHttp2(rpc.grpc, listener);
  const toHttp = (socket: Socket): boolean => http.emit("connection", socket);
  const sockets = new Set<Socket>();
  const accept = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    if (clientAuthOf(socket, requestsCertificate) === "invalid") {
      socket.destroy();
      return;
    }
    const protocol = (socket as Partial<TLSSocket>).alpnProtocol;
    if (protocol === "h2") injector.injectConnection(socket);
    else if (protocol === "http/1.1") toHttp(socket);
    else detectProtocol(socket, timers, (isHttp2) => (isHttp2 ? injector.injectConnection(socket) : toHttp(socket)));
  };
  const tlsServer = options.tls && createTlsServer({ ...options.tls, ALPNProtocols: ["h2", "http/1.1"] }, accept);
  tlsServer?.on("tlsClientError", () => undefined);
  const server: TcpServer = tlsServer ?? createTcpServer(accept);
  await listen(server, options);
  const { address, port } = server.address() as AddressInfo;
  return {
    host: address,
    port,
    setTls: (tls) => tlsServer?.setSecureContext(tls),
    close: async (graceMs) => {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      http.closeIdleConnections();
      await rpc.drain(graceMs);
      // Send GOAWAY, so that the last responses are delivered before the connections are closed.
      injector.drain(CLOSE_GRACE_MS);
      await Promise.race([closed, sleep(timers, CLOSE_GRACE_MS)]);
      rpc.grpc.forceShutdown();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Detects the protocol from the first bytes and puts them back. */
function detectProtocol(socket: Socket, timers: Timers, onDetected: (isHttp2: boolean) => void): void {
  let received = Buffer.alloc(0);
  const timer = timers.after(DETECTION_TIMEOUT_MS, () => socket.destroy());
  const done = (isHttp2: boolean): void => {
    timer.cancel();
    socket.off("readable", onReadable);
    socket.off("close", stop);
    socket.unshift(received);
    onDetected(isHttp2);
  };
  const onReadable = (): void => {
    for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null) {
      received = Buffer.concat([received, chunk]);
    }
    const head = received.subarray(0, PREFACE.length);
    if (!PREFACE.subarray(0, head.length).equals(head)) done(false);
    else if (received.length >= PREFACE.length) done(true);
  };
  const stop = (): void => timer.cancel();
  socket.on("readable", onReadable);
  socket.on("close", stop);
}

function listen(server: TcpServer, { host, port }: OnePortOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(listenFault(host, port, error)));
    server.listen(port, host, resolve);
  });
}

/** Returns the fault of a server that cannot listen. */
export function listenFault(host: string, port: number, error: NodeJS.ErrnoException): Fault {
  const why = error.code === "EADDRINUSE" ? "the address is in use; choose another port" : error.message;
  return failedPrecondition(`${host}:${port}`, `cannot listen on ${host}:${port}: ${why}`, { cause: error });
}
