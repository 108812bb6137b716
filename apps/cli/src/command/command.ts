import { buildCommand, type Command, type CommandContext, type FlagParametersForType } from "@stricli/core";
import { parseChoice, parseNonEmpty } from "./argument-parsers.ts";
import { completeDeployment, completeNames, completeValues, type Completer, type TypedArguments } from "./complete.ts";
import { outputFlag } from "./flags.ts";
import { parseDeploymentKey } from "./kinds.ts";
import type { ExitCode } from "../exit-code.ts";
import type { CommonFlags, Session } from "../session/session.ts";
import type { ProcessEnvironment } from "../process-environment.ts";

/** The context that Stricli passes to every command. */
export interface CliContext extends CommandContext {
  readonly environment: () => Promise<ProcessEnvironment>;
  /** Reports the exit code of the command. */
  readonly exit: (code: ExitCode) => void;
  /** During completion only. */
  readonly typed?: TypedArguments;
}

/** The handler of a command. Undefined as exit code means success. */
export type CommandHandler<F, A extends readonly (string | undefined)[]> = (
  session: Session,
  flags: F,
  ...args: A
) => Promise<ExitCode | undefined | void>;

interface Argument {
  readonly brief: string;
  readonly placeholder: string;
  readonly parse: (text: string) => string;
  readonly optional?: true;
  readonly proposeCompletions?: Completer;
}

/** Positional arguments: a fixed list or a variadic one. Stricli's own type does not infer optional arguments. */
type Positional<A extends readonly (string | undefined)[]> = (
  | { readonly kind: "tuple"; readonly parameters: readonly Argument[] }
  | { readonly kind: "array"; readonly parameter: Argument; readonly minimum?: number }
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
  readonly load: () => Promise<CommandHandler<F & CommonFlags, A>>;
}

const commonFlags = {
  context: {
    kind: "parsed",
    parse: String,
    optional: true,
    brief: "context to use; see oaas context list",
    placeholder: "name",
    proposeCompletions: completeNames("context"),
  },
  output: outputFlag,
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
      return async function (this: CliContext, flags: F & CommonFlags, ...args: A): Promise<void> {
        this.exit(await runCommand(await this.environment(), flags, (session) => run(session, flags, ...args)));
      };
    },
  };
  // Stricli's types cannot infer flags that are merged from two objects.
  return buildCommand(built as never);
}

/** One required positional argument. */
export function requiredArgument(brief: string, placeholder: string, complete?: Completer): Positional<[string]> {
  return { kind: "tuple", parameters: [argument(brief, placeholder, complete)] };
}

/** One or more positional arguments. */
export function requiredArguments(brief: string, placeholder: string): Positional<[string, ...string[]]> {
  return { kind: "array", parameter: argument(brief, placeholder), minimum: 1 };
}

/** One of some values. */
export function choiceArgument(brief: string, placeholder: string, ...values: readonly string[]): Positional<[string]> {
  const parse = parseChoice(...values);
  return { kind: "tuple", parameters: [{ ...argument(brief, placeholder, completeValues(...values)), parse }] };
}

/** A name or other text that must not be empty. */
export function argument(brief: string, placeholder: string, complete?: Completer): Argument {
  return {
    brief,
    placeholder,
    parse: parseNonEmpty,
    ...(complete === undefined ? {} : { proposeCompletions: complete }),
  };
}

/** Any number of positional arguments. */
export function optionalArguments(brief: string, placeholder: string, complete?: Completer): Positional<string[]> {
  return { kind: "array", parameter: argument(brief, placeholder, complete) };
}

/** The key of a deployment, also as `deployment/KEY`. */
export function deploymentArgument(brief = "key of the deployment"): Positional<[string]> {
  return {
    kind: "tuple",
    parameters: [{ brief, placeholder: "key", parse: parseDeploymentKey, proposeCompletions: completeDeployment }],
  };
}

/** One optional positional argument. */
export function optionalArgument(brief: string, placeholder: string, complete?: Completer): Positional<[string?]> {
  return { kind: "tuple", parameters: [{ ...argument(brief, placeholder, complete), optional: true }] };
}
