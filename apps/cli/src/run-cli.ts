import { proposeCompletions, run } from "@stricli/core";
import { application } from "./app.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import type { World } from "./world.ts";

/** Hidden command used by the completion scripts. */
const COMPLETE = "__complete";

/** The parts of the process that help and argument errors need, before a command is known. */
export interface Front {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  out(text: string): void;
  err(text: string): void;
  /** Loads everything else when a command runs. */
  world(): Promise<World>;
}

/** Runs one command line and returns its exit code. */
export async function runCli(argv: readonly string[], front: Front): Promise<ExitCode> {
  const app = application(front.version);
  let ended: ExitCode | undefined;
  const process = {
    stdout: { write: (text: string) => front.out(text) },
    stderr: { write: (text: string) => front.err(text) },
    env: front.env,
    exitCode: undefined as number | string | null | undefined,
  };
  const context = {
    process,
    world: () => front.world(),
    ended: (code: ExitCode) => {
      ended = code;
    },
  };
  if (argv[0] === COMPLETE) {
    const words = await proposeCompletions(app, argv.slice(1), context as never);
    front.out(words.map(({ completion }) => `${completion}\n`).join(""));
    return EXIT.done;
  }
  const words = asCommand(argv);
  await run(app, words, context as never);
  if (ended !== undefined) return ended;
  // No command ran: the arguments asked for help or were invalid.
  if (process.exitCode === 0 || process.exitCode === undefined) return EXIT.done;
  front.err(`  try: ${["oaas", ...knownWords(app.root, words), "--help"].join(" ")}\n`);
  return EXIT.usage;
}

/** Moves global flags behind the command, and turns `help <command>` into `<command> --help`. */
function asCommand(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  if (first === undefined) return ["--help"];
  if (first === "help") return [...rest, "--help"];
  if (/^--(?:context|output)=/.test(first) && rest.length > 0) return asCommand([...rest, first]);
  const [value, ...command] = rest;
  const isApart = /^(?:--context|--output|-o)$/.test(first) && value !== undefined && command.length > 0;
  return isApart ? asCommand([...command, first, value]) : argv;
}

/** The leading words that name a command. */
function knownWords(root: unknown, words: readonly string[]): readonly string[] {
  const [first = "", ...rest] = words;
  const next = (root as { getRoutingTargetForInput?: (word: string) => unknown }).getRoutingTargetForInput?.(first);
  return next === undefined ? [] : [first, ...knownWords(next, rest)];
}
