import path from "node:path";
import { loadConfig } from "@oaas/config";
import type { Ambient } from "@oaas/foundation";
import { startApp } from "@oaas/package-manager/app";
import { pmConfig, type PmConfig } from "@oaas/package-manager/config";
import type { KeyValueStore } from "@oaas/storage";
import type { DevStackConfig } from "../config.ts";
import type { KnownCluster, PackageManagerStarter } from "../platform/ports.ts";
import { assertCanListen } from "./can-listen.ts";
import type { ManagerObservability } from "./manager.ts";

export interface PackageManagerOptions {
  readonly server: DevStackConfig["server"];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly dataDir: string;
  readonly ambient: Ambient;
  /** Where it keeps everything: a client of the stack's store for each of its lives. */
  readonly connectStore: () => KeyValueStore;
  /** Made when the package manager starts; logs to this file. */
  readonly observe: (service: string, logFile: string) => ManagerObservability;
}

/** The package manager, to run in this process on the stack's durable store. Throws at once when a setting is wrong. */
export function packageManagerOf(options: PackageManagerOptions): PackageManagerStarter {
  const { env, ambient } = options;
  let { server } = options;
  packageManagerConfig(server, env, []);
  return {
    check: () => assertCanListen(server.host, server.port),
    start: async (clusters) => {
      const { log, meter, context } = options.observe("oprc-pm", path.join(options.dataDir, "package-manager.log"));
      const store = options.connectStore();
      const app = await startApp(packageManagerConfig(server, env, clusters), {
        ambient,
        store,
        // Nobody is asked who they are, so no key of an issuer is ever wanted.
        tokens: () => undefined,
        fetchJson: () => Promise.reject(new Error("the local stack has no issuer of tokens")),
        logger: log,
        meter,
        metricsText: () => meter.text(),
        metricsType: meter.contentType,
        context,
      });
      server = { ...server, port: app.port };
      const close = async (): Promise<void> => {
        await app.close();
        await store.close();
      };
      return {
        url: `http://${app.host.includes(":") ? `[${app.host}]` : app.host}:${app.port}`,
        close,
        kill: async () => {
          // To the store it is as though its client had died: nothing more comes from it, its leases run out.
          await store.close();
          await close();
        },
      };
    },
  };
}

/** Settings of the environment hold, but for those that make it the package manager of this very stack. */
export function packageManagerConfig(
  server: DevStackConfig["server"],
  env: PackageManagerOptions["env"],
  clusters: readonly KnownCluster[],
): PmConfig {
  const meant = Object.entries(env).filter(([name]) =>
    /^(OPRC_PM_|PLANNER_|DEPLOY_|PACKAGE_|GRPC_PORT$|AUTH_MODE$)/.test(name),
  );
  return loadConfig(pmConfig, {
    env: {
      // As with health below: what was missed while a cluster was away is made up for while a person looks.
      DEPLOY_RECONCILE_INTERVAL: "10s",
      ...Object.fromEntries(meant),
      SERVER_HOST: server.host,
      SERVER_PORT: String(server.port),
      STORAGE_TYPE: "sqlite",
      // Loopback and few: looking often costs nothing, and what a person breaks is seen at once.
      CRM_HEALTH_CHECK_INTERVAL: "5s",
      CRM_HEALTH_CACHE_TTL: "2s",
      CRM_CLUSTERS_JSON: JSON.stringify(
        // A laptop that has just started two API servers may be slow to answer.
        Object.fromEntries(clusters.map(({ name, url, labels }) => [name, { url, labels, timeout: 20 }])),
      ),
    },
  });
}
