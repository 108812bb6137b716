import { runCli } from "../run-cli.ts";
import type { ExitCode } from "../exit-code.ts";
import { VERSION } from "../root-help.cjs";
import { writeSyncTo } from "./write-sync.ts";

/**
 * Runs the CLI in this Node process. The bundle stores everything behind this function as text and compiles it on use.
 */
export async function start(argv: readonly string[]): Promise<ExitCode> {
  return runCli(argv, {
    version: VERSION,
    env: process.env,
    out: (text) => writeSyncTo(1, text),
    err: (text) => writeSyncTo(2, text),
    environment: async () => {
      const stop = new AbortController();
      process.once("SIGINT", () => stop.abort());
      return (await import("./node-environment.ts")).createNodeEnvironment(stop.signal);
    },
  });
}
