import { proposeCompletions, run } from "@stricli/core";
import { application } from "./app.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import type { World } from "./world.ts";

/** Where completion scripts ask; not for people, and so not in the help. */
const COMPLETE = "__complete";

/** Runs one command line and answers how it ended. */
export async function runCli(argv: readonly string[], world: World, version: string): Promise<ExitCode> {
  const app = application(version);
  const { terminal, env } = world;
  let ended: ExitCode | undefined;
  const process = {
    stdout: { write: (text: string) => terminal.out(text) },
    stderr: { write: (text: string) => terminal.err(text) },
    env,
    exitCode: undefined as number | string | null | undefined,
  };
  const context = {
    process,
    world,
    ended: (code: ExitCode) => {
      ended = code;
    },
  };
  if (argv[0] === COMPLETE) {
    const words = await proposeCompletions(app, argv.slice(1), context as never);
    terminal.out(words.map(({ completion }) => `${completion}\n`).join(""));
    return EXIT.done;
  }
  await run(app, argv.length === 0 ? ["--help"] : argv, context as never);
  // Without an end of its own the command line was not understood, or was help.
  return ended ?? (process.exitCode === 0 || process.exitCode === undefined ? EXIT.done : EXIT.usage);
}
