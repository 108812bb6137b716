import { Fault, isFault, notFound, orAbort, timestamp, unavailable, type Clock } from "@oaas/foundation";
import type { ClassDefinition, ClassRuntime, ClusterName, DeploymentKey, Topology, UnitId } from "@oaas/models";
import { pageOf } from "@oaas/storage";
import { assertKnownCluster } from "../clusters/cluster-roster.ts";
import { placementEntries, type DeploymentRecord, type Placement } from "../records/deployment-record.ts";
import type { ClusterDirectory, RuntimeQuery, UnitReport } from "../ports.ts";
import { boundedPage } from "../paging.ts";
import { restoreFault } from "../saga-engine/stored-fault.ts";
import type {
  Call,
  DeploymentStatus,
  Explanation,
  ListPage,
  OperationStatus,
  PageRequest,
  StatusReader,
} from "../use-cases.ts";
import { aggregateStatus, type UnitObservation } from "./aggregate-status.ts";
import { deploymentTopology, mergeTopologies } from "./deployment-topology.ts";
import { explainDeployment, findingFromReport, createFinding, type ClusterFinding } from "./explain-deployment.ts";
import type { ReadGateway } from "./read-timeout.ts";
import { matchesQuery } from "./runtime-query.ts";
import type { RuntimeView } from "./runtime-view.ts";

/** What is known about deployments themselves. */
export interface DeploymentSource {
  record(key: DeploymentKey): Promise<DeploymentRecord | undefined>;
  /** The operation that is under way or was the last. */
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
  /** Whose answer counts when several have one. */
  readonly defaultCluster?: ClusterName;
}

/**
 * How things are, from what clusters tell and, where that is not enough, from asking them.
 *
 * *Guarantees*: all clusters are asked at once; one that cannot be asked is named and hides nothing of the others.
 */
export class ClusterStatusReader implements StatusReader {
  readonly #deps: StatusReaderDeps;

  constructor(deps: StatusReaderDeps) {
    this.#deps = deps;
  }

