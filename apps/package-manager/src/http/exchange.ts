import type { ServerResponse } from "node:http";
import type { RefusedRequest } from "./read-request.ts";

/** An answer's body and how to send it. */
export interface AnswerBody {
  readonly content: string | Buffer;
  /** Every character of the text is one byte, which need not be looked at again to be written. */
  readonly isLatin1?: boolean;
}

/** One request and the way to answer it, whoever read it from the connection. Answered once. */
export interface Exchange {
  readonly method: string;
  /** Path and query, as they came. */
  readonly url: string;
  /** Name, value, name, value: as they came. */
  readonly rawHeaders: readonly string[];
  /** Of the client. */
  readonly address: string;
  /** Aborts when the client goes before it has its answer. */
  readonly gone: AbortSignal;
  /** Whether an answer has begun. */
  readonly isAnswered: boolean;
  /** Hands on the whole body, or why it is not taken. A client that goes before its end is told nothing, for nobody is there. */
  takeBody(maxBytes: number, taken: (body: Buffer | RefusedRequest) => void): void;
  /** Sends an answer; `head` is name, value, name, value. The `last` one ends the connection: what else the client sends is not read. */
  answer(status: number, head: readonly string[], body?: AnswerBody, last?: boolean): void;
  /** Begins an answer that has no end of its own. */
  stream(status: number, head: readonly string[]): ServerResponse;
  /** Ends the connection when what should become of the answer cannot be told any more. */
  abandon(): void;
}

/** Headers of every answer, name by name: nothing of ours is to be guessed at, framed or kept by a proxy. */
export const COMMON_HEADERS: readonly string[] = [
  "x-content-type-options",
  "nosniff",
  "x-frame-options",
  "DENY",
  "referrer-policy",
  "no-referrer",
  "cache-control",
  "no-store",
];

/** An idle connection is kept so long for the client's next request. */
export const KEEP_ALIVE_MS = 65_000;

/**
 * A header, the first one when it was sent more than once. Looked for among the lines as they came: most requests are asked for three or
 * four, and to sort all of them first would cost more than to answer.
 */
export function headerOf({ rawHeaders }: { readonly rawHeaders: readonly string[] }, name: string): string | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] as string;
    if (given.length === name.length && (given === name || given.toLowerCase() === name)) return rawHeaders[at + 1];
  }
  return undefined;
}

/** A header that is a list, whole: its parts may come in several lines (RFC 9110, 5.3). */
export function listOf({ rawHeaders }: { readonly rawHeaders: readonly string[] }, name: string): string | undefined {
  let list: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] as string;
    if (given.length !== name.length || given.toLowerCase() !== name) continue;
    const part = rawHeaders[at + 1] as string;
    list = list === undefined ? part : `${list}, ${part}`;
  }
  return list;
}

/** The path of a request, without its query. */
export function pathOf(url: string): string {
  const at = url.indexOf("?");
  return at === -1 ? url : url.slice(0, at);
}

/** Of a request that has none. */
export const NO_BODY: Buffer = Buffer.alloc(0);
