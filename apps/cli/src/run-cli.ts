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
  await run(app, argv.length === 0 ? ["--help"] : argv, context as never);
  // Without an end of its own the command line was not understood, or was help.
  return ended ?? (process.exitCode === 0 || process.exitCode === undefined ? EXIT.done : EXIT.usage);
}
