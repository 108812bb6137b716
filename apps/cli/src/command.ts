import { buildCommand, type Command, type CommandContext, type FlagParametersForType } from "@stricli/core";
import { named } from "./argument-words.ts";
import type { ExitCode } from "./exit-code.ts";
import type { CommonFlags, Session } from "./session/session.ts";
import type { World } from "./world.ts";

/** The context that Stricli passes to every command. */
export interface CliContext extends CommandContext {
  readonly world: () => Promise<World>;
  /** Reports the exit code of the command. */
  readonly ended: (code: ExitCode) => void;
}

/** The handler of a command. Undefined as exit code means success. */
export type Run<F, A extends readonly (string | undefined)[]> = (
  session: Session,
  flags: F,
  ...args: A
) => Promise<ExitCode | undefined | void>;

interface Argument {
  readonly brief: string;
  readonly placeholder: string;
  readonly parse: (text: string) => string;
  readonly optional?: true;
}

/** Positional arguments: a fixed list or a variadic one. Stricli's own type does not infer optional arguments. */
type Positional<A extends readonly (string | undefined)[]> = (
  | { readonly kind: "tuple"; readonly parameters: readonly Argument[] }
  | { readonly kind: "array"; readonly parameter: Argument }
) & {
  /** Phantom field that carries the argument types. */
  readonly types?: A;
};

interface CommandSpec<F extends object, A extends readonly (string | undefined)[]> {
  readonly brief: string;
  readonly examples: readonly string[];
  readonly flags: FlagParametersForType<F>;
  readonly aliases?: Readonly<Record<string, keyof F & string>>;
  readonly positional?: Positional<A>;
  /** Loads the handler on first use, so that help starts fast. */
  readonly load: () => Promise<Run<F & CommonFlags, A>>;
}

const commonFlags = {
  context: {
    kind: "parsed",
    parse: String,
    optional: true,
    brief: "context to use; see oaas context list",
    placeholder: "name",
  },
  output: {
    kind: "parsed",
    parse: String,
    optional: true,
    brief: "table, wide, json, yaml, name or jsonpath=TEMPLATE",
    placeholder: "format",
  },
} as const;

/** Builds a command with the global flags, examples in its help and uniform error output. */
export function command<F extends object = object, A extends readonly (string | undefined)[] = []>(
  spec: CommandSpec<F, A>,
): Command<CliContext> {
  const { brief, examples, flags, aliases = {}, positional, load } = spec;
  const built = {
    docs: { brief, fullDescription: `${brief}\n\nExamples:\n${examples.map((line) => `  ${line}`).join("\n")}` },
    parameters: {
      flags: { ...flags, ...commonFlags },
      aliases: { o: "output", ...aliases },
      ...(positional === undefined ? {} : { positional }),
    },
    loader: async () => {
      const [run, { runCommand }] = await Promise.all([load(), import("./run-command.ts")]);
      return async function (this: CliContext, given: F & CommonFlags, ...args: A): Promise<void> {
        this.ended(await runCommand(await this.world(), given, (session) => run(session, given, ...args)));
      };
    },
  };
  // Stricli's types cannot infer flags that are merged from two objects.
  return buildCommand(built as never);
}

export const yes = {
  kind: "boolean",
  brief: "do not ask for confirmation",
  default: false,
  withNegated: false,
} as const;
export const reason = {
  kind: "parsed",
  parse: String,
  optional: true,
  brief: "reason to record in the history",
  placeholder: "text",
} as const;
export const files = {
  kind: "parsed",
  parse: String,
  variadic: true,
  brief: "a file, a folder, or - for standard input; may be repeated",
  placeholder: "path",
} as const;
export const cluster = {
  kind: "parsed",
  parse: String,
  optional: true,
  brief: "in this cluster only",
  placeholder: "name",
} as const;

/** One required positional argument. */
export function one(brief: string, placeholder: string): Positional<[string]> {
  return { kind: "tuple", parameters: [{ brief, placeholder, parse: named }] };
}

/** One optional positional argument. */
export function maybe(brief: string, placeholder: string): Positional<[string?]> {
  return { kind: "tuple", parameters: [{ brief, placeholder, parse: named, optional: true }] };
}

/** Parses `90s`, `5m`, `2h` or a plain number of seconds. */
export function duration(text: string): number {
  const { count = "", unit = "s" } = /^(?<count>\d+)(?<unit>ms|s|m|h)?$/.exec(text)?.groups ?? {};
  const size = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[unit];
  if (count === "" || size === undefined) throw new Error(`"${text}" is not a duration, such as 90s, 5m or 2h`);
  return Number(count) * size;
}