  async status(key: DeploymentKey): Promise<DeploymentStatus> {
    const { deployments } = this.#deps;
    const record = await this.#record(key);
    const observed = await Promise.all(
      placementEntries(record).map(
        async ([cluster, placement]) => [cluster, await this.#observe(cluster, placement)] as const,
      ),
    );
    return aggregateStatus(key, record, new Map(observed), deployments.operation(key));
  }

  async unit(id: UnitId, cluster?: ClusterName): Promise<ClassRuntime> {
    this.#assertKnown(cluster);
    const names = cluster === undefined ? this.#defaultFirst() : [cluster];
    const known = names.map((name) => this.#live(name, id)).find((report) => report !== undefined);
    if (known !== undefined) return known.runtime;
    const asked = await Promise.all(names.map((name) => this.#ask(name, id)));
    const found = asked.find(({ reachable, unit }) => reachable && unit !== undefined);
    if (found?.unit !== undefined) return found.unit.report.runtime;
    const away = names.filter((_, index) => asked[index]?.reachable === false);
    if (away.length === 0) throw notFound("class runtime", id);
    const error = asked.find(({ reachable }) => !reachable)?.error ?? "";
    throw unavailable(
      away.join(", "),
      `"${id}" is in no cluster that answers; not asked: ${away.join(", ")} (${error})`,
    );
  }

  async runtimes(
    query: RuntimeQuery & PageRequest & { readonly cluster?: ClusterName },
  ): Promise<ListPage<ClassRuntime> & { readonly missing: readonly ClusterName[] }> {
    const { clusters } = this.#deps;
    const { cluster } = query;
    this.#assertKnown(cluster);
    const names = cluster === undefined ? clusters.list().map(({ name }) => name) : [cluster];
    const told = await Promise.all(names.map((name) => this.#runtimesOf(name, query)));
    const missing = names.filter((_, index) => told[index] === undefined);
    // Clusters come by name and their units by id, so that the whole is in order already.
    const items = told.flatMap((reports) => reports ?? []).map(({ runtime }) => runtime);
    const list = { items, keys: items.map(({ cluster: name, unitId }) => `${name ?? ""}\u0000${unitId}`) };
    return { ...pageOf(list, { order: "cluster", ...boundedPage(query) }), missing };
  }

  async explain(key: DeploymentKey, cluster?: ClusterName, call?: Call): Promise<Explanation> {
    const { deployments, clock } = this.#deps;
    const record = await this.#record(key);
    const placements = placementEntries(record).filter(([name]) => cluster === undefined || name === cluster);
    if (cluster !== undefined && placements.length === 0) {
      assertKnownCluster(this.#deps.clusters, cluster);
      throw notFound("deployment", `${key} in ${cluster}`);
    }
    const wanted = placements.filter(([, { state }]) => cluster !== undefined || state !== "withdrawn");
    const findings = Promise.all(wanted.map(([name, placement]) => this.#explain(name, placement, record)));
    const operation = deployments.operation(key);
    return explainDeployment(key, await orAbort(findings, call?.signal), operation, timestamp(clock.now()));
  }

  async topology(source: "deployments" | "zenoh"): Promise<Topology> {
    const { clusters, deployments, gateway, clock } = this.#deps;
    const at = timestamp(clock.now());
    if (source === "deployments") {
      const readings = await clusters.readings();
      return deploymentTopology({ records: deployments.all(), readings, classes: this.#deps.classes() }, at);
    }
    const parts = await Promise.all(
      clusters.list().map(async ({ name }) => ({
        cluster: name,
        topology: await gateway.topology(name).catch((thrown: unknown) => Fault.from(thrown).message),
      })),
    );
    const errors = parts.map(({ topology }) => topology).filter((topology) => typeof topology === "string");
    if (parts.length > 0 && errors.length === parts.length) {
      throw unavailable("every cluster", `no cluster could be asked: ${errors.join("; ")}`);
    }
    return mergeTopologies(parts, at);
  }

  #assertKnown(cluster: ClusterName | undefined): void {
    if (cluster !== undefined) assertKnownCluster(this.#deps.clusters, cluster);
  }

  #defaultFirst(): readonly ClusterName[] {
    const { clusters, defaultCluster } = this.#deps;
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

  /** What a cluster that tells every change by itself has told. */
  #live(cluster: ClusterName, unitId: UnitId): UnitReport | undefined {
    const { view } = this.#deps;
    return view.syncState(cluster) === "live" ? view.get(cluster, unitId)?.report : undefined;
  }

  /** From what was told, when it is about the unit that was accepted last; else from asking. */
  async #observe(cluster: ClusterName, { unitId, digest, state }: Placement): Promise<UnitObservation> {
    const unit = this.#live(cluster, unitId) && this.#deps.view.get(cluster, unitId);
    const isCurrent = unit !== undefined && state === "wanted" && unit.report.digest === digest;
    return isCurrent ? { unit, reachable: true } : this.#ask(cluster, unitId);
  }

  async #ask(cluster: ClusterName, unitId: UnitId): Promise<UnitObservation> {
    const { gateway, view, clock } = this.#deps;
    try {
      const report = await gateway.unit(cluster, unitId);
      return { reachable: true, ...(report && { unit: { report, observedAtMs: clock.now() } }) };
    } catch (thrown) {
      const unit = view.get(cluster, unitId);
      return { reachable: false, error: Fault.from(thrown).message, ...(unit && { unit }) };
    }
  }

  /** By unit id; undefined when the cluster cannot be asked. */
  async #runtimesOf(cluster: ClusterName, query: RuntimeQuery): Promise<readonly UnitReport[] | undefined> {
    const { gateway, view } = this.#deps;
    // What a class's place is called, only its own cluster can tell. One that is polled may have had anything since, also what was just deployed.
    if (view.syncState(cluster) === "live" && query.environment === undefined) {
      return view.reportsOf(cluster).filter((report) => matchesQuery(report, query));
    }
    try {
      const reports: UnitReport[] = [];
      for await (const report of gateway.runtimes(cluster, query)) reports.push(report);
      return reports.sort((a, b) => (a.unitId < b.unitId ? -1 : 1));
    } catch {
      // Named in the answer, with its health to be asked for where clusters are listed.
      return undefined;
    }
  }

  async #explain(cluster: ClusterName, placement: Placement, record: DeploymentRecord): Promise<ClusterFinding> {
    const { gateway, clusters } = this.#deps;
    const { unitId, accepted, fault } = placement;
    const name = record.deployment.classKey;
    // Otherwise its "not found" would be taken for the class's.
    if (clusters.get(cluster) === undefined) return { cluster, unitId, error: "the cluster is not known any more" };
    if (!accepted && fault !== undefined) {
      const verdict = restoreFault(fault).retryable ? "transient" : "permanent";
      return { cluster, unitId, finding: createFinding(name, verdict, fault.message, { reason: "NotAccepted" }) };
    }
    try {
      const finding = await gateway.explain(cluster, unitId);
      if (finding !== undefined) return { cluster, unitId, finding };
      const report = await gateway.unit(cluster, unitId);
      if (report !== undefined) return { cluster, unitId, finding: findingFromReport(report) };
    } catch (thrown) {
      if (!isFault(thrown, "not-found")) return { cluster, unitId, error: Fault.from(thrown).message };
    }
    const message = accepted ? "it is not there any more and is about to be sent again" : "it was not sent yet";
    return { cluster, unitId, finding: createFinding(name, "transient", message, { reason: "Missing" }) };
  }
}
