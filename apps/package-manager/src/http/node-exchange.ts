import type { IncomingMessage, ServerResponse } from "node:http";
import { COMMON_HEADERS, type AnswerBody, type Exchange } from "./exchange.ts";
import type { RefusedRequest } from "./read-request.ts";
import { takeBody } from "./take-body.ts";

/** A request that Node's server read. */
export class NodeExchange implements Exchange {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #gone: AbortSignal | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.method = request.method ?? "";
    this.url = targetOf(request.url ?? "");
    this.rawHeaders = request.rawHeaders;
    this.#request = request;
    this.#response = response;
  }

  get address(): string {
    return this.#request.socket.remoteAddress ?? "";
  }

  get gone(): AbortSignal {
    return (this.#gone ??= whenClosed(this.#response));
  }

  get isAnswered(): boolean {
    return this.#response.headersSent;
  }

  takeBody(maxBytes: number, taken: (body: Buffer | RefusedRequest) => void): void {
    takeBody(this.#request, maxBytes, taken);
  }

  answer(status: number, head: readonly string[], body?: AnswerBody, last = false): void {
    const response = this.#response;
    response.writeHead(
      status,
      last ? [...COMMON_HEADERS, ...head, "connection", "close"] : [...COMMON_HEADERS, ...head],
    );
    if (body?.isLatin1 === true) response.end(body.content, "latin1");
    else response.end(body?.content);
  }

  stream(status: number, head: readonly string[]): ServerResponse {
    return this.#response.writeHead(status, [...COMMON_HEADERS, ...head]);
  }

  abandon(): void {
    this.#response.destroy();
  }
}

/** A target may also come whole, as proxies are sent it; of ours only the path matters. */
function targetOf(url: string): string {
  return url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*(?=[/?]|$)/i, "").replace(/^(?=\?|$)/, "/");
}

function whenClosed(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const look = (): void => {
    if (!response.writableEnded) gone.abort();
  };
  if (response.destroyed) look();
  else response.once("close", look);
  return gone.signal;
}
