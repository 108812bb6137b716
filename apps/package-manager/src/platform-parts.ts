import { invalidArgument, pathOf, ROOT_PATH, timestamp, type Ambient } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { type ContextStore, type Logger, type Meter, type Tracer } from "@oaas/observability";
import { Collection, type KeyValueStore, type SecretCipher } from "@oaas/storage";
import { DEFAULT_GUARD } from "./adapters/crm/guard/cluster-guard.ts";
import { GrpcCrmGateway } from "./adapters/crm/crm-gateway.ts";
import { reportFromWire } from "./adapters/crm/wire/report-from-wire.ts";
import { secretFolder } from "./adapters/secret-folder.ts";
import { storageCipher } from "./adapters/storage-cipher.ts";
import { CLUSTERS, type StoredCluster } from "./stores/cluster-store.ts";
import { ReplanStore } from "./stores/replan-store.ts";
import { ClusterCordons } from "./clusters/cluster-cordons.ts";
import { StoredClusterAdmin } from "./clusters/cluster-admin.ts";
import { checkPriorDate } from "./clusters/registration-rules.ts";
import { clustersFrom, type ConfiguredClusters } from "./clusters/configuration/configured-clusters.ts";
import { ClusterRoster } from "./clusters/cluster-roster.ts";
import { ClusterReferences } from "./clusters/cluster-references.ts";
import { HealthDirectory } from "./clusters/health-directory.ts";
import { unitEncoder } from "./adapters/crm/wire/unit-to-wire.ts";
import type { PmConfig } from "./config.ts";
import { createDeploymentParts, type DeploymentParts } from "./deployments/deployment-parts.ts";
import { DeploymentService } from "./deployments/deployment-service.ts";
import { DriftReconciler, type DriftReconcilerOptions } from "./drift/drift-reconciler.ts";
import { driftEvent } from "./events/drift-news.ts";
import { OverviewReader } from "./overview/read-overview.ts";
import { LogEventFeed } from "./events/event-feed.ts";
import { EventLog } from "./events/event-log.ts";
import { observeEvents } from "./events/observed-events.ts";
import { StoredEvents } from "./events/stored-events.ts";
import { storedTopics } from "./events/stored-topics.ts";
import { DEFAULT_PLANNER_SETTINGS, type PlannerSettings } from "./planner/plan-types.ts";
import { PackageRegistry } from "./registry/package-registry.ts";
import type { BackgroundAudit } from "./ports.ts";
import type { ReplanSettings } from "./records/automatic-changes.ts";
import { applyProposal } from "./replanning/apply-proposal.ts";
import { readDrainProgress } from "./replanning/drain-progress.ts";
import { replanMetrics } from "./replanning/replan-metrics.ts";
import { Replanner } from "./replanning/replanner.ts";
import { RestartTurns, turnHold } from "./restarts/restart-turns.ts";
import { turnMetrics } from "./restarts/turn-metrics.ts";
import { openTurns } from "./stores/turn-store.ts";
import { CrmWatcher } from "./status/crm-watcher.ts";
import { InboundReports } from "./status/inbound-reports.ts";
import { withReadTimeout } from "./status/read-timeout.ts";
import { ReplanStatusReader } from "./status/replan-status.ts";
import { unitIdOf } from "./planner/unit-id.ts";
import { recommendedReplicas } from "./status/runtime-query.ts";
import { RuntimeView } from "./status/runtime-view.ts";
import { ClusterStatusReader } from "./status/status-reader.ts";
import { ClusterStateObjects } from "./status/state-objects.ts";
import { ClusterFunctionAccess } from "./status/function-access.ts";
import { ClusterRuntimeInspection } from "./status/runtime-inspection.ts";
import type {
  ClusterAdmin,
  Drains,
  FunctionAccess,
  Overview,
  Replans,
  RuntimeInspection,
  StateObjects,
  StatusReader,
} from "./use-cases.ts";

export interface PlatformPorts {
  readonly ambient: Ambient;
  readonly store: KeyValueStore;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly context: ContextStore;
  readonly tracer?: Tracer | undefined;
  /** Records automatic changes. Default: nothing is recorded. */
  readonly backgroundAudit?: BackgroundAudit;
}

/** The known clusters, their health, and the connections to them. */
export interface ClusterParts {
  readonly stored: Collection<StoredCluster>;
  /** Encrypts the tokens of stored clusters. */
  readonly cipher: SecretCipher | undefined;
  readonly roster: ClusterRoster;
  readonly cordons: ClusterCordons;
  readonly gateway: GrpcCrmGateway;
  readonly directory: HealthDirectory;
  readonly references: ClusterReferences;
  readonly defaultCluster: () => ClusterName | undefined;
  /** Replaces the configured clusters. Throws invalid-argument and changes nothing if they cannot be used. */
  readonly setConfigured: (config: PmConfig["crm"]) => void;
}

