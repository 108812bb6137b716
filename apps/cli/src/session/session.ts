import type { CallOptions, OperationId, Reply, RestClient } from "@oaas/contracts/rest";
import { chosenContext, type ChosenContext } from "../contexts/contexts-store.ts";
import { coloursFor, type Colours } from "../output/colours.ts";
import { formatOf, itemText, listText, type Format, type View } from "../output/format.ts";
import type { World } from "../world.ts";
import { remedyOf } from "./remedy.ts";
import type { Fault } from "@oaas/foundation";

/** Flags that every command has. */
export interface CommonFlags {
  readonly context?: string;
  readonly output?: string;
}

/** What became of one thing, as programs read it. */
export interface Outcome {
  readonly kind: string;
  readonly name: string;
  readonly result: string;
  readonly [more: string]: unknown;
}

/** One call of the command line: who is asked, and how the answer is written. */
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

  /** What a command did to one thing: a line for people (its kind, name and result, unless told otherwise), or the outcome itself. */
  done(outcome: Outcome, line = `${outcome.kind}/${outcome.name} ${outcome.result}\n`): void {
    const view = { kind: outcome.kind, nameOf: () => outcome.name, columns: [] };
    this.out(itemText(outcome, view, this.format, () => line));
  }

  /** The same of one of several: people see it at once, programs get a list of all when the command has ended. */
  doneOne(outcome: Outcome, line?: string): void {
    if (this.isForPeople) this.done(outcome, line);
    else this.#outcomes.push(outcome);
  }

  /** Writes the list of outcomes, for programs. */
  doneAll(): void {
    if (this.isForPeople) return;
    const kinds = { kind: "", nameOf: ({ kind, name }: Outcome) => `${kind}/${name}`, columns: [] };
    this.out(listText(this.#outcomes, kinds, this.format));
  }

  /** What the person should do about a fault that has to do with the platform in use. */
  async remedyOf(fault: Fault): Promise<string | undefined> {
    const context = await this.context().catch(() => undefined);
    return context && remedyOf(fault, context, this.world.clock.now());
  }

  // Loaded when somebody calls, and without the contract's schemas: they cost more than all else of a short command.
  async #connect(): Promise<RestClient> {
    const { createPlainClient } = await import("@oaas/contracts/rest/plain");
    const { pmUrl, token } = await this.context();
    const { fetch, clock } = this.world;
    return createPlainClient({ baseUrl: pmUrl, fetch, clock, ...(token === undefined ? {} : { token: () => token }) });
  }
}

const PAGE = 250;
