import { openSync } from "node:fs";
import path from "node:path";
import openapi from "@oaas/contracts/openapi.json" with { type: "json" };
import { createFdDestination, createObservability } from "@oaas/observability/node";
import { runService } from "@oaas/service-shell";
import { openSqliteStore } from "@oaas/storage/sqlite";
import { loggedProgress, terminalProgress } from "./adapters/progress.ts";
import { startApp } from "./app.ts";
import { devStackConfig } from "./config.ts";
import { readyScreen } from "./screen.ts";
import { VERSION } from "./version.ts";

// Whoever started us through a channel (npm start does) may be killed; then nobody is left to stop us.
if (process.connected) {
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
}

await runService({
  service: "oaas-dev-stack",
  version: VERSION,
  config: devStackConfig,
  // Also when its terminal is closed: it belongs to the person in front of it.
  signals: ["SIGINT", "SIGTERM", "SIGHUP"],
  start: async (config, { ambient, env, isTerminal, observability }) => {
    const { log: logger, context, meter } = observability;
    const dataDir = path.resolve(config.dataDir);
    const progress = isTerminal ? terminalProgress(process.stdout) : loggedProgress(logger);
    const observe = (logFile: string) => {
      const destination = createFdDestination(openSync(logFile, "a"));
      const log = { level: config.log.level, format: "plain", destination, isTerminal: false } as const;
      return createObservability({ service: "oprc-crm", version: VERSION, ambient, log });
    };
    // Loaded on demand: without a cluster the stack is there at once.
    const real = config.noCluster ? undefined : await import("./adapters/real-clusters.ts");
    const clusters = real?.realClusters({ config: config.cluster, dataDir, logger, env, ambient, observe }) ?? [];
    const store = openSqliteStore({ ambient, file: path.join(dataDir, "store.sqlite") });
    const app = await startApp(config, VERSION, {
      ambient,
      store,
      logger,
      context,
      metricsText: () => meter.text(),
      openapi: () => JSON.stringify(openapi),
      clusters,
      progress,
    })
      .catch(async (thrown: unknown) => {
        await store.close();
        throw thrown;
      })
      .finally(() => progress.end());
    const { url, starts } = app;
    const state = await app.look();
    if (isTerminal) {
      const kubectl = real?.kubectlCommand() ?? "kubectl";
      process.stdout.write(readyScreen({ url, dataDir, starts, clusters: state, kubectl }));
    } else logger.info("the local stack is up", { url, start: starts.count, clusters: state });
    return app;
  },
});