/** The units that run in clusters, as their managers report them. */
export interface RuntimeParts {
  readonly view: RuntimeView;
  readonly watcher: CrmWatcher;
}

/** The packages and their deployments. */
export interface CoreParts {
  readonly registry: PackageRegistry;
  readonly parts: DeploymentParts;
  readonly service: DeploymentService;
}

export interface EventParts {
  readonly stored: StoredEvents;
  readonly feed: LogEventFeed;
  readonly appendDrift: NonNullable<DriftReconcilerOptions["onDrift"]>;
  readonly stopObserving: () => void;
}

export function buildClusters(
  { crm, storage }: PmConfig,
  { ambient, store, logger, meter, context, tracer }: PlatformPorts,
): ClusterParts {
  let configured = readClusters(crm, { ambient, logger });
  const cipher = storageCipher(storage);
  const stored = new Collection(store, CLUSTERS, cipher);
  const isCluster = (name: ClusterName): boolean => roster.registration(name) !== undefined;
  const cordons = new ClusterCordons({ store, ambient, isCluster });
  const roster: ClusterRoster = new ClusterRoster({
    configured: configured.clusters,
    stored,
    ambient,
    cordons,
    logger,
  });
  const gateway = new GrpcCrmGateway({
    clusters: roster,
    ambient,
    context,
    tracer,
    meter,
    logger,
    guard: {
      ...DEFAULT_GUARD,
      breaker: { threshold: crm.breakerThreshold, openMs: crm.breakerOpenMs },
      maxConcurrent: crm.maxCalls,
    },
  });
  const directory = new HealthDirectory({
    roster,
    source: gateway,
    ambient,
    ttlMs: crm.healthTtlMs,
    intervalMs: crm.healthIntervalMs,
  });
  const references = new ClusterReferences({ store, roster, ambient });
  return {
    stored,
    cipher,
    roster,
    cordons,
    gateway,
    directory,
    references,
    defaultCluster: () => configured.defaultCluster,
    setConfigured: (changed) => {
      configured = readClusters(changed, { ambient, logger });
      roster.setConfigured(configured.clusters);
    },
  };
}

function readClusters(
  crm: PmConfig["crm"],
  { ambient, logger }: Pick<PlatformPorts, "ambient" | "logger">,
): ConfiguredClusters {
  const configured = clustersFrom(crm);
  if (!configured.ok) throw new TypeError("the configuration was not validated");
  const futureDates = configured.value.clusters.flatMap((cluster) =>
    checkPriorDate(cluster, ambient.clock.now(), pathOf(ROOT_PATH, "CRM_CLUSTERS_JSON", cluster.name)),
  );
  if (futureDates.length > 0) throw invalidArgument("the configuration", futureDates);
  for (const warning of configured.value.warnings) logger.warn(warning);
  return configured.value;
}

export function buildRuntimes(
  { crm }: PmConfig,
  { ambient, logger }: PlatformPorts,
  { directory, roster, gateway }: ClusterParts,
): RuntimeParts {
  const view = new RuntimeView(ambient.clock);
  const watcher = new CrmWatcher({
    clusters: { list: () => directory.list(), onChange: (listener) => roster.onChange(listener) },
    gateway,
    view,
    ambient,
    logger,
    pollMs: crm.pollIntervalMs,
    // The health shows an outage at once, instead of after the interval of its checks.
    onLost: (cluster) => void directory.check(cluster),
  });
  return { view, watcher };
}

export function buildReports({ clusters: { directory }, runtimes: { view }, core }: ReadInputs): InboundReports {
  return new InboundReports({
    view,
    isCluster: (name) => directory.get(name) !== undefined,
    isUnit: (cluster, unitId, named) => {
      const key = named ?? view.get(cluster, unitId)?.report.deploymentKey;
      const record = key === undefined ? undefined : core.parts.view.get(key)?.record;
      return record?.placements[cluster]?.unitId === unitId;
    },
    readSummary: reportFromWire,
  });
}

export interface CoreInputs {
  readonly clusters: ClusterParts;
  readonly runtimes: RuntimeParts;
  readonly managedBy: string;
  readonly onOperationEnded: (key: DeploymentKey) => void;
}

