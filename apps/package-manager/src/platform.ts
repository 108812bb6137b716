import type { Ambient, Fault } from "@oaas/foundation";
import type { ContextStore, Logger, Meter } from "@oaas/observability";
import { Collection, type KeyValueStore } from "@oaas/storage";
import { hasRecovered } from "./clusters/cluster-health.ts";
import { DEFAULT_GUARD } from "./adapters/crm/guard/cluster-guard.ts";
import { GrpcCrmGateway } from "./adapters/crm/crm-gateway.ts";
import { reportFromWire } from "./adapters/crm/wire/report-from-wire.ts";
import { secretFolder } from "./adapters/secret-folder.ts";
import { CLUSTERS } from "./stores/cluster-store.ts";
import { StoredClusterAdmin } from "./clusters/cluster-admin.ts";
import { clustersFrom } from "./clusters/configuration/configured-clusters.ts";
import { ClusterRoster } from "./clusters/cluster-roster.ts";
import { ClusterReferences } from "./clusters/cluster-references.ts";
import { HealthDirectory } from "./clusters/health-directory.ts";
import { unitToWire } from "./adapters/crm/wire/unit-to-wire.ts";
import type { PmConfig } from "./config.ts";
import { DeploymentService } from "./deployments/deployment-service.ts";
import { installationId } from "./stores/installation-id.ts";
import { DriftReconciler } from "./drift/drift-reconciler.ts";
import { unaccountedWarnings } from "./records/unaccounted-unit.ts";
import { LogEventFeed } from "./events/event-feed.ts";
import { EventLog } from "./events/event-log.ts";
import { observeEvents } from "./events/observed-events.ts";
import { StoredEvents } from "./events/stored-events.ts";
import { storedTopics } from "./events/stored-topics.ts";
import { DEFAULT_PLANNER_SETTINGS, type PlannerSettings } from "./planner/plan-types.ts";
import type { ClusterDirectory } from "./ports.ts";
import { PackageRegistry } from "./registry/package-registry.ts";
import { CrmWatcher } from "./status/crm-watcher.ts";
import { InboundReports } from "./status/inbound-reports.ts";
import { withReadTimeout } from "./status/read-timeout.ts";
import { recommendedReplicas } from "./status/recommended-replicas.ts";
import { RuntimeView } from "./status/runtime-view.ts";
import { ClusterStatusReader } from "./status/status-reader.ts";
import type { ClusterAdmin, Deployments, EventFeed, Registry, StatusReader } from "./use-cases.ts";

export interface PlatformPorts {
  readonly ambient: Ambient;
  readonly store: KeyValueStore;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly context: ContextStore;
}

/** Everything the package manager can do, running, without a way in from outside. */
export interface Platform {
  readonly registry: Registry;
  readonly deployments: Deployments;
  readonly clusters: ClusterDirectory;
  readonly admin: ClusterAdmin;
  readonly status: StatusReader;
  readonly reports: InboundReports;
  readonly feed: EventFeed;
  /** A key of the store that is there as long as this process lives; undefined while there is none. */
  leaseKey(): string | undefined;
  /** What somebody should see to, in sentences. */
  warnings(): readonly string[];
  /** What holds it up, by name; undefined where nothing does. */
  faults(): Readonly<Record<string, Fault | undefined>>;
  /** Ends in order: sagas first, which are left to their journal, then what they call. Repeatable. */
  close(graceMs?: number): Promise<void>;
}

