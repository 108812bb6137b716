import { omitUndefined, type Explanation } from "@oaas/contracts/rest";
import { Fault, isFault, notFound, orAbort, timestamp, unavailable, type Clock } from "@oaas/foundation";
import type {
  ActiveFreeze,
  ComponentUsage,
  ClassDefinition,
  ClassRuntime,
  ClusterName,
  DeploymentKey,
  DeploymentPause,
  EnforcementReport,
  ReportedMetric,
  Topology,
  UnitId,
  DeploymentStatus,
  OperationStatus,
} from "@oaas/models";
import { pageOf, type Ordered } from "@oaas/storage";
import { assertKnownCluster } from "../clusters/cluster-roster.ts";
import { placementEntries, type DeploymentRecord, type Placement } from "../records/deployment-record.ts";
import type { UnitAddress } from "../records/unit-table.ts";
import type { ClusterDirectory, RuntimeQuery, UnitReport } from "../ports.ts";
import { boundedPage } from "../paging.ts";
import type { TurnFacts } from "../restarts/decide-turn.ts";
import { ownEntry, type DeploymentPlan } from "../planner/plan-types.ts";
import { restoreFault } from "../saga-engine/stored-fault.ts";
import type { Call, ListPage, RuntimeListQuery, StatusReader } from "../use-cases.ts";
import { aggregateStatus, type UnitObservation } from "./aggregate-status.ts";
import { deploymentTopology, mergeTopologies } from "./deployment-topology.ts";
import {
  beforeChange,
  explainDeployment,
  findingFromReport,
  createFinding,
  type ClusterFinding,
} from "./explain-deployment.ts";
import { withPlan } from "./planned-status.ts";
import type { ReadGateway } from "./read-timeout.ts";
import type { ReplanStatusReader } from "./replan-status.ts";
import { readRestartProgress, type TurnSource } from "./restart-status.ts";
import { orderRuntimes, RuntimeLists, runtimeOrder } from "./runtime-list.ts";
import { matchesQuery } from "./runtime-query.ts";
import type { RuntimeView } from "./runtime-view.ts";

/** The records and operations of deployments. */
export interface DeploymentSource {
  record(key: DeploymentKey): Promise<DeploymentRecord | undefined>;
  /** The plan in force; undefined when there is none, or this version cannot read it. */
  plan(key: DeploymentKey, record: DeploymentRecord): Promise<DeploymentPlan | undefined>;
  /** The current or last operation. */
  operation(key: DeploymentKey): OperationStatus | undefined;
  all(): Iterable<DeploymentRecord>;
}

export interface StatusReaderDeps {
  readonly deployments: DeploymentSource;
  readonly clusters: ClusterDirectory;
  readonly gateway: ReadGateway;
  readonly view: RuntimeView;
  readonly clock: Clock;
  /** The classes of all packages, by `package.Class`. */
  readonly classes: () => readonly ClassDefinition[];
  /** The metrics that a cluster reported of a unit. */
  readonly metricsOf?: (cluster: ClusterName, unitId: UnitId) => readonly ReportedMetric[];
  readonly replans?: Pick<ReplanStatusReader, "read">;
  readonly turns?: TurnSource;
  readonly holdOf?: (key: DeploymentKey, record: DeploymentRecord) => TurnFacts["hold"];
  readonly pauseOf?: (key: DeploymentKey) => DeploymentPause | undefined;
  readonly freezesOf?: (clusters: readonly ClusterName[]) => readonly ActiveFreeze[];
  /** Preferred when several clusters have the unit. */
  readonly defaultCluster?: () => ClusterName | undefined;
}

interface RuntimeList {
  readonly list: Ordered<ClassRuntime>;
  readonly missing: readonly ClusterName[];
}

/**
 * Reads the status of deployments from the runtime view, and from clusters where the view is not current.
 *
 * *Guarantees*: clusters are queried concurrently; an unreachable cluster is named and does not hide the others.
 */
