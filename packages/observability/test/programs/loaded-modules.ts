/** Prints which libraries a process loads that logs, measures and traces; with an endpoint as argument, tracing is on. */
import { registerHooks } from "node:module";
import { realAmbient } from "@oaas/foundation/real";

const loaded = new Set<string>();
registerHooks({
  load: (url, context, next) => {
    const library = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
    if (library !== undefined) loaded.add(library);
    return next(url, context);
  },
});
const { createObservability } = await import("@oaas/observability/node");
const endpoint = process.argv[2];
const observability = await createObservability({
  service: "test",
  version: "0",
  ambient: realAmbient,
  log: { level: "off", format: "json", isTerminal: false },
  ...(endpoint === undefined ? {} : { tracing: { endpoint, exportTimeoutMs: 500 } }),
});
observability.log.info("m");
observability.meter.counter({ name: "c", help: "h" }).add(1);
observability.tracer.start("s").end();
await observability.close(100);
process.stdout.write(JSON.stringify([...loaded].sort()));
