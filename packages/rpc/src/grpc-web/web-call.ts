import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Metadata } from "@grpc/grpc-js";
import { METADATA_KEYS, parseGrpcTimeout } from "@oaas/contracts/grpc";
import { cancelled, Fault, resourceExhausted, type Clock } from "@oaas/foundation";
import type { ByteLimit } from "../port-limits.ts";
import { verifiedCertificate, type AnyServerCall, type CallError, type ForeignCall } from "../server-call.ts";
import { bodyLimit, contentTypeOf, decodeBody, encodeFrame, type WebEncoding } from "./web-encoding.ts";
import {
  encodeStatusMessage,
  FRAME_HEADER_BYTES,
  messageFrame,
  notOneMessage,
  onlyMessage,
  tooLarge,
  trailersFrame,
} from "./frames.ts";

export interface WebCallOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly encoding: WebEncoding;
  readonly clock: Clock;
  /** Headers of every response. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A gRPC-Web request with the interface of a grpc-js call.
 *
 * Guarantees: the response always ends with a trailers frame; a client that disconnects before it cancels the call; the
 * request is read up to the limit only.
 */
export class WebCall extends EventEmitter implements ForeignCall {
  readonly metadata: AnyServerCall["metadata"];
  cancelled = false;
  readonly #options: WebCallOptions;
  readonly #deadline: number;
  #ended = false;

  constructor(options: WebCallOptions) {
    super();
    this.#options = options;
    const { request, response, clock } = options;
    this.metadata = { get: (name) => [request.headers[name]].flat().filter((value) => value !== undefined) };
    const timeoutMs = parseGrpcTimeout(String(request.headers[METADATA_KEYS.timeout] ?? ""));
    this.#deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + timeoutMs;
    response.on("error", () => undefined);
    response.on("close", () => {
      this.emit("ended");
      if (this.#ended) return;
      this.cancelled = true;
      this.emit("cancelled");
    });
  }

  getDeadline(): number {
    return this.#deadline;
  }

  getPeer(): string {
    const { remoteAddress, remotePort } = this.#socket;
    return `${remoteAddress}:${remotePort}`;
  }

  getAuthContext(): ReturnType<AnyServerCall["getAuthContext"]> {
    const certificate = verifiedCertificate(this.#socket);
    return certificate ? { transportSecurityType: "ssl", sslPeerCertificate: certificate } : {};
  }

  sendMetadata(metadata: Metadata): void {
    const { response, headers, encoding } = this.#options;
    response.writeHead(200, {
      ...(metadata.getMap() as Record<string, string>),
      ...headers,
      "content-type": contentTypeOf(encoding),
      "cache-control": "no-store",
    });
    // The first message of a stream may come late; the client needs the headers now.
    response.flushHeaders();
  }

  /** Returns the request message. Throws a fault if it is invalid or too large. */
  async message(maxBytes: number, inFlight: ByteLimit): Promise<Buffer> {
    const { request, encoding } = this.#options;
    const limit = bodyLimit(encoding, maxBytes + FRAME_HEADER_BYTES);
    const chunks: Buffer[] = [];
    let bytes = 0;
    if (this.cancelled) throw cancelled();
    this.once("ended", () => inFlight.release(bytes));
    try {
      // Do not destroy a rejected request: the connection must still send the response.
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        if (bytes + chunk.length > limit) throw tooLarge(maxBytes);
        if (!inFlight.take(chunk.length))
          throw resourceExhausted("request bytes", "the server handles too many requests");
        bytes += chunk.length;
        chunks.push(chunk);
      }
    } catch (thrown) {
      // The client disconnected.
      throw thrown instanceof Fault ? thrown : cancelled({ cause: thrown });
    }
    const frames = decodeBody(encoding, Buffer.concat(chunks));
    if (frames === undefined) throw notOneMessage("is not base64");
    const message = onlyMessage(frames, maxBytes);
    if (!message.ok) throw message.error;
    return message.value;
  }

  write(message: Buffer, onSent?: () => void): void {
    const { response, encoding } = this.#options;
    response.write(encodeFrame(encoding, messageFrame(message)), onSent);
  }

  end(): void {
    this.#finish([["grpc-status", "0"]]);
  }

  fail(error: CallError): void {
    const details = Object.entries(error.metadata.toHttp2Headers()).flatMap(([name, values]) =>
      [values].flat().map((value) => [name, String(value)] as const),
    );
    this.#finish([
      ["grpc-status", String(error.code)],
      ["grpc-message", encodeStatusMessage(error.details)],
      ...details,
    ]);
  }

  #finish(trailers: readonly (readonly [string, string])[]): void {
    if (this.#ended || this.cancelled) return;
    this.#ended = true;
    const { request, response, encoding } = this.#options;
    response.end(encodeFrame(encoding, trailersFrame(trailers)));
    // Discard the rest of the request, so that the connection can be reused.
    request.resume();
  }

  get #socket(): Socket {
    return this.#options.request.socket;
  }
}
