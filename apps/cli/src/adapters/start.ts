import { runCli } from "../run-cli.ts";
import type { ExitCode } from "../exit-code.ts";
import { VERSION } from "../front-page.cjs";
import { writeOut } from "./write-out.ts";

/** Runs the CLI in this Node process. The bundle stores everything behind this function as text and compiles it on use. */
export async function start(argv: readonly string[]): Promise<ExitCode> {
  return runCli(argv, {
    version: VERSION,
    env: process.env,
    out: (text) => writeOut(1, text),
    err: (text) => writeOut(2, text),
    world: async () => {
      const stop = new AbortController();
      process.once("SIGINT", () => stop.abort());
      return (await import("./real-world.ts")).realWorld(stop.signal);
    },
  });
}
