import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { AnswerBody, Exchange } from "../exchange.ts";
import { headText } from "./head-text.ts";
import { readPlainRequest, type PlainRequest } from "./plain-request.ts";

/** What a connection needs of whoever accepted it. */
export interface PlainHost {
  readonly maxBodyBytes: number;
  /** Serves a request; false when it is none for this place, and nothing was done. */
  serve(exchange: Exchange): boolean;
  /** Gives the connection to Node's server, which reads it from here on. */
  handOn(socket: Socket, unread: Buffer): void;
  /** Milliseconds that never go back. */
  now(): number;
  /** The value of the header Date. */
  date(): string;
  left(connection: PlainConnection): void;
}

/**
 * A connection as long as it brings plain requests, one after another. What is not plain goes to Node's server with the connection.
 *
 * *Guarantees*: requests are answered in their order; while one is carried out nothing else is read, and nothing is read of a client
 * that does not take its answers.
 */
export class PlainConnection {
  readonly #socket: Socket;
  readonly #host: PlainHost;
  #current: PlainExchange | undefined;
  /** What came after the request that is carried out. */
  #unread: Buffer | undefined;
  #isReading = false;
  /** The last answer was sent, or Node's server reads from here on. */
  #isOver = false;
  #idleSince: number;
  #hasServed = false;

  constructor(socket: Socket, host: PlainHost) {
    this.#socket = socket;
    this.#host = host;
    this.#idleSince = host.now();
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("drain", this.#onDrain);
    socket.on("close", this.#onClose);
    socket.on("error", this.#onError);
  }

  /** Since when nothing is done for it; undefined while a request is carried out. */
  get idleSince(): number | undefined {
    return this.#current === undefined ? this.#idleSince : undefined;
  }

  /** Whether it ever brought a request. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  get socket(): Socket {
    return this.#socket;
  }

  /** Writes the answer to the request that is carried out, and goes on. */
  answered(status: number, head: readonly string[], body: AnswerBody | undefined, last: boolean): void {
    const socket = this.#socket;
    const text = headText(status, head, this.#host.date(), last);
    this.#current = undefined;
    if (socket.destroyed) return;
    if (body === undefined) socket.write(text, "latin1");
    else if (body.isLatin1 === true) socket.write(text + (body.content as string), "latin1");
    else {
      socket.cork();
      socket.write(text, "latin1");
      socket.write(body.content);
      socket.uncork();
    }
    this.#idleSince = this.#host.now();
    if (last) {
      this.#isOver = true;
      socket.destroySoon();
    } else if (this.#unread !== undefined || socket.writableNeedDrain) this.#readOn();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#unread = this.#unread === undefined ? chunk : Buffer.concat([this.#unread, chunk]);
    this.#readOn();
  };

  readonly #onDrain = (): void => {
    this.#readOn();
  };

  /** As with Node's server: who sends no more does not wait for an answer either. */
  readonly #onEnd = (): void => {
    this.#socket.destroySoon();
  };

  readonly #onClose = (): void => {
    this.#host.left(this);
    this.#current?.left();
  };

  readonly #onError = (): void => {
    this.#socket.destroy();
  };

  /** A loop, because an answer that is there at once comes back here before the one above it has returned. */
  #readOn(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#unread !== undefined && this.#mayRead()) this.#readRequest(this.#unread);
    this.#isReading = false;
    if (this.#isOver) return;
    if (this.#unread !== undefined || this.#socket.writableNeedDrain) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
  }

  #mayRead(): boolean {
    return !this.#isOver && this.#current === undefined && !this.#socket.writableNeedDrain && !this.#socket.destroyed;
  }

  #readRequest(bytes: Buffer): void {
    const request = readPlainRequest(bytes, this.#host.maxBodyBytes);
    if (request === undefined) {
      this.#handOn(bytes);
      return;
    }
    this.#unread = request.bytes === bytes.length ? undefined : bytes.subarray(request.bytes);
    const exchange = new PlainExchange(this, request);
    this.#current = exchange;
    if (this.#host.serve(exchange)) this.#hasServed = true;
    else {
      this.#current = undefined;
      this.#handOn(bytes);
    }
  }

  #handOn(bytes: Buffer): void {
    const socket = this.#socket;
    this.#isOver = true;
    this.#unread = undefined;
    socket.off("data", this.#onData);
    socket.off("end", this.#onEnd);
    socket.off("drain", this.#onDrain);
    socket.off("close", this.#onClose);
    this.#host.left(this);
    this.#host.handOn(socket, bytes);
    socket.off("error", this.#onError);
  }
}

class PlainExchange implements Exchange {
  readonly #connection: PlainConnection;
  readonly #request: PlainRequest;
  #gone: AbortController | undefined;
  #isAnswered = false;

  constructor(connection: PlainConnection, request: PlainRequest) {
    this.#connection = connection;
    this.#request = request;
  }

  get method(): string {
    return this.#request.method;
  }

  get url(): string {
    return this.#request.url;
  }

  get rawHeaders(): readonly string[] {
    return this.#request.rawHeaders;
  }

  get address(): string {
    return this.#connection.socket.remoteAddress ?? "";
  }

  get gone(): AbortSignal {
    this.#gone ??= new AbortController();
    if (this.#connection.socket.destroyed) this.#gone.abort();
    return this.#gone.signal;
  }

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  takeBody(_maxBytes: number, taken: (body: Buffer) => void): void {
    taken(this.#request.body);
  }

  answer(status: number, head: readonly string[], body?: AnswerBody, last = false): void {
    this.#connection.answered(status, head, body, last);
    this.#isAnswered = true;
  }

  stream(): ServerResponse {
    throw new Error("a stream is answered by Node's server: its requests are handed on");
  }

  abandon(): void {
    this.#connection.socket.destroy();
  }

  /** The client went without its answer. */
  left(): void {
    this.#gone?.abort();
  }
}
