import { enableCompileCache } from "node:module";
import { realWorld } from "./adapters/real-world.ts";
import { runCli } from "./run-cli.ts";

enableCompileCache();
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
// A reader that leaves early (`oaas … | head`) is no mistake.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
process.exitCode = await runCli(process.argv.slice(2), realWorld(stop.signal), "0.1.0");
