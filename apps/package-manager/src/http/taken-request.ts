import { headerOf, listOf, type Exchange } from "./exchange.ts";
import type { Incoming } from "./pipeline.ts";

/** A request that the server took in; whatever nobody asks for is not worked out. */
export class TakenRequest implements Incoming {
  readonly method: string;
  readonly url: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly #exchange: Exchange;

  constructor(
    exchange: Exchange,
    { parameters, body }: { readonly parameters: Readonly<Record<string, string>>; readonly body: Buffer },
  ) {
    this.method = exchange.method;
    this.url = exchange.url;
    this.parameters = parameters;
    this.body = body;
    this.#exchange = exchange;
  }

  get address(): string {
    return this.#exchange.address;
  }

  get query(): string {
    const at = this.url.indexOf("?");
    return at === -1 ? "" : this.url.slice(at + 1);
  }

  get gone(): AbortSignal {
    return this.#exchange.gone;
  }

  header(name: string): string | undefined {
    return headerOf(this.#exchange, name);
  }

  list(name: string): string | undefined {
    return listOf(this.#exchange, name);
  }
}
