import path from "node:path";
import { startApp } from "@oaas/class-runtime-manager/app";
import { crmConfig, type CrmConfig } from "@oaas/class-runtime-manager/config";
import { loadConfig } from "@oaas/config";
import { unavailable, type Ambient } from "@oaas/foundation";
import type { Transport } from "@oaas/kube-runtime";
import type { ContextStore, Logger, Meter, MetricsFormat, Tracer } from "@oaas/observability";
import type { ClusterMetrics, ClusterPlan, RunningManager, StartManager } from "../../clusters/ports.ts";

export interface ManagerObservability {
  readonly log: Logger;
  readonly meter: Meter & { text(format?: MetricsFormat): Promise<string> };
  readonly context: ContextStore;
  readonly tracer?: Tracer;
}

export interface ManagerOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly ambient: Ambient;
  /** Called when the manager starts; logs to this file. */
  readonly observe: (service: string, logFile: string) => ManagerObservability;
}

/** Prepares the manager of one cluster to run in this process. Throws at once on an invalid setting. */
export function createManagerStarter(plan: ClusterPlan, options: ManagerOptions): StartManager {
  const { ambient } = options;
  managerConfig(plan, options.env);
  return async (cluster): Promise<RunningManager> => {
    const metrics = cluster.load ?? cluster.metrics;
    const { storeAddress } = cluster;
    const config = managerConfig(plan, options.env, metrics);
    const { log, meter, context, tracer } = options.observe(
      "oprc-crm",
      path.join(plan.folder, "class-runtime-manager.log"),
    );
    const { transport, sever } = createSeverable(cluster.connect());
    const app = await startApp(config, {
      ambient,
      transport,
      ownNamespace: "default",
      identity: `local-stack-${plan.name}-${ambient.ids.uuid()}`,
      logger: log,
      meter,
      metricsText: (format) => meter.text(format),
      context,
      tracer,
      reread: () => config,
      ...(storeAddress === undefined ? {} : { storeNodeResolver: async (pod) => storeAddress(pod) }),
      ...(metrics === undefined ? {} : { nfrSpeed: NFR_SPEED }),
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

/** Wraps a transport so that it can be severed: later requests fail, as if the process had been killed. */
function createSeverable(transport: Transport): { readonly transport: Transport; readonly sever: () => void } {
  let isSevered = false;
  return {
    transport: {
      send: (request) =>
        isSevered
          ? Promise.reject(unavailable("the API server", "this manager was killed by an injected fault"))
          : transport.send(request),
      close: () => transport.close(),
    },
    sever: () => {
      isSevered = true;
    },
  };
}

const SIMULATED_ODGM_IMAGE = "simulated.local/odgm:1";
/** The state stores of all clusters run in this process and reach each other. */
const SIMULATED_NETWORK = "local-stack";

/** Environment settings apply, except those that bind the manager to this cluster. */
export function managerConfig(plan: ClusterPlan, env: ManagerOptions["env"], metrics?: ClusterMetrics): CrmConfig {
  const passedThrough = Object.entries(env).filter(([name]) => /^OPRC_(CRM|ENV|MOCK)_/.test(name));
  return loadConfig(crmConfig, {
    env: {
      OPRC_CRM_K8S_NAMESPACE: "*",
      OPRC_CRM_CLUSTER_NAME: plan.name,
      ...locationSettings(plan),
      ...imageAndNetworkSettings(plan),
      // Clusters of the stack are for trying out.
      ...(plan.context === undefined
        ? { OPRC_CRM_FEATURES_INVOKE: "true", OPRC_CRM_FEATURES_CREATE_NAMESPACES: "true" }
        : {}),
      ...(metrics === undefined ? {} : measurementSettings(metrics)),
      ...Object.fromEntries(passedThrough),
      HTTP_PORT: String(plan.managerPort),
      OPRC_CRM_HTTP_HOST: "127.0.0.1",
      // The lock of the data folder guarantees one manager in a cluster of the stack. Without a Lease, a start after a
      // crash does not wait for it to expire. An existing cluster may have another manager, so it uses leader election.
      OPRC_CRM_FEATURES_LEADER_ELECTION: String(plan.context !== undefined),
    },
  });
}

/** Simulated nodes pull nothing; real nodes of the stack only have the images that were given to them. */
function imageAndNetworkSettings({ context, runsImages }: ClusterPlan): Readonly<Record<string, string>> {
  if (context !== undefined) return {};
  return runsImages
    ? { OPRC_CRM_TEMPLATES_WAIT_IMAGE: "none" }
    : { OPRC_CRM_TEMPLATES_ODGM_IMAGE: SIMULATED_ODGM_IMAGE, OPRC_CRM_DATA_PLANE_NETWORK: SIMULATED_NETWORK };
}

/** The load of a local stack is met and falls within a minute, so windows and cooldowns of enforcement are shorter than in production. */
const NFR_SPEED = 10;

/** Samples are taken every 5 s. A user watches, so measure more often than by default. */
function measurementSettings({ metricsUrl, servesUsage }: ClusterMetrics): Readonly<Record<string, string>> {
  return {
    OPRC_CRM_PROM_URL: metricsUrl,
    OPRC_CRM_PROM_RANGE: "45s",
    OPRC_CRM_PROM_STEP: "5s",
    OPRC_CRM_PROM_RATE_WINDOW: "15s",
    OPRC_CRM_ANALYZER_INTERVAL_SECS: "5s",
    // Simulated functions use about 50 MiB.
    OPRC_CRM_ANALYZER_MIN_MEMORY_MIB: "64",
    // For classes that state it; the others are observed.
    OPRC_CRM_FEATURES_NFR_ENFORCEMENT: "true",
    OPRC_CRM_ENFORCEMENT_MODE: "basic",
    OPRC_CRM_ENFORCEMENT_STABILITY_SECS: "15s",
    OPRC_CRM_ENFORCEMENT_COOLDOWN_SECS: "30s",
    ...(servesUsage ? { OPRC_CRM_FEATURES_HPA: "true" } : {}),
  };
}

/** Location and simulated availability of a cluster. */
function locationSettings({ labels, availability }: ClusterPlan): Readonly<Record<string, string | undefined>> {
  const { env, zone } = labels;
  return {
    ...(zone === undefined ? {} : { OPRC_ENV_ZONE: zone }),
    ...(env === undefined
      ? {}
      : { OPRC_ENV_IS_EDGE: String(env === "edge"), OPRC_ENV_IS_DATACENTER: String(env === "cloud") }),
    ...(availability === undefined ? {} : { OPRC_MOCK_CLUSTER_AVAILABILITY: String(availability) }),
  };
}
