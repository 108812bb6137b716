import path from "node:path";
import { loadConfig } from "@oaas/config";
import type { Ambient } from "@oaas/foundation";
import { startApp } from "@oaas/package-manager/app";
import { pmConfig, type PmConfig } from "@oaas/package-manager/config";
import type { KeyValueStore } from "@oaas/storage";
import type { DevStackConfig } from "../config.ts";
import type { ConfiguredCluster, PackageManagerStarter } from "../package-manager/ports.ts";
import { assertPortFree } from "./listen.ts";
import type { ManagerObservability } from "./clusters/manager.ts";

export interface PackageManagerOptions {
  readonly server: DevStackConfig["server"];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly dataDir: string;
  readonly ambient: Ambient;
  /** Opens a new client of the stack's store for each start. */
  readonly connectStore: () => KeyValueStore;
  /** Called when the package manager starts; logs to this file. */
  /** Encrypts secrets in the store. */
  readonly encryptionKey: string;
  readonly observe: (service: string, logFile: string) => ManagerObservability;
}

const KEY_VARIABLE = "STORAGE_ENCRYPTION_KEY";

/** Prepares the package manager to run in this process on the stack's store. Throws at once on an invalid setting. */
export function createPackageManagerStarter(options: PackageManagerOptions): PackageManagerStarter {
  const { env, ambient } = options;
  let { server } = options;
  const configOf = (clusters: readonly ConfiguredCluster[]) =>
    packageManagerConfig(server, { ...env, [KEY_VARIABLE]: options.encryptionKey }, clusters);
  configOf([]);
  return {
    check: () => assertPortFree(server.host, server.port),
    start: async (clusters, lab) => {
      const { log, meter, context, tracer } = options.observe(
        "oprc-pm",
        path.join(options.dataDir, "package-manager.log"),
      );
      const store = options.connectStore();
      const app = await startApp(configOf(clusters), {
        ambient,
        store,
        // There is no authentication, so no token issuer is needed.
        tokens: () => undefined,
        fetchJson: () => Promise.reject(new Error("the local stack has no token issuer")),
        logger: log,
        meter,
        metricsText: (format) => meter.text(format),
        context,
        tracer,
        lab,
      });
      server = { ...server, port: app.port };
      const close = async (): Promise<void> => {
        await app.close();
        await store.close();
      };
      return {
        hasConsole: app.hasConsole,
        url: `http://${app.host.includes(":") ? `[${app.host}]` : app.host}:${app.port}`,
        close,
        kill: async () => {
          // The store sees a dead client: no more writes, and its leases expire.
          await store.close();
          await close();
        },
      };
    },
  };
}

/** Environment settings apply, except those that bind the package manager to this stack. */
export function packageManagerConfig(
  server: DevStackConfig["server"],
  env: PackageManagerOptions["env"],
  clusters: readonly ConfiguredCluster[],
): PmConfig {
  const passedThrough = Object.entries(env).filter(([name]) =>
    /^(OPRC_PM_|CONSOLE_|PLANNER_|DEPLOY_|PACKAGE_|(GRPC_PORT|AUTH_MODE|SERVER_ALLOWED_HOSTS|SERVER_CORS_ORIGINS|DEPLOYMENT_REVISIONS_KEEP|STORAGE_ENCRYPTION_KEY)$)/.test(
      name,
    ),
  );
  return loadConfig(pmConfig, {
    env: {
      // Short, like the health interval below: a user watches the repair after a cluster returns.
      DEPLOY_RECONCILE_INTERVAL: "10s",
      ...Object.fromEntries(passedThrough),
      SERVER_HOST: server.host,
      SERVER_PORT: String(server.port),
      STORAGE_TYPE: "sqlite",
      // Few clusters on loopback: frequent checks are cheap and show an injected fault at once.
      CRM_HEALTH_CHECK_INTERVAL: "5s",
      CRM_HEALTH_CACHE_TTL: "2s",
      CRM_CLUSTERS_JSON: JSON.stringify(
        // A laptop that has just started several API servers may respond slowly.
        Object.fromEntries(
          clusters.map(({ name, url, labels, terms }) => [name, { url, labels, timeout: 20, ...terms }]),
        ),
      ),
    },
  });
}
