import type { ServerResponse } from "node:http";
import { HEADERS } from "@oaas/contracts/rest";
import type { Timers } from "@oaas/foundation";
import { compressed, encodingFor, worthCompressing } from "./compression.ts";
import { sendEvents } from "./event-stream.ts";
import { listOf, type AnswerBody, type Exchange } from "./exchange.ts";
import type { HttpReply } from "./handler.ts";
import { originHeaders } from "./origins.ts";
import { encodedEtag } from "./preconditions.ts";
import type { Served } from "./pipeline.ts";

export interface AnswersOptions {
  readonly timers: Timers;
  readonly corsOrigins: readonly string[];
}

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
  send(exchange: Exchange, { reply, correlationId }: Served, last = false): void {
    const head = [HEADERS.correlationId, correlationId];
    const { headers } = reply;
    for (const name in headers) head.push(name, headers[name] as string);
    if (this.#options.corsOrigins.length > 0) head.push(...originHeaders(exchange, this.#options.corsOrigins));
    if (reply.events) this.#stream(exchange, head, { ...reply, events: reply.events });
    else this.#whole(exchange, head, reply, last);
  }

  /** From now on every answer is the last one on its connection. A stream has no end of its own: its readers are let go and find another server. */
  leave(): void {
    this.#leaving = true;
    for (const response of this.#streams) response.destroy();
  }

  #whole(exchange: Exchange, head: string[], reply: HttpReply, last: boolean): void {
    const write = (body?: AnswerBody): void => exchange.answer(reply.status, head, body, last || this.#leaving);
    const content = reply.json ?? reply.content?.text;
    if (content === undefined) {
      // A 204 has no length, and that of a 304 would be the one of the body that is not sent; every other answer says that it is empty, or
      // the client would wait for chunks.
      if (reply.status !== 204 && reply.status !== 304) head.push("content-length", "0");
      write();
      return;
    }
    head.push("content-type", reply.content?.type ?? JSON_TYPE);
    const compressible = worthCompressing(content);
    if (compressible) head.push("vary", "accept-encoding");
    const encoding = compressible ? encodingFor(listOf(exchange, "accept-encoding")) : undefined;
    if (encoding === undefined) {
      const bytes = Buffer.byteLength(content);
      head.push("content-length", String(bytes));
      write({ content, isLatin1: typeof content === "string" && bytes === content.length });
      return;
    }
    void compressed(content, encoding).then(
      (bytes) => {
        for (let at = 0; at < head.length; at += 2)
          if (head[at] === HEADERS.etag) head[at + 1] = encodedEtag(head[at + 1] as string, encoding);
        head.push("content-encoding", encoding, "content-length", String(bytes.length));
        write({ content: bytes });
      },
      () => exchange.abandon(),
    );
  }

  #stream(
    exchange: Exchange,
    head: string[],
    { status, events }: { readonly status: number; readonly events: AsyncIterable<string> },
  ): void {
    head.push("content-type", "text/event-stream; charset=utf-8", "x-accel-buffering", "no");
    const response = exchange.stream(status, head);
    if (exchange.method === "HEAD") {
      response.end();
      return;
    }
    this.#streams.add(response);
    void sendEvents(response, events, this.#options.timers).finally(() => this.#streams.delete(response));
  }
}
