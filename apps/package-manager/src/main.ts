import { runService } from "@oaas/service-shell";
import { fetchJson } from "./adapters/fetch-json.ts";
import { openStore } from "./adapters/open-store.ts";
import { followTokens } from "./adapters/token-table.ts";
import { shouldSupervise, startWorkers } from "./adapters/workers.ts";
import { startApp } from "./app.ts";
import { pmConfig } from "./config.ts";
import { VERSION } from "./version.ts";

await runService({
  service: "oprc-pm",
  version: VERSION,
  config: pmConfig,
  start: async (config, { ambient, observability }) => {
    const { log, meter, context } = observability;
    const { workers } = config.server;
    if (shouldSupervise(workers)) return startWorkers(workers, ambient.timers, log);
    const { tokensFile } = config.auth;
    const tokens = tokensFile === undefined ? () => undefined : followTokens(tokensFile, ambient.clock, log);
    const store = openStore(config, ambient, log);
    const app = await startApp(config, {
      ambient,
      store,
      tokens,
      fetchJson,
      logger: log,
      meter,
      metricsText: () => meter.text(),
      metricsType: meter.contentType,
      context,
    }).catch(async (thrown: unknown) => {
      await store.close();
      throw thrown;
    });
    for (const warning of app.warnings) log.warn(warning);
    log.info("the package manager listens", { host: app.host, port: app.port, grpc_port: app.grpcPort });
    return {
      close: async () => {
        await app.close();
        await store.close();
      },
    };
  },
});
