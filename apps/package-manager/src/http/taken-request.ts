import type { IncomingMessage, ServerResponse } from "node:http";
import type { Incoming } from "./pipeline.ts";

/** A request that the server took in; whatever nobody asks for is not worked out. */
export class TakenRequest implements Incoming {
  readonly method: string;
  readonly url: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #gone: AbortSignal | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { parameters, body }: { readonly parameters: Readonly<Record<string, string>>; readonly body: Buffer },
  ) {
    this.method = request.method ?? "";
    this.url = request.url ?? "";
    this.parameters = parameters;
    this.body = body;
    this.#request = request;
    this.#response = response;
  }

  get address(): string {
    return this.#request.socket.remoteAddress ?? "";
  }

  get query(): string {
    const at = this.url.indexOf("?");
    return at === -1 ? "" : this.url.slice(at + 1);
  }

  get gone(): AbortSignal {
    return (this.#gone ??= this.#watchClient());
  }

  header(name: string): string | undefined {
    return headerOf(this.#request, name);
  }

  #watchClient(): AbortSignal {
    const response = this.#response;
    const gone = new AbortController();
    const look = (): void => {
      if (!response.writableEnded) gone.abort();
    };
    if (response.destroyed) look();
    else response.once("close", look);
    return gone.signal;
  }
}

/**
 * A header, the first one when it was sent more than once. Looked for among the lines as they came: most requests are asked for three or
 * four, and to sort all of them first would cost more than to answer.
 */
export function headerOf({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] as string;
    if (given.length === name.length && (given === name || given.toLowerCase() === name)) return rawHeaders[at + 1];
  }
  return undefined;
}

/** The path of a request, without its query. */
export function pathOf(url: string): string {
  const at = url.indexOf("?");
  return at === -1 ? url : url.slice(0, at);
}