/** The registry and the deployments need each other: a package schedules its deployments, which reference it. */
export function buildDeployments(
  config: PmConfig,
  { ambient, store, logger, meter, context, tracer }: PlatformPorts,
  { clusters, runtimes, managedBy, onOperationEnded }: CoreInputs,
): CoreParts {
  const { deploy } = config;
  const registry: PackageRegistry = new PackageRegistry({
    store,
    ambient,
    autoDeploy: config.package.autoDeploy,
    cascade: config.package.deleteCascade,
    revisionsKept: config.package.revisionsKept,
    deployments: {
      keysOf: (name) => service.keysOf(name),
      removeAll: (name, call) => service.removeAll(name, call),
      schedule: (deployment, call) => service.apply({ deployment }, call, {}),
      revisionsInUse: (name) => service.packageRevisionsInUse(name),
    },
  });
  const parts = createDeploymentParts({
    store,
    gateway: clusters.gateway,
    encoder: unitEncoder,
    ambient,
    logger,
    meter,
    managedBy,
    workContext: context,
    tracer,
    packages: registry,
    clusters: clusters.directory,
    clusterReferences: clusters.references,
    recommended: ({ key }, cluster, namespace) =>
      recommendedReplicas(runtimes.view, { key, cluster, namespace, nowMs: ambient.clock.now() }),
    reportedNamespace: ({ key }, cluster) => runtimes.view.get(cluster, unitIdOf(key, cluster))?.report.namespace,
    settings: plannerSettings(config),
    forgetPackage: (name) => registry.forget(name),
    maxRetries: deploy.maxRetries,
    rollBackOnPartial: deploy.rollBackOnPartial,
    onOperationEnded,
    waitMs: deploy.waitMs,
    gateTimeoutMs: deploy.gateTimeoutMs,
    fanOut: deploy.fanOut,
    history: deploy.revisionsKept,
    engine: { leaseMs: deploy.leaseMs },
  });
  const service: DeploymentService = new DeploymentService({ ...parts, clusters: clusters.directory, logger });
  return { registry, parts, service };
}

export function buildDriftReconciler(
  { deploy }: PmConfig,
  { ambient, logger, meter }: PlatformPorts,
  {
    clusters,
    runtimes,
    core,
    managedBy,
    onDrift,
  }: Omit<CoreInputs, "onOperationEnded"> & {
    readonly core: CoreParts;
    readonly onDrift: NonNullable<DriftReconcilerOptions["onDrift"]>;
  },
): DriftReconciler {
  return new DriftReconciler({
    ...core.parts,
    gateway: clusters.gateway,
    clusters: clusters.directory,
    managedBy,
    ambient,
    logger,
    meter,
    lastReport: (cluster, { unitId, namespace }) => runtimes.view.get(cluster, unitId, namespace)?.report,
    checkHealth: (cluster) => clusters.directory.check(cluster),
    onDrift,
    intervalMs: deploy.keepIntervalMs,
    leaseMs: deploy.leaseMs,
  });
}

export function buildReplanner(
  config: PmConfig,
  { ambient, store, logger, meter, backgroundAudit = NO_AUDIT }: PlatformPorts,
  { clusters, runtimes, core }: ReadInputs,
): Replanner {
  return new Replanner({
    ...core.parts,
    store,
    replans: new ReplanStore(store),
    clusters: clusters.directory,
    checkHealth: (cluster) => clusters.directory.check(cluster),
    recommended: ({ key }, cluster) => recommendedReplicas(runtimes.view, { key, cluster, nowMs: ambient.clock.now() }),
    settings: replanSettings(config),
    audit: backgroundAudit,
    metrics: replanMetrics(meter),
    ambient,
    logger,
    intervalMs: config.replan.intervalMs,
    leaseMs: config.deploy.leaseMs,
  });
}

export function buildRestartTurns(
  { deploy }: PmConfig,
  { ambient, store, logger, meter, backgroundAudit = NO_AUDIT }: PlatformPorts,
  { clusters, runtimes, core }: ReadInputs,
): RestartTurns {
  return new RestartTurns({
    store,
    view: core.parts.view,
    runtimes: runtimes.view,
    gateway: clusters.gateway,
    planOf: (key, record) => core.service.planOf(key, record),
    pauses: core.parts.pauses,
    freezes: core.parts.freezes,
    audit: backgroundAudit,
    metrics: turnMetrics(meter),
    ambient,
    logger,
    leaseMs: deploy.leaseMs,
  });
}

function replanSettings({ replan }: PmConfig): ReplanSettings {
  return {
    clusterLostMs: replan.clusterLostMs,
    minIntervalMs: replan.minIntervalMs,
    deploymentBudget: replan.deploymentBudget,
    platformBudget: replan.platformBudget,
  };
}

export function buildReplans({ store }: PlatformPorts, core: CoreParts): Replans {
  const deps = { ...core.parts, replans: new ReplanStore(store) };
  return { apply: (key, digest, call, options) => applyProposal(deps, key, digest, call, options) };
}

export function buildDrains(
  { store }: PlatformPorts,
  { clusters, core }: Pick<ReadInputs, "clusters" | "core">,
): Drains {
  const deps = { ...core.parts, replans: new ReplanStore(store), clusters: clusters.directory };
  return { progress: (name) => readDrainProgress(deps, name) };
}

