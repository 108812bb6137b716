import type { Socket } from "node:net";
import { constants, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { KeyedLimit, limitValue, resourceExhausted, type Limit, type Timers } from "@oaas/foundation";
import { plainAddress } from "./server-call.ts";

/** Limits of a port, so that no client can exhaust the process. */
export interface PortLimits {
  /** Open connections; further ones are closed at once. */
  readonly connections: number;
  /** Open connections of one address; further ones are closed at once. */
  readonly connectionsPerAddress: number;
  /** Concurrent HTTP/2 streams of a connection. gRPC clients queue further calls. */
  readonly streamsPerConnection: number;
  /** Time to send the first bytes, complete a TLS handshake, or send the headers of a request. */
  readonly headersTimeoutMs: number;
  /** Time to send a request. Streams in which the client sends several messages end after this time without any. */
  readonly requestTimeoutMs: number;
  /** Time after which an HTTP/2 connection without a stream is closed. */
  readonly idleTimeoutMs: number;
}

export const PORT_LIMITS: PortLimits = {
  connections: 1_024,
  connectionsPerAddress: 256,
  streamsPerConnection: 256,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  idleTimeoutMs: 300_000,
};

/** Counts the open connections of each address. */
export class ConnectionLimit {
  readonly #maxOpen: number;
  readonly #byAddress: KeyedLimit;
  #open = 0;

  constructor({ connections, connectionsPerAddress }: PortLimits) {
    this.#maxOpen = connections;
    this.#byAddress = new KeyedLimit(connectionsPerAddress);
  }

  /** Counts a connection until it closes. Returns the exceeded limit, if any; then it is not counted. */
  enter(socket: Socket): "connections" | "address" | undefined {
    if (this.#open >= this.#maxOpen) return "connections";
    const leave = this.#byAddress.enter(plainAddress(socket.remoteAddress ?? ""));
    if (leave === undefined) return "address";
    this.#open += 1;
    socket.once("close", () => {
      this.#open -= 1;
      leave();
    });
    return undefined;
  }
}

/** Limits the running calls of each caller. */
export class CallerLimit {
  readonly #calls: KeyedLimit;

  constructor(limit: Limit) {
    this.#calls = new KeyedLimit(limit);
  }

  /** Counts a call until the returned function is called. Throws resource-exhausted at the limit. */
  enter(caller: string): () => void {
    const end = this.#calls.enter(caller);
    if (end) return end;
    const message = `${caller} has ${this.#calls.limit} running calls, the limit per caller; try again later`;
    throw resourceExhausted("running calls per caller", message);
  }
}

/** Limits the bytes of requests that are in memory at the same time. */
export class ByteLimit {
  readonly #limit: Limit;
  #bytes = 0;

  constructor(limit: Limit) {
    this.#limit = limit;
  }

  /** Counts bytes if they are within the limit. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > limitValue(this.#limit)) return false;
    this.#bytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/**
 * Resets a stream whose client does not complete its request in time. `sendsMany`: the client sends several messages,
 * so that only the time between two of them counts.
 */
export function limitRequestTime(
  stream: ServerHttp2Stream,
  sendsMany: boolean,
  { requestTimeoutMs }: PortLimits,
  timers: Timers,
): void {
  const reset = (): void => {
    // The state of the protocol: grpc-js does not read the end of a request while its handler runs.
    if (!stream.destroyed && stream.state.remoteClose !== 1) stream.close(constants.NGHTTP2_CANCEL);
  };
  let timer = timers.after(requestTimeoutMs, reset);
  if (sendsMany) {
    stream.prependListener("data", () => {
      timer.cancel();
      timer = timers.after(requestTimeoutMs, reset);
    });
  }
  stream.once("close", () => timer.cancel());
}

/** Counts the bytes of a request until its stream closes, and resets the stream at the limit. */
export function limitRequestBytes(stream: ServerHttp2Stream, limit: ByteLimit): void {
  let taken = 0;
  // Prepended, because a listener added with `on` starts the flow of data.
  stream.prependListener("data", (chunk: Buffer) => {
    // The response of a rejected call has ended: grpc-js discards the rest of its request.
    if (stream.writableEnded) return;
    if (limit.take(chunk.length)) taken += chunk.length;
    else stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });
  stream.once("close", () => limit.release(taken));
}

/** Time for a client to leave an idle connection after the server has announced its end. */
const LEAVE_MS = 500;

/** Closes sessions that have had no stream for the idle timeout, also those whose client ignores GOAWAY. */
export function limitIdleTime(http2: Http2Server, { idleTimeoutMs }: PortLimits, timers: Timers): void {
  http2.on("session", (session: ServerHttp2Session) => {
    let streams = 0;
    const close = (): void => {
      session.close();
      timer = timers.after(LEAVE_MS, () => session.destroy());
    };
    let timer = timers.after(idleTimeoutMs, close);
    session.on("stream", (stream: ServerHttp2Stream) => {
      streams += 1;
      timer.cancel();
      stream.once("close", () => {
        streams -= 1;
        if (streams === 0 && !session.closed) timer = timers.after(idleTimeoutMs, close);
      });
    });
    session.once("close", () => timer.cancel());
  });
}
