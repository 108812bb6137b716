import path from "node:path";
import openapi from "@oaas/contracts/openapi.json" with { type: "json" };
import { runService } from "@oaas/service-shell";
import { openSqliteStore } from "@oaas/storage/sqlite";
import { startApp } from "./app.ts";
import { devStackConfig } from "./config.ts";
import { PARTS } from "./parts.ts";
import { readyScreen } from "./screen.ts";
import { VERSION } from "./version.ts";

await runService({
  service: "oaas-dev-stack",
  version: VERSION,
  config: devStackConfig,
  // Also when its terminal is closed: it belongs to the person in front of it.
  signals: ["SIGINT", "SIGTERM", "SIGHUP"],
  start: async (config, { ambient, isTerminal, observability }) => {
    const dataDir = path.resolve(config.dataDir);
    const store = openSqliteStore({ ambient, file: path.join(dataDir, "store.sqlite") });
    const app = await startApp(config, VERSION, {
      ambient,
      store,
      logger: observability.log,
      context: observability.context,
      metricsText: () => observability.meter.text(),
      openapi: () => JSON.stringify(openapi),
    }).catch(async (thrown: unknown) => {
      await store.close();
      throw thrown;
    });
    if (isTerminal) process.stdout.write(readyScreen({ url: app.url, dataDir, starts: app.starts, parts: PARTS }));
    return app;
  },
});
