import { invalidArgument, type Ambient } from "@oaas/foundation";
import { AesGcmCipher, randomKey } from "@oaas/storage/encryption";
import { Collection, type KeyValueStore } from "@oaas/storage";
import { clustersFrom } from "../src/clusters/configuration/configured-clusters.ts";
import { ClusterRoster } from "../src/clusters/cluster-roster.ts";
import type { ClusterConfig } from "../src/clusters/configuration/cluster-variables.ts";
import { HealthDirectory } from "../src/clusters/health-directory.ts";
import { CrmWatcher } from "../src/status/crm-watcher.ts";
import { RuntimeView } from "../src/status/runtime-view.ts";
import { CLUSTERS, type StoredCluster } from "../src/stores/cluster-store.ts";
import { DEFAULT_GUARD } from "../src/adapters/crm/guard/cluster-guard.ts";
import { GrpcCrmGateway } from "../src/adapters/crm/crm-gateway.ts";

/** All processes on a store have the same key. */
const CIPHER = new AesGcmCipher([randomKey()]);

export interface ConnectClustersOptions {
  readonly config: ClusterConfig;
  readonly store: KeyValueStore;
  readonly ambient: Ambient;
}

/** The cluster parts, wired as in the platform. */
export interface ConnectedClusters {
  readonly stored: Collection<StoredCluster>;
  readonly roster: ClusterRoster;
  readonly gateway: GrpcCrmGateway;
  readonly directory: HealthDirectory;
  readonly view: RuntimeView;
  /** Loads the stored clusters, then starts health checks and watches. */
  start(): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Wires the cluster parts from the configuration. Does nothing before `start`. */
export function connectClusters(options: ConnectClustersOptions): ConnectedClusters {
  const { config, store, ambient } = options;
  const configured = clustersFrom(config);
  if (!configured.ok) throw invalidArgument("the configuration of clusters", configured.error);
  const stored = new Collection<StoredCluster>(store, CLUSTERS, CIPHER);
  const roster = new ClusterRoster({ configured: configured.value.clusters, stored, ambient });
  const gateway = new GrpcCrmGateway({
    clusters: roster,
    ambient,
    guard: {
      ...DEFAULT_GUARD,
      breaker: { threshold: config.breakerThreshold, openMs: config.breakerOpenMs },
      maxConcurrent: config.maxCalls,
    },
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
