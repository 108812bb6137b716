import type { IncomingMessage, ServerResponse } from "node:http";
import { HEADERS } from "@oaas/contracts/rest";
import type { Timers } from "@oaas/foundation";
import { compressed, encodingFor, worthCompressing } from "./compression.ts";
import { sendEvents } from "./event-stream.ts";
import type { HttpReply } from "./handler.ts";
import { originHeaders } from "./origins.ts";
import type { Served } from "./pipeline.ts";

export interface AnswersOptions {
  readonly timers: Timers;
  readonly corsOrigins: readonly string[];
}

/** Headers of every answer, name by name: nothing of ours is to be guessed at, framed or kept by a proxy. */
const COMMON_HEADERS = [
  "x-content-type-options",
  "nosniff",
  "x-frame-options",
  "DENY",
  "referrer-policy",
  "no-referrer",
  "cache-control",
  "no-store",
];

const JSON_TYPE = "application/json; charset=utf-8";

/** Writes answers, each with one head and one body, or as a stream of events. */
export class Answers {
  readonly #options: AnswersOptions;
  readonly #streams = new Set<ServerResponse>();
  #leaving = false;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** Sends an answer. `last` ends the connection with it: what else the client sends is not read. */
  send(request: IncomingMessage, response: ServerResponse, { reply, correlationId }: Served, last = false): void {
    const head = [...COMMON_HEADERS, HEADERS.correlationId, correlationId];
    const { headers } = reply;
    for (const name in headers) head.push(name, headers[name] as string);
    if (this.#options.corsOrigins.length > 0) head.push(...originHeaders(request, this.#options.corsOrigins));
    if (last) head.push("connection", "close");
    if (reply.events) this.#stream(request, response, head, { ...reply, events: reply.events });
    else this.#whole(request, response, head, reply);
  }

  /** From now on every answer is the last one on its connection. A stream has no end of its own: its readers are let go and find another server. */
  leave(): void {
    this.#leaving = true;
    for (const response of this.#streams) response.destroy();
  }

  #whole(request: IncomingMessage, response: ServerResponse, head: string[], reply: HttpReply): void {
    const body = reply.json ?? reply.content?.text;
    if (body === undefined) {
      // A 204 has no length; every other answer says that it is empty, or the client would wait for chunks.
      if (reply.status !== 204) head.push("content-length", "0");
      this.#write(response, reply.status, head);
      return;
    }
    head.push("content-type", reply.content?.type ?? JSON_TYPE);
    const encoding = worthCompressing(body) ? encodingFor(request.headers["accept-encoding"]) : undefined;
    if (encoding === undefined) {
      const bytes = reply.jsonBytes ?? Buffer.byteLength(body);
      head.push("content-length", String(bytes));
      this.#write(response, reply.status, head, body, bytes);
      return;
    }
    void compressed(body, encoding).then(
      (bytes) => {
        head.push("content-encoding", encoding, "vary", "accept-encoding", "content-length", String(bytes.length));
        this.#write(response, reply.status, head, bytes);
      },
      () => response.destroy(),
    );
  }

  #write(response: ServerResponse, status: number, head: string[], body?: string | Buffer, bytes?: number): void {
    if (this.#leaving) head.push("connection", "close");
    response.writeHead(status, head);
    // As many bytes as characters: then each is one, and need not be looked at again to be written.
    if (typeof body === "string" && bytes === body.length) response.end(body, "latin1");
    else response.end(body);
  }

  #stream(
    request: IncomingMessage,
    response: ServerResponse,
    head: string[],
    { status, events }: { readonly status: number; readonly events: AsyncIterable<string> },
  ): void {
    head.push("content-type", "text/event-stream; charset=utf-8", "x-accel-buffering", "no");
    response.writeHead(status, head);
    if (request.method === "HEAD") {
      response.end();
      return;
    }
    this.#streams.add(response);
    void sendEvents(response, events, this.#options.timers).finally(() => this.#streams.delete(response));
  }
}
