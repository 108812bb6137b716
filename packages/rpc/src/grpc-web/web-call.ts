import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Metadata } from "@grpc/grpc-js";
import { METADATA_KEYS, parseGrpcTimeout } from "@oaas/contracts/grpc";
import { cancelled, Fault, type Clock } from "@oaas/foundation";
import type { AnyServerCall, CallRefusal, ForeignCall } from "../server-call.ts";
import { bodyLimit, contentTypeOf, fromForm, inForm, type WebForm } from "./web-form.ts";
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
  readonly form: WebForm;
  readonly clock: Clock;
  /** Sent with every answer. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * One HTTP request that carries a gRPC call, in the shape the server knows.
 *
 * Guarantees: the answer always ends with a frame of trailers; a caller that goes away before that is a cancelled call; the request is read up to the limit and
 * no further.
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
    response.on("drain", () => void this.emit("drain"));
    response.on("close", () => {
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
    const socket = this.#socket as Partial<TLSSocket>;
    const certificate = socket.authorized ? socket.getPeerCertificate?.() : undefined;
    return certificate ? { transportSecurityType: "ssl", sslPeerCertificate: certificate } : {};
  }

  sendMetadata(metadata: Metadata): void {
    const { response, headers, form } = this.#options;
    response.writeHead(200, {
      ...(metadata.getMap() as Record<string, string>),
      ...headers,
      "content-type": contentTypeOf(form),
      "cache-control": "no-store",
    });
    // A stream may have nothing to say for long; its reader should know that it is open.
    response.flushHeaders();
  }

  /** The message of the request. Throws a fault when it is not one message, or is larger than allowed. */
  async message(maxBytes: number): Promise<Buffer> {
    const { request, form } = this.#options;
    const limit = bodyLimit(form, maxBytes + FRAME_HEADER_BYTES);
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      // A request that is refused half read is not destroyed: its connection still has to carry the answer.
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > limit) throw tooLarge(maxBytes);
        chunks.push(chunk);
      }
    } catch (thrown) {
      // The connection broke: nobody waits for an answer.
      throw thrown instanceof Fault ? thrown : cancelled({ cause: thrown });
    }
    const frames = fromForm(form, Buffer.concat(chunks));
    if (frames === undefined) throw notOneMessage("is not base64");
    const message = onlyMessage(frames, maxBytes);
    if (!message.ok) throw message.error;
    return message.value;
  }

  write(message: Buffer): boolean {
    return this.#options.response.write(inForm(this.#options.form, messageFrame(message)));
  }

  end(): void {
    this.#finish([["grpc-status", "0"]]);
  }

  refuse(refusal: CallRefusal): void {
    const details = Object.entries(refusal.metadata.toHttp2Headers()).flatMap(([name, values]) =>
      [values].flat().map((value) => [name, String(value)] as const),
    );
    this.#finish([
      ["grpc-status", String(refusal.code)],
      ["grpc-message", encodeStatusMessage(refusal.details)],
      ...details,
    ]);
  }

  #finish(trailers: readonly (readonly [string, string])[]): void {
    if (this.#ended || this.cancelled) return;
    this.#ended = true;
    const { request, response, form } = this.#options;
    response.end(inForm(form, trailersFrame(trailers)));
    // What was not read is thrown away, so that the connection can serve the next request.
    request.resume();
  }

  get #socket(): Socket {
    return this.#options.request.socket;
  }
}
