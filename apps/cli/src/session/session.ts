import type { CallOptions, OperationId, Reply, RestClient } from "@oaas/contracts/rest";
import { chosenContext, type ChosenContext } from "../contexts/contexts-store.ts";
import { coloursFor, type Colours } from "../output/colours.ts";
import { formatOf, itemText, listText, type Format, type View } from "../output/format.ts";
import type { World } from "../world.ts";

/** Flags that every command has. */
export interface CommonFlags {
  readonly context?: string;
  readonly output?: string;
}

/** One call of the command line: who is asked, and how the answer is written. */
export class Session {
  readonly world: World;
  readonly colours: Colours;
  readonly format: Format;
  readonly #wanted: string | undefined;
  #client: Promise<RestClient> | undefined;

  constructor(world: World, flags: CommonFlags) {
    this.world = world;
    this.format = formatOf(flags.output ?? "table");
    this.colours = coloursFor(world.terminal.isLive, world.env);
    this.#wanted = flags.context;
  }

  /** Whether a person reads the result, not a program. */
  get isForPeople(): boolean {
    return this.format.as === "table" || this.format.as === "wide";
  }

  context(): Promise<ChosenContext> {
    return chosenContext(this.world, this.#wanted);
  }

  /** Calls the package manager. */
  async call<Id extends OperationId>(id: Id, options: CallOptions = {}): Promise<Reply<Id>> {
    this.#client ??= this.#connect();
    const client = await this.#client;
    return client.call(id, { signal: this.world.signal, ...options });
  }

  /** Every item of a paged list. */
  async all<Id extends OperationId>(id: Id, options: CallOptions = {}): Promise<Reply<Id>["value"]> {
    const items: unknown[] = [];
    let token: string | null = null;
    do {
      const page: Reply<Id> = await this.call(id, {
        ...options,
        query: { ...options.query, limit: PAGE, ...(token === null ? {} : { page_token: token }) },
      });
      items.push(...(page.value as readonly unknown[]));
      token = page.nextPageToken;
    } while (token !== null);
    return items as Reply<Id>["value"];
  }

  out(text: string): void {
    this.world.terminal.out(text);
  }

  /** What only people want to know; programs read the result alone. */
  note(text: string): void {
    if (this.isForPeople) this.world.terminal.err(text);
  }

  list<T>(items: readonly T[], view: View<T>): void {
    this.out(listText(items, view, this.format));
  }

  item<T>(item: T, view: View<T>, text?: () => string): void {
    this.out(itemText(item, view, this.format, text));
  }

  // The contract is loaded when somebody calls: `--help` must not wait for it.
  async #connect(): Promise<RestClient> {
    const { createRestClient } = await import("@oaas/contracts/rest");
    const { pmUrl, token } = await this.context();
    const { fetch, clock } = this.world;
    return createRestClient({ baseUrl: pmUrl, fetch, clock, ...(token === undefined ? {} : { token: () => token }) });
  }
}

const PAGE = 250;
