import { proposeCompletions, run } from "@stricli/core";
import { application } from "./app.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import type { World } from "./world.ts";

/** Where completion scripts ask; not for people, and so not in the help. */
const COMPLETE = "__complete";

/** What is needed before it is known which command runs, and whether one does at all. */
export interface Front {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  out(text: string): void;
  err(text: string): void;
  /** Everything else, loaded when a command runs. */
  world(): Promise<World>;
}

/** Runs one command line and answers how it ended. */
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
  // Without an end of its own the command line was help, or was not understood.
  if (process.exitCode === 0 || process.exitCode === undefined) return EXIT.done;
  front.err(`  try: ${["oaas", ...knownWords(app.root, words), "--help"].join(" ")}\n`);
  return EXIT.usage;
}

/** Flags that all commands have may also stand before the command, and `help` before what it is about. */
function asCommand(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  if (first === undefined) return ["--help"];
  if (first === "help") return [...rest, "--help"];
  if (/^--(?:context|output)=/.test(first) && rest.length > 0) return asCommand([...rest, first]);
  const [value, ...command] = rest;
  const isApart = /^(?:--context|--output|-o)$/.test(first) && value !== undefined && command.length > 0;
  return isApart ? asCommand([...command, first, value]) : argv;
}

/** The part of a command line that names a command. */
function knownWords(root: unknown, words: readonly string[]): readonly string[] {
  const [first = "", ...rest] = words;
  const next = (root as { getRoutingTargetForInput?: (word: string) => unknown }).getRoutingTargetForInput?.(first);
  return next === undefined ? [] : [first, ...knownWords(next, rest)];
}
