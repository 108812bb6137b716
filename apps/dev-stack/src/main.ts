import { openSync } from "node:fs";
import path from "node:path";
import { createFdDestination, createObservability } from "@oaas/observability/node";
import { runService } from "@oaas/service-shell";
import { openSqliteStore } from "@oaas/storage/sqlite";
import { shopExample } from "./adapters/examples.ts";
import { loggedProgress, terminalProgress } from "./adapters/progress.ts";
import type { RunningApp } from "./app.ts";
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
    const observe = (service: string, logFile: string) => {
      const destination = createFdDestination(openSync(logFile, "a"));
      const log = { level: config.log.level, format: "plain", destination, isTerminal: false } as const;
      return createObservability({ service, version: VERSION, ambient, log });
    };
    // Loaded on demand: help and a wrong flag are told at once, and without clusters the stack is there at once.
    const [{ startApp }, { packageManagerOf }, { StackPlatform }, stack] = await Promise.all([
      import("./app.ts"),
      import("./adapters/package-manager.ts"),
      import("./platform/stack-platform.ts"),
      config.noCluster ? undefined : import("./adapters/stack-clusters.ts"),
    ]);
    const parts = { config: config.clusters, dataDir, logger, env, ambient, observe };
    const clusters = (await stack?.stackClusters(parts)) ?? [];
    const store = openSqliteStore({ ambient, file: path.join(dataDir, "store.sqlite") });
    const start = async (): Promise<RunningApp> => {
      const { server } = config;
      const packageManager = packageManagerOf({ server, env, dataDir, ambient, store, observe });
      const platform = new StackPlatform({ ambient, fetch, packageManager, example: shopExample });
      const metricsText = (): Promise<string> => meter.text();
      return startApp(config, VERSION, { ambient, store, logger, context, metricsText, clusters, platform, progress });
    };
    const app = await start()
      .catch(async (thrown: unknown) => {
        await store.close();
        throw thrown;
      })
      .finally(() => progress.end());
    const { url, pageUrl, starts } = app;
    const state = await app.look();
    if (isTerminal) {
      const kubectl = (await stack?.kubectlCommand(config.clusters.real)) ?? "kubectl";
      process.stdout.write(readyScreen({ url, pageUrl, dataDir, starts, state, kubectl }));
    } else logger.info("the local stack is up", { url, page_url: pageUrl, start: starts.count, ...state });
    return app;
  },
});
