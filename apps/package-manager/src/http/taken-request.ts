import type { FastifyReply, FastifyRequest } from "fastify";
import type { Incoming } from "./pipeline.ts";

const EMPTY = Buffer.alloc(0);

/** A request that Fastify took in; whatever nobody asks for is not worked out. */
export class TakenRequest implements Incoming {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  #gone: AbortSignal | undefined;

  constructor(request: FastifyRequest, reply: FastifyReply) {
    this.#request = request;
    this.#reply = reply;
  }

  get method(): string {
    return this.#request.method;
  }

  get url(): string {
    return this.#request.url;
  }

  get address(): string {
    return this.#request.ip;
  }

  get parameters(): Readonly<Record<string, string>> {
    return this.#request.params as Record<string, string>;
  }

  get query(): unknown {
    return this.#request.query;
  }

  get body(): Uint8Array {
    return (this.#request.body as Buffer | undefined) ?? EMPTY;
  }

  get gone(): AbortSignal {
    return (this.#gone ??= this.#watchClient());
  }

  header(name: string): string | undefined {
    return headerOf(this.#request, name);
  }

  #watchClient(): AbortSignal {
    const { raw } = this.#reply;
    const gone = new AbortController();
    const look = (): void => {
      if (!raw.writableEnded) gone.abort();
    };
    if (raw.destroyed) look();
    else raw.once("close", look);
    return gone.signal;
  }
}

/** A header, the first one when it was sent more than once. */
export function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
