import type { Http2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";

/** Time limits of clients; the defaults are those of the real server, except for idle connections. */
export interface HttpTimeouts {
  /** For a connection to send the head of its first request, and for HTTP/1.1 that of any request. */
  readonly headersMs: number;
  /** For a client to send a whole request. Responses take as long as they need: watches are long. */
  readonly requestMs: number;
  /** For a connection without a request. */
  readonly idleMs: number;
}

export const DEFAULT_TIMEOUTS: HttpTimeouts = { headersMs: 32_000, requestMs: 60_000, idleMs: 120_000 };

/** The settings of Node's HTTP/1.1 server. */
export function http1Timeouts({ headersMs, requestMs, idleMs }: HttpTimeouts): Readonly<Record<string, number>> {
  return {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(headersMs, 5_000),
  };
}

/** Destroys a connection that sends nothing at all. Returns the function that ends the limit. */
export function limitSilence(socket: Socket, { headersMs }: HttpTimeouts): () => void {
  const timer = setTimeout(() => socket.destroy(), headersMs);
  const stop = (): void => clearTimeout(timer);
  socket.once("close", stop);
  return stop;
}

/** Closes an HTTP/2 session without a stream, also one that sends an endless head: Node has no timeout for it. */
export function limitIdleSession(session: Http2Session, { headersMs, idleMs }: HttpTimeouts): void {
  const closeAfter = (ms: number): NodeJS.Timeout => setTimeout(() => session.close(), ms);
  let timer = closeAfter(headersMs);
  let streams = 0;
  session.on("stream", (stream: ServerHttp2Stream) => {
    streams += 1;
    clearTimeout(timer);
    stream.once("close", () => {
      streams -= 1;
      if (streams === 0 && !session.closed) timer = closeAfter(idleMs);
    });
  });
  session.once("close", () => clearTimeout(timer));
}
