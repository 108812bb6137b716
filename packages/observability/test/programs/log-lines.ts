/** Logs many lines as JSON to standard output; the tests take its reader away. Says on standard error when done. */
import { realAmbient } from "@oaas/foundation/real";
import { createObservability } from "@oaas/observability/node";

// Node puts a pipe into non-blocking mode as soon as it makes a stream of it.
if (process.argv[3] === "non-blocking") void process.stdout.writableLength;
const count = Number(process.argv[2] ?? "1");
const observability = await createObservability({
  service: "test",
  version: "0",
  ambient: realAmbient,
  log: { level: "info", format: "auto", isTerminal: false },
});
for (let index = 0; index < count; index += 1) observability.log.info("line", { index, padding: "x".repeat(200) });
await observability.close();
process.stderr.write("done\n");
