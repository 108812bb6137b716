import type { Fault } from "@oaas/foundation";
import type { CallOptions, OperationId, Reply, RestClient } from "@oaas/contracts/rest";
import { selectContext, type SelectedContext } from "../contexts/contexts-store.ts";
import { UsageError } from "../exit-code.ts";
import { createColours, type Colours } from "../output/colours.ts";
import { faultJson, usageErrorJson } from "../output/error-json.ts";
import { faultText, type FaultTextOptions } from "../output/fault-text.ts";
import { parseFormat, itemText, listText, type Format, type View } from "../output/format.ts";
import type { ProcessEnvironment } from "../process-environment.ts";
import { fixHint } from "./fix-hint.ts";

/** The global flags. */
export interface CommonFlags {
  readonly context?: string;
  readonly output?: string;
  /** Of `get` only. */
  readonly noHeaders?: boolean;
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
  readonly environment: ProcessEnvironment;
  readonly colours: Colours;
  readonly format: Format;
  readonly #contextName: string | undefined;
  readonly #outcomes: Outcome[] = [];
  readonly #warned = new Set<string>();
  #client: Promise<RestClient> | undefined;

  private constructor(environment: ProcessEnvironment, flags: CommonFlags, format: Format) {
    this.environment = environment;
    this.format = format;
    this.colours = createColours(environment.terminal.isInteractive, environment.env);
    this.#contextName = flags.context;
  }

  static async open(environment: ProcessEnvironment, flags: CommonFlags): Promise<Session> {
    return new Session(
      environment,
      flags,
      await parseFormat(flags.output ?? "table", { hasHeaders: flags.noHeaders !== true }),
    );
  }

  /** Whether the output is a table or text instead of a machine-readable format. */
  get isHumanOutput(): boolean {
    return this.format.as === "table" || this.format.as === "wide";
  }

  /** A command line to copy that uses the same context. */
  commandLine(words: string): string {
    return `oaas ${words}${this.#contextName === undefined ? "" : ` --context ${this.#contextName}`}`;
  }

  context(): Promise<SelectedContext> {
    return selectContext(this.environment, this.#contextName);
  }

  /** Calls the package manager. */
  async call<Id extends OperationId>(id: Id, options: CallOptions = {}): Promise<Reply<Id>> {
    this.#client ??= this.#connect();
    const client = await this.#client;
    const reply = await client.call(id, { signal: this.environment.signal, ...options });
    for (const warning of reply.warnings) this.#printWarning(warning);
    return reply;
  }

  /** All items of a paged list. */
  async listAll<Id extends OperationId>(id: Id, options: CallOptions = {}): Promise<Reply<Id>["value"]> {
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

  print(text: string): void {
    this.environment.terminal.out(text);
  }

  /** Prints a note to standard error; omitted in machine-readable formats. */
  printNote(text: string): void {
    if (this.isHumanOutput) this.environment.terminal.err(text);
  }

  /** Prints a warning of the package manager once. */
  #printWarning(text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.environment.terminal.err(`${this.colours.warn("warning:")} ${text}\n`);
  }

  /** Formats the error of one of several documents: as text, or as one JSON object in JSON output. */
  formatFault(fault: Fault, { hint, locate }: FaultTextOptions = {}): string {
    const located = locate === undefined ? {} : { locate };
    if (this.format.as === "json") return faultJson(fault, { fix: hint, ...located });
    return faultText(fault, this.colours, { hint, ...located });
  }

  /** Prints the errors of files, as text or JSON. */
  printUsageError(error: UsageError): void {
    const text = `${this.colours.bad("error:")} ${error.message}\n`;
    this.environment.terminal.err(this.format.as === "json" ? usageErrorJson(error) : text);
  }

  printList<T>(items: readonly T[], view: View<T>): void {
    this.print(listText(items, view, this.format));
  }

  printItem<T>(item: T, view: View<T>, text?: () => string): void {
    this.print(itemText(item, view, this.format, text));
  }

  /** Prints an outcome: as a line of text, or as the object itself. */
  printOutcome(outcome: Outcome, line = `${outcome.kind}/${outcome.name} ${outcome.result}\n`): void {
    const view = { kind: outcome.kind, nameOf: () => outcome.name, columns: [] };
    this.print(itemText(outcome, view, this.format, () => line));
  }

  /** Prints one of several outcomes as text at once, or collects it for `doneAll`. */
  recordOutcome(outcome: Outcome, line?: string): void {
    if (this.isHumanOutput) this.printOutcome(outcome, line);
    else this.#outcomes.push(outcome);
  }

  /** Prints the collected outcomes as one list in machine-readable formats. */
  printRecorded(): void {
    if (this.isHumanOutput) return;
    const kinds = { kind: "", nameOf: ({ kind, name }: Outcome) => `${kind}/${name}`, columns: [] };
    this.print(listText(this.#outcomes, kinds, this.format));
  }

  /** A hint for faults that depend on the context in use. */
  async fixHint(fault: Fault): Promise<string | undefined> {
    if (isAboutPrometheus(fault)) return PROMETHEUS_HINT;
    const context = await this.context().catch(() => undefined);
    const hint = context && fixHint(fault, context, this.environment.clock.now());
    return fault.detail.kind === "not-found" ? ((await this.#nearestName(fault.detail)) ?? hint) : hint;
  }

  /** The existing object whose name is closest to the one that was not found. */
  async #nearestName({ resource, name }: { readonly resource: string; readonly name: string }) {
    const { listNames } = await import("./list-names.ts");
    const { nearestName } = await import("@oaas/foundation");
    const nearest = nearestName(name, await listNames(this, resource));
    return nearest === undefined ? undefined : `did you mean ${nearest}?`;
  }

  // Loaded on the first call and without the contract schemas, which would dominate the start time of a short command.
  async #connect(): Promise<RestClient> {
    const { createPlainClient } = await import("@oaas/contracts/rest/plain");
    const { pmUrl, token } = await this.context();
    const { fetch, clock } = this.environment;
    return createPlainClient({ baseUrl: pmUrl, fetch, clock, ...(token === undefined ? {} : { token: () => token }) });
  }
}

const PAGE = 250;
const PROMETHEUS_HINT =
  "check that --prometheus is the address of a running server, and OAAS_PROMETHEUS_TOKEN if it needs a token";

/** The Prometheus client names the server by its URL. */
function isAboutPrometheus({ detail }: Fault): boolean {
  return detail.kind === "unavailable" && (detail.dependency === "Prometheus" || detail.dependency.startsWith("http"));
}

/** Asks for confirmation of a destructive action. Without a terminal, `--yes` is required. */
export async function confirm(session: Session, action: string, isConfirmed: boolean): Promise<boolean> {
  if (isConfirmed) return true;
  const { terminal } = session.environment;
  if (!terminal.canPrompt)
    throw new UsageError(
      `"${action}" needs confirmation, and standard input is not a terminal`,
      "repeat the command with --yes",
    );
  const answer = await terminal.prompt(`${action}? [y/N] `);
  if (/^y(?:es)?$/i.test(answer.trim())) return true;
  session.printNote("Cancelled.\n");
  return false;
}
