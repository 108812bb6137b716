import path from "node:path";
import { startApp } from "@oaas/class-runtime-manager/app";
import { crmConfig, type CrmConfig } from "@oaas/class-runtime-manager/config";
import { loadConfig } from "@oaas/config";
import type { Ambient } from "@oaas/foundation";
import type { ContextStore, Logger, Meter } from "@oaas/observability";
import type { ClusterPlan, RunningManager, StartManager } from "../clusters/ports.ts";
import { severable } from "./severable.ts";

/** What a manager is observed by. */
export interface ManagerObservability {
  readonly log: Logger;
  readonly meter: Meter & { readonly contentType: string; text(): Promise<string> };
  readonly context: ContextStore;
}

export interface ManagerOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly ambient: Ambient;
  /** Made when the manager starts; logs to this file. */
  readonly observe: (service: string, logFile: string) => ManagerObservability;
}

/** The manager of one cluster, to run in this process on a port of its own. Throws at once when a setting is wrong. */
export function managerOf(plan: ClusterPlan, options: ManagerOptions): StartManager {
  const { ambient } = options;
  const config = managerConfig(plan, options.env);
  return async (cluster): Promise<RunningManager> => {
    const { log, meter, context } = options.observe("oprc-crm", path.join(plan.folder, "class-runtime-manager.log"));
    const { transport, sever } = severable(cluster.connect());
    const app = await startApp(config, {
      ambient,
      transport,
      ownNamespace: "default",
      identity: `local-stack-${plan.name}-${ambient.ids.uuid()}`,
      logger: log,
      meter,
      metricsText: () => meter.text(),
      metricsType: meter.contentType,
      context,
      reread: () => config,
    });
    return {
      url: `http://127.0.0.1:${app.port}`,
      ready: app.ready,
      close: () => app.close(),
      kill: async () => {
        sever();
        await app.close();
      },
    };
  };
}

/** Settings of the environment hold, but for those that make it the manager of this very cluster. */
export function managerConfig(plan: ClusterPlan, env: ManagerOptions["env"]): CrmConfig {
  const meant = Object.entries(env).filter(([name]) => /^OPRC_(CRM|ENV|MOCK)_/.test(name));
  return loadConfig(crmConfig, {
    env: {
      OPRC_CRM_K8S_NAMESPACE: "*",
      OPRC_CRM_CLUSTER_NAME: plan.name,
      ...placeOf(plan),
      ...Object.fromEntries(meant),
      HTTP_PORT: String(plan.managerPort),
      OPRC_CRM_HTTP_HOST: "127.0.0.1",
      // In a cluster of ours one manager is certain: the data folder is locked. Without a Lease a start after a crash need not wait for it
      // to expire. Somebody's own cluster may have a manager already; then the Lease tells who works.
      OPRC_CRM_FEATURES_LEADER_ELECTION: String(plan.context !== undefined),
    },
  });
}

/** What is known of where a cluster is, and how reliable it plays to be. */
function placeOf({ labels, availability }: ClusterPlan): Readonly<Record<string, string | undefined>> {
  const { env, zone } = labels;
  return {
    ...(zone === undefined ? {} : { OPRC_ENV_ZONE: zone }),
    ...(env === undefined
      ? {}
      : { OPRC_ENV_IS_EDGE: String(env === "edge"), OPRC_ENV_IS_DATACENTER: String(env === "cloud") }),
    ...(availability === undefined ? {} : { OPRC_MOCK_CLUSTER_AVAILABILITY: String(availability) }),
  };
}
