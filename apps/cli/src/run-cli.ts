import { ExitCode as StricliCode, run } from "@stricli/core";
import { application } from "./app.ts";
import { commandNames, findTarget, normalizeArguments } from "./command/command-line.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { usageErrorJson } from "./output/error-json.ts";
import type { ProcessEnvironment } from "./process-environment.ts";

/** Hidden command used by the completion scripts. */
const COMPLETE = "__complete";

/** The parts of the process that help and argument errors need, before a command is known. */
export interface CliHost {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  out(text: string): void;
  err(text: string): void;
  /** Loads everything else when a command runs. */
  environment(): Promise<ProcessEnvironment>;
}

/** Runs one command line and returns its exit code. */
export async function runCli(argv: readonly string[], host: CliHost): Promise<ExitCode> {
  const app = application(host.version);
  let exitCode: ExitCode | undefined;
  /** Errors in the arguments. A command prints its own through the terminal. */
  let errors = "";
  const process = {
    stdout: { write: (text: string) => host.out(text) },
    stderr: { write: (text: string) => void (errors += text) },
    env: host.env,
    exitCode: undefined as number | string | null | undefined,
  };
  const context = {
    process,
    environment: () => host.environment(),
    exit: (code: ExitCode) => {
      exitCode = code;
    },
  };
  if (argv[0] === COMPLETE) {
    const { completeLine } = await import("./command/complete-line.ts");
    const words = await completeLine(app, argv.slice(1), context);
    host.out(words.map((word) => `${word}\n`).join(""));
    return EXIT.done;
  }
  const words = normalizeArguments(app.root, argv);
  await run(app, words, context as never);
  if (exitCode !== undefined || process.exitCode === 0 || process.exitCode === undefined) {
    host.err(errors);
    return exitCode ?? EXIT.done;
  }
  // No command ran: the arguments are invalid.
  const { path, target } = findTarget(app.root, words);
  if (process.exitCode === StricliCode.UnknownCommand && !errors.includes("did you mean"))
    errors += `  commands: ${commandNames(target).join(", ")}\n`;
  const fix = `see ${["oaas", ...path, "--help"].join(" ")}`;
  const message = errors.trim().replace(/^error: /, "");
  host.err(wantsJson(words) ? usageErrorJson({ message, fix }) : `${errors}  hint: ${fix}\n`);
  return EXIT.usage;
}

function wantsJson(words: readonly string[]): boolean {
  return /(?:^| )(?:-o|--output)[ =]json(?: |$)/.test(words.join(" "));
}
