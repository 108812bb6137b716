import { createServer as createHttp1, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  createSecureServer,
  createServer as createHttp2,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from "node:http2";
import { createServer as createTcp, type AddressInfo, type Server as TcpServer, type Socket } from "node:net";
import { Fault, isLoopbackHost } from "@oaas/foundation";
import type { Api } from "../api.ts";
import { DEFAULT_TIMEOUTS, http1Timeouts, limitIdleSession, limitSilence, type HttpTimeouts } from "./http-timeouts.ts";
import { serveRequest } from "./serve-request.ts";

export interface HttpOptions {
  /** 0 for any free port. */
  readonly port?: number;
  readonly host?: string;
  readonly tls?: TlsOptions;
  /** Whether the API has no authentication. Requests of web pages and of foreign hosts are then rejected. */
  readonly isOpen?: boolean;
  readonly timeouts?: HttpTimeouts;
}

/** A certificate for the host, its key, and the CA certificate, in PEM. */
export interface TlsOptions {
  readonly key: string;
  readonly certificate: string;
  readonly authority: string;
}

/** A listening server. */
export interface HttpListener {
  /** `http://127.0.0.1:port`, or `https://…`. */
  readonly url: string;
  /** Stops accepting connections and closes existing ones. Idempotent. */
  close(): Promise<void>;
}

type Serve = (request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse) => void;

/** How an HTTP/2 client without TLS begins. */
const PREFACE = "PRI * HTTP/2";

/** Serves an API over HTTP/1.1 and HTTP/2, on loopback by default. */
export async function listenHttp(api: Api, options: HttpOptions = {}): Promise<HttpListener> {
  const { port = 0, host = "127.0.0.1", tls, isOpen = false, timeouts = DEFAULT_TIMEOUTS } = options;
  const crossSite = isOpen ? { acceptsAddresses: !isLoopbackHost(host) } : undefined;
  const serve: Serve = (request, response) =>
    void serveRequest(api, request, response, { crossSite, bodyTimeoutMs: timeouts.requestMs });
  const server = tls === undefined ? createPlainServer(serve, timeouts) : createTlsServer(tls, serve, timeouts);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    socket.setNoDelay(true);
    // A client that disconnects causes an error, which can be ignored.
    socket.on("error", () => socket.destroy());
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await waitForListening(server, port, host);
  const { port: bound } = server.address() as AddressInfo;
  const scheme = tls === undefined ? "http" : "https";
  return {
    url: `${scheme}://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function waitForListening(server: TcpServer | Http2SecureServer, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.removeListener("error", reject);
      resolve();
    });
  }).catch((error: unknown) => {
    const reason = `cannot listen on ${host}:${port}; choose another port`;
    throw new Fault({ kind: "unavailable", dependency: `${host}:${port}` }, reason, { cause: error });
  });
}

function createTlsServer({ key, certificate }: TlsOptions, serve: Serve, timeouts: HttpTimeouts): Http2SecureServer {
  const handshakeTimeout = timeouts.headersMs;
  const server = createSecureServer({ key, cert: certificate, allowHTTP1: true, handshakeTimeout }, serve);
  // Apply to HTTP/1.1; missing in Node's types.
  Object.assign(server, http1Timeouts(timeouts));
  server.on("session", (session) => limitIdleSession(session, timeouts));
  // Failed handshakes are the client's problem.
  server.on("tlsClientError", () => undefined);
  return server;
}

/** One port for both protocols: the first bytes of a connection decide. */
function createPlainServer(serve: Serve, timeouts: HttpTimeouts): TcpServer {
  const http1: Server = createHttp1(http1Timeouts(timeouts), serve);
  // Node checks these timeouts from the moment a server listens, which this one never does itself.
  http1.emit("listening");
  const http2 = createHttp2(serve);
  http2.on("session", (session) => limitIdleSession(session, timeouts));
  const server = createTcp((socket) => {
    const endSilence = limitSilence(socket, timeouts);
    // Not in flowing mode: HTTP/2 would lose its first bytes.
    socket.once("readable", () => {
      endSilence();
      const first = socket.read() as Buffer | null;
      if (first === null) {
        socket.destroy();
        return;
      }
      socket.unshift(first);
      const isHttp2 = first.subarray(0, PREFACE.length).toString("latin1") === PREFACE;
      (isHttp2 ? http2 : http1).emit("connection", socket);
    });
  });
  return server.once("close", () => http1.close());
}
