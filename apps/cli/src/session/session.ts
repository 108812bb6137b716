import type { CallOptions, OperationId, Reply, RestClient } from "@oaas/contracts/rest";
import { chosenContext, type ChosenContext } from "../contexts/contexts-store.ts";
import { coloursFor, type Colours } from "../output/colours.ts";
import { formatOf, itemText, listText, type Format, type View } from "../output/format.ts";
import type { World } from "../world.ts";
import { remedyOf } from "./remedy.ts";
import type { Fault } from "@oaas/foundation";

/** The global flags. */
export interface CommonFlags {
  readonly context?: string;
  readonly output?: string;
}

/** The result of a write to one object, as machine-readable output. */
export interface Outcome {
  readonly kind: string;
  readonly name: string;
  readonly result: string;
  readonly [more: string]: unknown;
}

/** One run of a command: the REST client of the selected context, and the output format. */
export class Session {
  readonly world: World;
  readonly colours: Colours;
  readonly format: Format;
  readonly #wanted: string | undefined;
  readonly #outcomes: Outcome[] = [];
  #client: Promise<RestClient> | undefined;

  private constructor(world: World, flags: CommonFlags, format: Format) {
    this.world = world;
    this.format = format;
    this.colours = coloursFor(world.terminal.isLive, world.env);
    this.#wanted = flags.context;
  }

  static async open(world: World, flags: CommonFlags): Promise<Session> {
    return new Session(world, flags, await formatOf(flags.output ?? "table"));
  }

  /** Whether the output is a table or text instead of a machine-readable format. */
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

  /** All items of a paged list. */
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

  /** Prints a note to standard error; omitted in machine-readable formats. */
  note(text: string): void {
    if (this.isForPeople) this.world.terminal.err(text);
  }

  list<T>(items: readonly T[], view: View<T>): void {
    this.out(listText(items, view, this.format));
  }

  item<T>(item: T, view: View<T>, text?: () => string): void {
    this.out(itemText(item, view, this.format, text));
  }

  /** Prints an outcome: as a line of text, or as the object itself. */
  done(outcome: Outcome, line = `${outcome.kind}/${outcome.name} ${outcome.result}\n`): void {
    const view = { kind: outcome.kind, nameOf: () => outcome.name, columns: [] };
    this.out(itemText(outcome, view, this.format, () => line));
  }

  /** Prints one of several outcomes as text at once, or collects it for `doneAll`. */
  doneOne(outcome: Outcome, line?: string): void {
    if (this.isForPeople) this.done(outcome, line);
    else this.#outcomes.push(outcome);
  }

  /** Prints the collected outcomes as one list in machine-readable formats. */
  doneAll(): void {
    if (this.isForPeople) return;
    const kinds = { kind: "", nameOf: ({ kind, name }: Outcome) => `${kind}/${name}`, columns: [] };
    this.out(listText(this.#outcomes, kinds, this.format));
  }

  /** A hint for faults that depend on the context in use. */
  async remedyOf(fault: Fault): Promise<string | undefined> {
    const context = await this.context().catch(() => undefined);
    return context && remedyOf(fault, context, this.world.clock.now());
  }

  // Loaded on the first call and without the contract schemas, which would dominate the start time of a short command.
  async #connect(): Promise<RestClient> {
    const { createPlainClient } = await import("@oaas/contracts/rest/plain");
    const { pmUrl, token } = await this.context();
    const { fetch, clock } = this.world;
    return createPlainClient({ baseUrl: pmUrl, fetch, clock, ...(token === undefined ? {} : { token: () => token }) });
  }
}

const PAGE = 250;