export class ClusterStatusReader implements StatusReader {
  readonly #deps: StatusReaderDeps;
  readonly #lists: RuntimeLists<RuntimeList>;

  constructor(deps: StatusReaderDeps) {
    this.#deps = deps;
    this.#lists = new RuntimeLists(deps.view);
  }

  async status(key: DeploymentKey): Promise<DeploymentStatus> {
    const { deployments } = this.#deps;
    const record = await this.#record(key);
    const plan = deployments.plan(key, record);
    const observed = await Promise.all(
      placementEntries(record).map(
        async ([cluster, placement]) =>
          [
            cluster,
            {
              ...(await this.#observe(cluster, placement)),
              metrics: this.#deps.metricsOf?.(cluster, placement.unitId) ?? [],
            },
          ] as const,
      ),
    );
    const observations = new Map(observed);
    const status = aggregateStatus(key, record, observations, deployments.operation(key));
    const notServing = new Set(status.clusters.flatMap((each) => (each.serving ? [] : [each.cluster])));
    const replan = await this.#deps.replans?.read(key, record, notServing);
    const stateRestart = await readRestartProgress(this.#deps, key, record, await plan, observations);
    const planned = withPlan(status, await plan, observations, (name) => this.#deps.clusters.get(name)?.cost);
    const freezes = this.#deps.freezesOf?.(placementEntries(record).map(([cluster]) => cluster)) ?? [];
    return omitUndefined({
      ...planned,
      replan,
      stateRestart,
      pause: this.#deps.pauseOf?.(key),
      freezes: freezes.length === 0 ? undefined : freezes,
    });
  }

  async unit(id: UnitId, cluster?: ClusterName): Promise<ClassRuntime> {
    this.#assertKnown(cluster);
    const names = cluster === undefined ? this.#defaultFirst() : [cluster];
    const units = names.map((name) => [name, { unitId: id, namespace: this.#namespaceOf(name, id) }] as const);
    const known = units.map(([name, unit]) => this.#liveReport(name, unit)).find((report) => report !== undefined);
    if (known !== undefined) return known.runtime;
    const queried = await Promise.all(units.map(([name, unit]) => this.#queryUnit(name, unit)));
    const found = queried.find(({ reachable, unit }) => reachable && unit !== undefined);
    if (found?.unit !== undefined) return found.unit.report.runtime;
    const unreachable = names.filter((_, index) => queried[index]?.reachable === false);
    if (unreachable.length === 0) throw notFound("class runtime", id);
    const error = queried.find(({ reachable }) => !reachable)?.error ?? "";
    throw unavailable(
      unreachable.join(", "),
      `"${id}" was not found in the reachable clusters; unreachable: ${unreachable.join(", ")} (${error})`,
    );
  }

  async locate(id: UnitId, cluster?: ClusterName): ReturnType<StatusReader["locate"]> {
    const { cluster: name } = await this.unit(id, cluster);
    return { cluster: name, namespace: name === undefined ? undefined : this.#namespaceOf(name, id) };
  }

  async enforcement(id: UnitId, cluster?: ClusterName): Promise<EnforcementReport> {
    const { cluster: name, namespace } = await this.locate(id, cluster);
    const report = name === undefined ? undefined : await this.#deps.gateway.enforcement(name, id, { namespace });
    if (report === undefined) throw notFound("class runtime", id);
    return report;
  }

  async usage(cluster: ClusterName, call?: Call): Promise<readonly ComponentUsage[]> {
    this.#assertKnown(cluster);
    const { gateway } = this.#deps;
    const { signal } = call ?? {};
    return gateway.usage(cluster, signal === undefined ? {} : { signal });
  }

  async runtimes(
    query: RuntimeListQuery,
  ): Promise<ListPage<ClassRuntime> & { readonly missing: readonly ClusterName[] }> {
    const { clusters, view } = this.#deps;
    const { cluster, limit: _limit, offset: _offset, pageToken: _pageToken, ...filter } = query;
    this.#assertKnown(cluster);
    const names = cluster === undefined ? clusters.list().map(({ name }) => name) : [cluster];
    const create = async (): Promise<RuntimeList> => {
      const reports = await Promise.all(names.map((name) => this.#runtimesOf(name, query)));
      const missing = names.filter((_, index) => reports[index] === undefined);
      // Clusters are sorted by name and their units by id, so the list is sorted.
      return {
        list: orderRuntimes(
          reports.flatMap((ofCluster) => ofCluster ?? []),
          query,
        ),
        missing,
      };
    };
    // Answers of clusters are not kept: no event announces a change.
    const isFollowed = query.environment === undefined && names.every((name) => view.syncState(name) === "live");
    const { list, missing } = await (isFollowed ? this.#lists.get(JSON.stringify([names, filter]), create) : create());
    return { ...pageOf(list, { ...runtimeOrder(query.sort), ...boundedPage(query) }), missing };
  }

  async explain(key: DeploymentKey, cluster?: ClusterName, call?: Call): Promise<Explanation> {
    const { deployments, clock } = this.#deps;
    const record = await this.#record(key);
    const placements = placementEntries(record).filter(([name]) => cluster === undefined || name === cluster);
    if (cluster !== undefined && placements.length === 0) {
      assertKnownCluster(this.#deps.clusters, cluster);
      throw notFound("deployment", `${key} in ${cluster}`);
    }
    const selected = placements.filter(([, { state }]) => cluster !== undefined || state !== "withdrawn");
    const findings = Promise.all(selected.map(([name, placement]) => this.#explain(name, placement, record)));
    const operation = deployments.operation(key);
    return explainDeployment(key, await orAbort(findings, call?.signal), operation, timestamp(clock.now()));
  }

  async topology(source: "deployments" | "zenoh"): Promise<Topology> {
    const { clusters, deployments, gateway, clock } = this.#deps;
    const at = timestamp(clock.now());
    if (source === "deployments") {
      const readings = await clusters.readings();
      const observe = (cluster: ClusterName, unit: UnitAddress): UnitObservation =>
        this.#lastObservation(cluster, unit);
      return deploymentTopology({ records: deployments.all(), readings, classes: this.#deps.classes(), observe }, at);
    }
    const parts = await Promise.all(
      clusters.list().map(async ({ name }) => ({
        cluster: name,
        topology: await gateway.topology(name).catch((thrown: unknown) => Fault.from(thrown).message),
      })),
    );
    const errors = parts.map(({ topology }) => topology).filter((topology) => typeof topology === "string");
    if (parts.length > 0 && errors.length === parts.length) {
      throw unavailable("every cluster", `no cluster is reachable: ${errors.join("; ")}`);
    }
    return mergeTopologies(parts, at);
  }

  #assertKnown(cluster: ClusterName | undefined): void {
    if (cluster !== undefined) assertKnownCluster(this.#deps.clusters, cluster);
  }

  #defaultFirst(): readonly ClusterName[] {
    const { clusters } = this.#deps;
    const defaultCluster = this.#deps.defaultCluster?.();
    const isDefault = (name: ClusterName): number => (name === defaultCluster ? 0 : 1);
    return clusters
      .list()
      .map(({ name }) => name)
      .toSorted((a, b) => isDefault(a) - isDefault(b));
  }

  async #record(key: DeploymentKey): Promise<DeploymentRecord> {
    const record = await this.#deps.deployments.record(key);
    if (record === undefined) throw notFound("deployment", key);
    return record;
  }

  /** The last known state of a unit, without a query. */
  #lastObservation(cluster: ClusterName, { unitId, namespace }: UnitAddress): UnitObservation {
    const { view } = this.#deps;
    const unit = view.get(cluster, unitId, namespace);
    return { reachable: view.syncState(cluster) !== "unknown", ...(unit && { unit }) };
  }

  /** The report of a unit in a watched cluster. */
  #liveReport(cluster: ClusterName, { unitId, namespace }: UnitAddress): UnitReport | undefined {
    const { view } = this.#deps;
    return view.syncState(cluster) === "live" ? view.get(cluster, unitId, namespace)?.report : undefined;
  }

  /** The namespace of a unit of this package manager; undefined if it is unknown. */
  #namespaceOf(cluster: ClusterName, unitId: UnitId): string | undefined {
    for (const { placements } of this.#deps.deployments.all()) {
      const placement = ownEntry(placements, cluster);
      if (placement?.unitId === unitId) return placement.namespace;
    }
    return undefined;
  }

  /** From the view if it has the accepted revision of the unit, else from the cluster. */
  async #observe(cluster: ClusterName, placement: Placement): Promise<UnitObservation> {
    const { unitId, namespace, digest, state } = placement;
    const unit = this.#liveReport(cluster, placement) && this.#deps.view.get(cluster, unitId, namespace);
    const isCurrent = unit !== undefined && state === "wanted" && unit.report.digest === digest;
    return isCurrent ? { unit, reachable: true } : this.#queryUnit(cluster, placement);
  }

  async #queryUnit(cluster: ClusterName, { unitId, namespace }: UnitAddress): Promise<UnitObservation> {
    const { gateway, view, clock } = this.#deps;
    try {
      const report = await gateway.unit(cluster, unitId, { namespace });
      return { reachable: true, ...(report && { unit: { report, observedAtMs: clock.now() } }) };
    } catch (thrown) {
      const unit = view.get(cluster, unitId, namespace);
      return { reachable: false, error: Fault.from(thrown).message, ...(unit && { unit }) };
    }
  }

  /** Sorted by unit id; undefined if the cluster is unreachable. */
  async #runtimesOf(cluster: ClusterName, query: RuntimeQuery): Promise<readonly UnitReport[] | undefined> {
    const { gateway, view } = this.#deps;
    // Only the cluster can match an environment. A polled view may lack recent deployments.
    if (view.syncState(cluster) === "live" && query.environment === undefined) {
      return view.reportsOf(cluster).filter((report) => matchesQuery(report, query));
    }
    try {
      const reports: UnitReport[] = [];
      for await (const report of gateway.runtimes(cluster, query)) reports.push(report);
      return reports.sort((a, b) => (a.unitId < b.unitId ? -1 : 1));
    } catch {
      // The response lists the cluster as missing.
      return undefined;
    }
  }

  async #explain(cluster: ClusterName, placement: Placement, record: DeploymentRecord): Promise<ClusterFinding> {
    const { gateway, clusters } = this.#deps;
    const { unitId, namespace, accepted, fault } = placement;
    const name = record.deployment.classKey;
    // Otherwise not-found of the cluster would be taken for not-found of the unit.
    if (clusters.get(cluster) === undefined)
      return { cluster, unitId, error: "the cluster is not registered any more" };
    if (!accepted && fault !== undefined) {
      const verdict = restoreFault(fault).retryable ? "transient" : "permanent";
      return { cluster, unitId, finding: createFinding(name, verdict, fault.message, { reason: "NotAccepted" }) };
    }
    try {
      const finding =
        (await gateway.explain(cluster, unitId, { namespace })) ?? (await this.#findingFromUnit(cluster, placement));
      if (finding !== undefined) return { cluster, unitId, finding: accepted ? finding : beforeChange(finding) };
    } catch (thrown) {
      if (!isFault(thrown, "not-found")) return { cluster, unitId, error: Fault.from(thrown).message };
    }
    const message = accepted ? "missing in the cluster; it will be deployed again" : "not deployed yet";
    return { cluster, unitId, finding: createFinding(name, "transient", message, { reason: "Missing" }) };
  }

  async #findingFromUnit(cluster: ClusterName, { unitId, namespace }: UnitAddress) {
    const report = await this.#deps.gateway.unit(cluster, unitId, { namespace });
    return report && findingFromReport(report);
  }
}