/** Builds and starts the package manager's parts: clusters, registry, deployments, and what keeps them as they should be. */
export async function startPlatform(config: PmConfig, ports: PlatformPorts): Promise<Platform> {
  const { ambient, store, logger, meter, context } = ports;
  const { stored, roster, gateway, clusters, ties, defaultCluster } = clusterParts(config, ports);
  const view = new RuntimeView(ambient.clock);
  const registry: PackageRegistry = new PackageRegistry({
    store,
    ambient,
    autoDeploy: config.package.autoDeploy,
    cascade: config.package.deleteCascade,
    deployments: {
      keysOf: (name) => deployments.keysOf(name),
      removeAll: (name, call) => deployments.removeAll(name, call),
      schedule: (deployment, call) => deployments.apply({ deployment }, call, {}),
    },
  });
  const managedBy = await installationId(store, ambient);
  const deployments: DeploymentService = new DeploymentService({
    store,
    gateway,
    writeUnit: unitToWire,
    ambient,
    logger,
    meter,
    managedBy,
    workContext: context,
    packages: registry,
    clusters,
    clusterReferences: ties,
    recommended: (deployment, cluster) => recommendedReplicas(view, deployment.key, cluster),
    settings: plannerSettings(config),
    forgetPackage: (name) => registry.forget(name),
    maxRetries: config.deploy.maxRetries,
    rollBackOnPartial: config.deploy.rollBackOnPartial,
    onOperationEnded: (key) => keeper.settled(key),
    waitMs: config.deploy.waitMs,
    gateTimeoutMs: config.deploy.gateTimeoutMs,
    fanOut: config.deploy.fanOut,
    engine: { leaseMs: config.deploy.leaseMs },
  });
  const watcher = new CrmWatcher({
    clusters: { list: () => clusters.list(), onChange: (listener) => roster.onChange(listener) },
    gateway,
    view,
    ambient,
    logger,
    pollMs: config.crm.pollIntervalMs,
  });
  const keeper: DriftReconciler = new DriftReconciler({
    context: deployments.context,
    gateway,
    clusters,
    managedBy,
    ambient,
    logger,
    lastReport: (cluster, unitId) => view.get(cluster, unitId)?.report,
    checkHealth: (cluster) => clusters.check(cluster),
    intervalMs: config.deploy.keepIntervalMs,
    leaseMs: config.deploy.leaseMs,
  });
  const reports = new InboundReports({
    view,
    isCluster: (name) => clusters.get(name) !== undefined,
    readSummary: reportFromWire,
  });
  const admin = new StoredClusterAdmin({
    roster,
    stored,
    store,
    clock: ambient.clock,
    references: ties,
    files: secretFolder(config.crm.secretsDir),
    deployments,
  });
  const status = new ClusterStatusReader({
    deployments: {
      record: (key) => deployments.record(key),
      operation: (key) => deployments.operation(key),
      all: () => deployments.records(),
    },
    clusters,
    gateway: withReadTimeout(gateway, ambient),
    view,
    clock: ambient.clock,
    classes: () => registry.allClasses(),
    ...(defaultCluster === undefined ? {} : { defaultCluster }),
  });

  const log = new EventLog(ambient.ids.uuid());
  const topics = storedTopics(store, {
    packages: registry.collection,
    deployments: deployments.context.deployments.deployments,
  });
  const storedEvents = new StoredEvents({ store, topics, log, ambient, logger });
  const endObserving = observeEvents({
    log,
    clock: ambient.clock,
    view,
    readings: clusters,
    clusters: { get: (name) => clusters.get(name), onChange: (listener) => roster.onChange(listener) },
  });

  await storedEvents.start();
  await roster.start();
  clusters.start();
  await registry.start();
  await deployments.start();
  view.onChange((cluster, change) => {
    keeper.observe(cluster, change);
    if (change.type === "synced") clusters.recheckFailing(cluster);
  });
  clusters.onReading((reading, before) => {
    if (!hasRecovered(reading, before)) return;
    keeper.clusterReturned(reading.cluster);
    watcher.reconnectNow(reading.cluster);
  });
  watcher.start();
  keeper.start();

  let closing: Promise<void> | undefined;
  return {
    registry,
    deployments,
    clusters,
    admin,
    status,
    reports,
    feed: new LogEventFeed(log, ambient.clock),
    leaseKey: () => deployments.context.engine.leaseKey,
    warnings: () => unaccountedWarnings(keeper.unaccounted),
    faults: () => ({ registry: registry.viewFault, deployments: deployments.viewFault }),
    close: (graceMs) =>
      (closing ??= (async () => {
        await keeper.close();
        await deployments.close(graceMs);
        await watcher.close();
        endObserving();
        await storedEvents.close();
        clusters.close();
        await registry.close();
        await roster.close();
        gateway.close();
      })()),
  };
}

/** Which clusters there are, how they are, what needs them, and the way to them. Nothing of it is started. */
function clusterParts({ crm }: PmConfig, { ambient, store, logger, meter, context }: PlatformPorts) {
  const configured = clustersFrom(crm);
  if (!configured.ok) throw new TypeError("the configuration was not checked");
  const { clusters: named, defaultCluster, notes } = configured.value;
  for (const note of notes) logger.warn(note);
  const stored = new Collection(store, CLUSTERS);
  const roster = new ClusterRoster({ configured: named, stored, ambient, logger });
  const gateway = new GrpcCrmGateway({
    clusters: roster,
    ambient,
    context,
    meter,
    logger,
    guard: {
      ...DEFAULT_GUARD,
      breaker: { threshold: crm.breakerThreshold, openMs: crm.breakerOpenMs },
      maxConcurrent: crm.maxCalls,
    },
  });
  const clusters = new HealthDirectory({
    roster,
    source: gateway,
    ambient,
    ttlMs: crm.healthTtlMs,
    intervalMs: crm.healthIntervalMs,
  });
  return { stored, roster, gateway, clusters, ties: new ClusterReferences({ store, roster, ambient }), defaultCluster };
}

function plannerSettings({ planner }: PmConfig): PlannerSettings {
  return {
    ...DEFAULT_PLANNER_SETTINGS,
    algorithm: planner.algorithm,
    maxReplicas: planner.maxReplicas,
    hysteresisMargin: planner.hysteresis,
    rpsPerReplica: planner.rpsPerReplica,
    environmentLabel: planner.environmentLabel,
  };
}