const NO_AUDIT: BackgroundAudit = { begin: async () => () => undefined };

export interface ReadInputs {
  readonly clusters: ClusterParts;
  readonly runtimes: RuntimeParts;
  readonly core: CoreParts;
}

export function buildEvents(
  { ambient, store, logger, meter }: PlatformPorts,
  { clusters, runtimes, core }: ReadInputs,
): EventParts {
  const { clock } = ambient;
  const log = new EventLog(ambient.ids.uuid());
  const topics = storedTopics(store, {
    packages: core.registry.collection,
    deployments: core.parts.deployments.deployments,
  });
  const stopObserving = observeEvents({
    log,
    clock,
    view: runtimes.view,
    readings: clusters.directory,
    clusters: {
      get: (name) => clusters.directory.get(name),
      onChange: (listener) => clusters.roster.onChange(listener),
    },
  });
  const stored = new StoredEvents({ store, topics, log, ambient, logger });
  const appendDrift: EventParts["appendDrift"] = (key, cluster, correction) => {
    const object = driftEvent(cluster, correction);
    log.append({ topic: "deployment", type: "drift-corrected", key, at: timestamp(clock.now()), object });
  };
  return { stored, feed: new LogEventFeed(log, clock, meter), appendDrift, stopObserving };
}

export function buildOverview({ ambient }: PlatformPorts, { clusters, runtimes, core }: ReadInputs): Overview {
  return new OverviewReader({
    deployments: core.parts,
    engine: core.parts.engine,
    registry: core.registry,
    clusters: clusters.directory,
    runtimes: runtimes.view,
    clock: ambient.clock,
  });
}

export function buildClusterAdmin(
  { crm }: PmConfig,
  { ambient, store }: PlatformPorts,
  { clusters: { roster, stored, cipher, references, cordons }, core }: Pick<ReadInputs, "clusters" | "core">,
): ClusterAdmin {
  return new StoredClusterAdmin({
    roster,
    stored,
    store,
    clock: ambient.clock,
    references,
    cordons,
    files: secretFolder(crm.secretsDir),
    canStoreTokens: cipher !== undefined,
    deployments: core.service,
  });
}

export function buildFunctionAccess(
  { ambient }: PlatformPorts,
  { clusters: { directory, gateway }, core: { service } }: ReadInputs,
  status: StatusReader,
): FunctionAccess {
  return new ClusterFunctionAccess({
    record: (key) => service.record(key),
    clusters: directory,
    gateway,
    status,
    clock: ambient.clock,
  });
}

export function buildStateObjects({
  clusters: { directory, gateway },
  core: { service },
}: Pick<ReadInputs, "clusters" | "core">): StateObjects {
  return new ClusterStateObjects({
    record: (key) => service.record(key),
    planOf: (key, record) => service.planOf(key, record),
    clusters: directory,
    gateway,
  });
}

export function buildRuntimeInspection(
  { clusters: { gateway } }: Pick<ReadInputs, "clusters">,
  status: StatusReader,
): RuntimeInspection {
  return new ClusterRuntimeInspection({ status, gateway });
}

export function buildStatusReader(
  config: PmConfig,
  { ambient, store }: PlatformPorts,
  { clusters: { directory, gateway, defaultCluster }, runtimes, core }: ReadInputs,
  reports: InboundReports,
): StatusReader {
  const { service, registry } = core;
  return new ClusterStatusReader({
    deployments: {
      record: (key) => service.record(key),
      plan: (key, record) => service.planOf(key, record),
      operation: (key) => service.operation(key),
      all: () => service.records(),
    },
    clusters: directory,
    gateway: withReadTimeout(gateway, ambient),
    view: runtimes.view,
    clock: ambient.clock,
    classes: () => registry.allClasses(),
    metricsOf: (cluster, unitId) => reports.metricsOf(cluster, unitId),
    pauseOf: (key) => service.pauseOf(key),
    freezesOf: (clusters) => service.freezesOf(clusters),
    replans: new ReplanStatusReader(new ReplanStore(store), replanSettings(config), () => ambient.clock.now()),
    turns: openTurns(store),
    holdOf: (key, record) => turnHold(core.parts, key, record),
    defaultCluster,
  });
}

function plannerSettings({ planner }: PmConfig): PlannerSettings {
  return {
    ...DEFAULT_PLANNER_SETTINGS,
    algorithm: planner.algorithm,
    zoneAvailability: planner.zoneAvailability,
    maxReplicas: planner.maxReplicas,
    hysteresisMargin: planner.hysteresis,
    rpsPerReplica: planner.rpsPerReplica,
    environmentLabel: planner.environmentLabel,
  };
}
