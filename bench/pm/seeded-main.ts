/**
 * The package manager on a memory store that is full from the start, without credentials; otherwise as `main.ts` has
 * it. `BENCH_CLUSTERS` names scripted clusters to start with it, each with `BENCH_UNITS` units.
 */
import { runService } from "@oaas/service-shell";
import { openAuditSink } from "../../apps/package-manager/src/adapters/audit/open-sink.ts";
import { openStore } from "../../apps/package-manager/src/adapters/open-store.ts";
import { startApp } from "../../apps/package-manager/src/app.ts";
import { pmConfig } from "../../apps/package-manager/src/config.ts";
import { startLocalClusters } from "./local-clusters.ts";
import { seed } from "./seed.ts";

const { BENCH_CLUSTERS, BENCH_UNITS = "0" } = process.env;
const clusters =
  BENCH_CLUSTERS === undefined ? undefined : await startLocalClusters(BENCH_CLUSTERS.split(","), Number(BENCH_UNITS));
if (clusters !== undefined) process.env["CRM_CLUSTERS_JSON"] = clusters.json;

await runService({
  service: "oprc-pm",
  version: "bench",
  config: pmConfig,
  start: async (config, { ambient, observability: { log, meter, context } }) => {
    const store = openStore(config, ambient, log);
    await seed(store, Number(process.env["BENCH_PACKAGES"]), Number(process.env["BENCH_DEPLOYMENTS"]));
    const app = await startApp(config, {
      ambient,
      store,
      tokens: () => undefined,
      fetchJson: async () => undefined,
      audit: await openAuditSink(config, ambient, log),
      logger: log,
      meter,
      metricsText: (format) => meter.text(format),
      context,
    });
    log.info("package manager listening", { host: app.host, port: app.port });
    return {
      close: async () => {
        await app.close();
        await clusters?.close();
      },
    };
  },
});
