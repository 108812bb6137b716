import type { Fault } from "@oaas/foundation";
import { DocumentSets } from "./apply/apply-documents.ts";
import { hasRecovered } from "./clusters/cluster-health.ts";
import { clearTokenWarnings, encryptStoredTokens } from "./clusters/stored-tokens.ts";
import type { PmConfig } from "./config.ts";
import { installationId } from "./stores/installation-id.ts";
import type { DriftReconciler } from "./drift/drift-reconciler.ts";
import type { Replanner } from "./replanning/replanner.ts";
import type { RestartTurns } from "./restarts/restart-turns.ts";
import { unaccountedWarnings } from "./records/unaccounted-unit.ts";
import type { ClusterDirectory } from "./ports.ts";
import type { InboundReports } from "./status/inbound-reports.ts";
import type {
  ClusterAdmin,
  Cordons,
  Deployments,
  Documents,
  Drains,
  EventFeed,
  FreezeCalendar,
  FunctionAccess,
  RuntimeInspection,
  Overview,
  Pauses,
  Registry,
  Replans,
  StateObjects,
  StatusReader,
} from "./use-cases.ts";
import {
  buildClusterAdmin,
  buildClusters,
  buildDeployments,
  buildDriftReconciler,
  buildDrains,
  buildEvents,
  buildOverview,
  buildReplanner,
  buildReplans,
  buildReports,
  buildRestartTurns,
  buildRuntimes,
  buildFunctionAccess,
  buildRuntimeInspection,
  buildStateObjects,
  buildStatusReader,
  type EventParts,
  type PlatformPorts,
  type ReadInputs,
} from "./platform-parts.ts";

/** The running package manager without its HTTP and gRPC servers. */
export interface Platform {
  readonly registry: Registry;
  readonly deployments: Deployments;
  readonly documents: Documents;
  readonly replans: Replans;
  readonly pauses: Pauses;
  readonly freezes: FreezeCalendar;
  readonly clusters: ClusterDirectory;
  readonly admin: ClusterAdmin;
  readonly cordons: Cordons;
  readonly drains: Drains;
  readonly status: StatusReader;
  readonly overview: Overview;
  readonly functions: FunctionAccess;
  readonly inspection: RuntimeInspection;
  readonly state: StateObjects;
  readonly reports: InboundReports;
  readonly feed: EventFeed;
  /** Replaces the clusters of the configuration. Throws and changes nothing if they cannot be used. */
  setConfiguredClusters(config: PmConfig["crm"]): void;
  /** The store key that exists as long as this process holds its lease; undefined without a lease. */
  leaseKey(): string | undefined;
  /** Problems that need an operator, in sentences. */
  warnings(): readonly string[];
  /** Faults of the lists in memory, by name; undefined where there is none. */
  faults(): Readonly<Record<string, Fault | undefined>>;
  /** Closes all parts in reverse order of use. Open sagas stay in their journal. Can be called twice. */
  close(graceMs?: number): Promise<void>;
}

/** Builds and starts the parts of the package manager. */
export async function startPlatform(config: PmConfig, ports: PlatformPorts): Promise<Platform> {
  const { ambient, store } = ports;
  const managedBy = await installationId(store, ambient);
  const clusters = buildClusters(config, ports);
  const runtimes = buildRuntimes(config, ports, clusters);
  const core = buildDeployments(config, ports, {
    clusters,
    runtimes,
    managedBy,
    onOperationEnded: (key) => {
      drift.operationEnded(key);
      replanner.notify();
    },
  });
  const events = buildEvents(ports, { clusters, runtimes, core });
  const onDrift = events.appendDrift;
  const drift: DriftReconciler = buildDriftReconciler(config, ports, { clusters, runtimes, core, managedBy, onDrift });
  const replanner: Replanner = buildReplanner(config, ports, { clusters, runtimes, core });
  const turns = buildRestartTurns(config, ports, { clusters, runtimes, core });
  await encryptStoredTokens(clusters.stored, clusters.cipher, ports.logger);
  await startParts({ clusters, runtimes, core, drift, replanner, turns, events });

  const reports = buildReports({ clusters, runtimes, core });
  const status = buildStatusReader(config, ports, { clusters, runtimes, core }, reports);
  let closing: Promise<void> | undefined;
  return {
    registry: core.registry,
    deployments: core.service,
    documents: new DocumentSets({ registry: core.registry, deployments: core.parts }),
    replans: buildReplans(ports, core),
    pauses: core.parts.pauses,
    freezes: core.parts.freezes,
    clusters: clusters.directory,
    admin: buildClusterAdmin(config, ports, { clusters, core }),
    cordons: clusters.cordons,
    drains: buildDrains(ports, { clusters, core }),
    status,
    overview: buildOverview(ports, { clusters, runtimes, core }),
    functions: buildFunctionAccess(ports, { clusters, runtimes, core }, status),
    inspection: buildRuntimeInspection({ clusters }, status),
    state: buildStateObjects({ clusters, core }),
    reports,
    feed: events.feed,
    setConfiguredClusters: clusters.setConfigured,
    leaseKey: () => core.parts.engine.leaseKey,
    warnings: () => [...unaccountedWarnings(drift.unaccounted), ...clearTokenWarnings(clusters.roster.clearTokens)],
    faults: () => ({ registry: core.registry.viewFault, deployments: core.service.viewFault }),
    close: (graceMs) =>
      (closing ??= closeParts({ clusters, runtimes, core, drift, replanner, turns, events }, graceMs)),
  };
}

/** Forwards reported units and returning clusters to the parts that act on them. */
function connectParts({
  clusters: { directory, cordons },
  runtimes: { view, watcher },
  drift,
  replanner,
  turns,
}: Omit<ReadInputs, "core"> & Pick<StartableParts, "drift" | "replanner" | "turns">): void {
  view.onChange((cluster, change) => {
    drift.observe(cluster, change);
    if (change.type === "changed" && change.report.runtime.status?.stateStore !== undefined) turns.notify();
    if (change.type === "synced") directory.recheckFailing(cluster);
  });
  cordons.onChange(() => replanner.notify());
  directory.onReading((reading, before) => {
    replanner.notify();
    if (!hasRecovered(reading, before)) return;
    drift.clusterReturned(reading.cluster);
    watcher.reconnectNow(reading.cluster);
  });
}

interface StartableParts extends ReadInputs {
  readonly drift: DriftReconciler;
  readonly replanner: Replanner;
  readonly turns: RestartTurns;
  readonly events: EventParts;
}

async function startParts(parts: StartableParts): Promise<void> {
  const { clusters, runtimes, core, drift, replanner, turns, events } = parts;
  await events.stored.start();
  await clusters.cordons.start();
  await clusters.roster.start();
  clusters.directory.start();
  await core.registry.start();
  await core.service.start();
  connectParts(parts);
  core.parts.pauses.onChange(() => replanner.notify());
  core.parts.freezes.onChange(() => replanner.notify());
  runtimes.watcher.start();
  drift.start();
  replanner.start();
  turns.start();
}

/** The writers first, then the readers, then the connections they use. */
async function closeParts(
  { clusters, runtimes, core, drift, replanner, turns, events }: StartableParts,
  graceMs: number | undefined,
): Promise<void> {
  await turns.close();
  await replanner.close();
  await drift.close();
  await core.service.close(graceMs);
  await runtimes.watcher.close();
  events.stopObserving();
  await events.stored.close();
  clusters.directory.close();
  await core.registry.close();
  await clusters.roster.close();
  await clusters.cordons.close();
  clusters.gateway.close();
}
