import { createServer as createHttpServer, type ServerOptions as HttpServerOptions } from "node:http";
import type { ServerOptions } from "node:http2";
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
import { clientAuthOf, createInjector, shareHttp2, type RequestListener } from "./http-front.ts";
import {
  ConnectionLimit,
  limitIdleTime,
  limitRequestBytes,
  limitRequestTime,
  PORT_LIMITS,
  type PortLimits,
} from "./port-limits.ts";
import { RpcServer } from "./server.ts";

export interface OnePortOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly rpc: RpcServer;
  /** Handles requests that are not gRPC. */
  readonly http: RequestListener;
  readonly timers: Timers;
  readonly limits?: Partial<PortLimits>;
  /** With `requestCert` clients are asked for a certificate; an invalid one ends the connection. */
  readonly tls?: TlsOptions;
  /** HTTP paths that clients without a certificate may request; none by default. `authorize` decides for gRPC. */
  readonly openPaths?: readonly string[];
  /** Set without authentication: exceptions from the rejection of HTTP requests of web pages. */
  readonly crossSite?: CrossSiteRules | undefined;
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

/** Time that an HTTP/1.1 connection is kept for the next request. */
const KEEP_ALIVE_MS = 65_000;

/** Size of the headers of a request over HTTP/2, as over HTTP/1.1. */
const MAX_HEADER_BYTES = 16_384;

/** Memory of an HTTP/2 session, above the largest response: beyond it, new streams are rejected. */
const MAX_SESSION_MIB = 64;

/** Time for connections to close by themselves after the last response. */
const CLOSE_GRACE_MS = 500;

/**
 * Serves gRPC and HTTP on one port. ALPN or the first bytes select HTTP/1.1 or HTTP/2; the content type
 * selects gRPC.
 *
 * Guarantees: detects a preface that arrives in pieces; isolates errors of single sockets; a certificate passed to a
 * handler was verified. A client that sends nothing, half a handshake or half a request is disconnected in time, and
 * connections, streams and bytes of requests are limited.
 */
export async function listenOnePort(options: OnePortOptions): Promise<OnePort> {
  const { rpc, timers, crossSite, openPaths = [] } = options;
  const limits: PortLimits = { ...PORT_LIMITS, ...options.limits };
  const requestsCertificate = options.tls?.requestCert === true;
  const listener: RequestListener = (request, response) => {
    const problem = crossSite && findCrossSiteProblem(sentRequest(request), crossSite);
    if (problem) {
      response.writeHead(problem.status, { "content-type": "text/plain" }).end(`${problem.message}; ${problem.fix}
`);
      return;
    }
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    if (openPaths.includes(path) || clientAuthOf(request.socket, requestsCertificate) !== "anonymous")
      options.http(request, response);
    else response.writeHead(403, { "content-type": "text/plain" }).end("A client certificate is required.\n");
  };
  const http = createHttpServer(httpTimeouts(limits), listener);
  // It never listens itself, but Node starts to check its timeouts on this event.
  http.emit("listening");
  const injector = createInjector(rpc.grpc, RpcServer.injected, http2Options(limits));
  const http2 = shareHttp2(rpc.grpc, listener, (stream, path, isGrpc) => {
    limitRequestTime(stream, isGrpc && rpc.readsStream(path), limits, timers);
    if (isGrpc) limitRequestBytes(stream, rpc.requestBytes);
  });
  limitIdleTime(http2, limits, timers);
  const toHttp = (socket: Socket): boolean => http.emit("connection", socket);
  const sockets = new Set<Socket>();
  const serve = (socket: Socket): void => {
    socket.on("error", () => socket.destroy());
    if (clientAuthOf(socket, requestsCertificate) === "invalid") {
      socket.destroy();
      return;
    }
    const protocol = (socket as Partial<TLSSocket>).alpnProtocol;
    if (protocol === "h2") injector.injectConnection(socket);
    else if (protocol === "http/1.1") toHttp(socket);
    else {
      const timeout = { timers, timeoutMs: limits.headersTimeoutMs };
      detectProtocol(socket, timeout, (isHttp2) => (isHttp2 ? injector.injectConnection(socket) : toHttp(socket)));
    }
  };
  const tlsOptions = { handshakeTimeout: limits.headersTimeoutMs, ALPNProtocols: ["h2", "http/1.1"] };
  const tlsServer = options.tls && createTlsServer({ ...tlsOptions, ...options.tls }, serve);
  tlsServer?.on("tlsClientError", (_error, socket) => socket.destroy());
  const connectionLimit = new ConnectionLimit(limits);
  const server = createTcpServer((socket) => {
    const exceeded = connectionLimit.enter(socket);
    socket.on("error", () => socket.destroy());
    if (exceeded !== undefined) {
      rpc.metrics.connectionsRejected.add(1, { limit: exceeded });
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    if (tlsServer) tlsServer.emit("connection", socket);
    else serve(socket);
  });
  await listen(server, options);
  const { address, port } = server.address() as AddressInfo;
  return {
    host: address,
    port,
    setTls: (tls) => tlsServer?.setSecureContext(tls),
    close: async (graceMs) => {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      http.closeIdleConnections();
      // Send GOAWAY: clients open new connections for further calls, and the responses of running ones are delivered.
      injector.drain(graceMs + CLOSE_GRACE_MS);
      await rpc.drain(graceMs);
      await Promise.race([closed, sleep(timers, CLOSE_GRACE_MS)]);
      rpc.grpc.forceShutdown();
      for (const socket of sockets) socket.destroy();
      http.close();
      await closed;
    },
  };
}

function httpTimeouts({ headersTimeoutMs, requestTimeoutMs }: PortLimits): HttpServerOptions {
  return {
    headersTimeout: headersTimeoutMs,
    requestTimeout: Math.max(headersTimeoutMs, requestTimeoutMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(headersTimeoutMs, 5_000),
  };
}

/** Limits of HTTP/2. Node itself ends sessions that flood it with resets, pings or settings. */
function http2Options({ streamsPerConnection }: PortLimits): ServerOptions {
  return {
    settings: { maxConcurrentStreams: streamsPerConnection, maxHeaderListSize: MAX_HEADER_BYTES },
    maxSessionMemory: MAX_SESSION_MIB,
    maxSessionInvalidFrames: 100,
  };
}

/** Detects the protocol from the first bytes and puts them back. */
function detectProtocol(
  socket: Socket,
  { timers, timeoutMs }: { readonly timers: Timers; readonly timeoutMs: number },
  onDetected: (isHttp2: boolean) => void,
): void {
  let received = Buffer.alloc(0);
  const timer = timers.after(timeoutMs, () => socket.destroy());
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
  const reason = error.code === "EADDRINUSE" ? "the address is in use; choose another port" : error.message;
  return failedPrecondition(`${host}:${port}`, `cannot listen on ${host}:${port}: ${reason}`, { cause: error });
}
