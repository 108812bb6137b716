/** Logs many JSON lines to standard output, then writes "done" to standard error. */
import { realAmbient } from "@oaas/foundation/real";
import { createObservability } from "@oaas/observability/node";

// Node makes a pipe non-blocking when it creates a stream for it.
if (process.argv[3] === "non-blocking") void process.stdout.writableLength;
const count = Number(process.argv[2] ?? "1");
const { log } = createObservability({
  service: "test",
  version: "0",
  ambient: realAmbient,
  log: { level: "info", format: "auto", isTerminal: false },
});
for (let index = 0; index < count; index += 1) log.info("line", { index, padding: "x".repeat(200) });
process.stderr.write("done\n");
