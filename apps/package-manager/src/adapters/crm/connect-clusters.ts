import { invalidArgument, type Ambient } from "@oaas/foundation";
import type { ContextStore, Logger, Meter } from "@oaas/observability";
import { Collection, type KeyValueStore } from "@oaas/storage";
import { clustersFrom } from "../../clusters/cluster-config.ts";
import { ClusterRoster } from "../../clusters/cluster-roster.ts";
import type { ClusterConfig } from "../../clusters/cluster-variables.ts";
import { HealthDirectory } from "../../clusters/health-directory.ts";
import { CrmWatcher } from "../../status/crm-watcher.ts";
import { RuntimeView } from "../../status/runtime-view.ts";
import { CLUSTERS, type StoredCluster } from "../store/cluster-store.ts";
import { DEFAULT_GUARD } from "./cluster-guard.ts";
import { GrpcCrmGateway } from "./crm-gateway.ts";

export interface ConnectClustersOptions {
  readonly config: ClusterConfig;
  readonly store: KeyValueStore;
  readonly ambient: Ambient;
  readonly context?: ContextStore;
  readonly meter?: Meter;
  readonly logger?: Logger;
}

/** Everything that has to do with clusters, wired together. */
export interface ConnectedClusters {
  readonly stored: Collection<StoredCluster>;
  readonly roster: ClusterRoster;
  readonly gateway: GrpcCrmGateway;
  readonly directory: HealthDirectory;
  readonly view: RuntimeView;
  /** Loads stored clusters, then begins to ask and to follow all of them. */
  start(): Promise<void>;
  /** Repeatable. */
  close(): Promise<void>;
}

/** Turns the configuration of clusters into what the use cases need. Nothing is done before `start`. */
export function connectClusters(options: ConnectClustersOptions): ConnectedClusters {
  const { config, store, ambient, logger } = options;
  const made = clustersFrom(config);
  if (!made.ok) throw invalidArgument("the configuration of clusters", made.error);
  for (const note of made.value.notes) logger?.warn(note);
  const logging = logger === undefined ? {} : { logger };
  const stored = new Collection<StoredCluster>(store, CLUSTERS);
  const roster = new ClusterRoster({ configured: made.value.clusters, stored, ambient, ...logging });
  const gateway = new GrpcCrmGateway({
    clusters: roster,
    ambient,
    guard: {
      ...DEFAULT_GUARD,
      breaker: { threshold: config.breakerThreshold, openMs: config.breakerOpenMs },
      mostAtOnce: config.maxCalls,
    },
    ...(options.context === undefined ? {} : { context: options.context }),
    ...(options.meter === undefined ? {} : { meter: options.meter }),
  });
  const { healthTtlMs: ttlMs, healthIntervalMs: intervalMs } = config;
  const directory = new HealthDirectory({ roster, source: gateway, ambient, ttlMs, intervalMs });
  const view = new RuntimeView(ambient.clock);
  const followed = {
    list: () => roster.entries(),
    onChange: (listener: Parameters<ClusterRoster["onChange"]>[0]) => roster.onChange(listener),
  };
  const watcher = new CrmWatcher({
    clusters: followed,
    gateway,
    view,
    ambient,
    pollMs: config.pollIntervalMs,
    ...logging,
  });
  return {
    stored,
    roster,
    gateway,
    directory,
    view,
    start: async () => {
      await roster.start();
      directory.start();
      watcher.start();
    },
    close: async () => {
      await watcher.close();
      directory.close();
      gateway.close();
      await roster.close();
    },
  };
}
