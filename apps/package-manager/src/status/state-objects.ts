import { failedPrecondition, Fault, invalidArgument, isFault, notFound, type Violation } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { omitUndefined } from "@oaas/contracts/rest";
import { assertKnownCluster } from "../clusters/cluster-roster.ts";
import { boundedPage } from "../paging.ts";
import type { DeploymentPlan, PlannedOdgm } from "../planner/plan-types.ts";
import type {
  ClusterDirectory,
  StateEntries,
  StateGateway,
  StateObjectAddress,
  StateObjectSummary,
  StatePartition,
} from "../ports.ts";
import { placementEntries, type DeploymentRecord } from "../records/deployment-record.ts";
import type { UnitAddress } from "../records/unit-table.ts";
import type { StateCall, StateCollection, StateListQuery, StateObjects } from "../use-cases.ts";
import { parseListPosition, formatListPosition, type ListPosition } from "./list-position.ts";

export interface StateObjectsDeps {
  readonly record: (key: DeploymentKey) => Promise<DeploymentRecord | undefined>;
  readonly planOf: (key: DeploymentKey, record: DeploymentRecord) => Promise<DeploymentPlan | undefined>;
  readonly clusters: ClusterDirectory;
  readonly gateway: StateGateway;
}

/** Partitions that one page reads at most: a page of a sparse collection ends early instead of taking long. */
const PARTITIONS_PER_PAGE = 32;

type StatePage = Awaited<ReturnType<StateGateway["stateObjects"]>>;
type ListedObject = StateObjectSummary & StatePartition;

type Unit = readonly [ClusterName, UnitAddress];

/** The state of a deployment: its layout, and the units that may hold partitions. */
interface DeployedState {
  readonly odgm: PlannedOdgm;
  readonly units: readonly Unit[];
}

/** Reads and writes objects through the class runtime managers of the clusters that hold them. */
export class ClusterStateObjects implements StateObjects {
  readonly #deps: StateObjectsDeps;

  constructor(deps: StateObjectsDeps) {
    this.#deps = deps;
  }

  async collections(key: DeploymentKey): Promise<readonly StateCollection[]> {
    const state = await this.#state(key, undefined);
    const { odgm } = state;
    return odgm.collections.map((name) => ({
      name,
      partitionCount: odgm.partitionCount,
      replicaCount: odgm.replicaCount,
      ...(odgm.shardType === undefined ? {} : { shardType: odgm.shardType }),
      clusters: clustersOf(state, name),
    }));
  }

  async list(key: DeploymentKey, query: StateListQuery, signal: AbortSignal): ReturnType<StateObjects["list"]> {
    const state = await this.#state(key, query.cluster);
    const collection = collectionOf(state.odgm, query.collection, "$.collection");
    if (query.partition !== undefined) assertPartition(state.odgm, query.partition, "$.partition");
    const { limit } = boundedPage(query);
    const objects: ListedObject[] = [];
    let position: ListPosition | undefined = startOf(state.odgm, collection, query);
    for (let calls = 0; position && objects.length < limit && calls < PARTITIONS_PER_PAGE; calls += 1) {
      const page: StatePage = await this.#readPage(
        state,
        position,
        { ...query, limit: limit - objects.length },
        signal,
      );
      for (const object of page.objects) objects.push({ collection, partition: position.partition, ...object });
      position = positionAfter(position, page.next, state.odgm, query);
    }
    return { objects, ...(position ? { next: formatListPosition(position) } : {}) };
  }

  async #readPage(
    state: DeployedState,
    { collection, partition, token }: ListPosition,
    { prefix, fresh, limit }: StateListQuery & { readonly limit: number },
    signal: AbortSignal,
  ): Promise<StatePage> {
    const asked = omitUndefined({ collection, partition, prefix, fresh, limit, pageToken: token });
    const { value } = await this.#tryHolders(state, asked, ([cluster, { unitId, namespace }]) =>
      this.#deps.gateway.stateObjects(cluster, unitId, asked, { signal, namespace, explicit: true }),
    );
    return value;
  }

  async get(key: DeploymentKey, address: StateObjectAddress, call: StateCall): ReturnType<StateObjects["get"]> {
    const { gateway } = this.#deps;
    const { cluster, value } = await this.#callHolder(key, address, call, ([name, { unitId, namespace }]) =>
      gateway.stateObject(name, unitId, address, { signal: call.signal, namespace, explicit: true }),
    );
    return { cluster, ...value };
  }

  async set(
    key: DeploymentKey,
    address: StateObjectAddress,
    entries: StateEntries,
    call: StateCall,
  ): Promise<ClusterName> {
    const { gateway } = this.#deps;
    const { cluster } = await this.#callHolder(key, address, call, ([name, { unitId, namespace }]) =>
      gateway.setStateObject(name, unitId, { ...address, entries }, { signal: call.signal, namespace, explicit: true }),
    );
    return cluster;
  }

  async delete(key: DeploymentKey, address: StateObjectAddress, call: StateCall): Promise<ClusterName> {
    const { gateway } = this.#deps;
    const { cluster } = await this.#callHolder(key, address, call, ([name, { unitId, namespace }]) =>
      gateway.deleteStateObject(name, unitId, address, { signal: call.signal, namespace, explicit: true }),
    );
    return cluster;
  }

  async #callHolder<T>(
    key: DeploymentKey,
    address: StateObjectAddress,
    { cluster }: StateCall,
    work: (unit: Unit) => Promise<T>,
  ): Promise<{ readonly cluster: ClusterName; readonly value: T }> {
    const state = await this.#state(key, cluster);
    collectionOf(state.odgm, address.collection, "$.collection");
    assertPartition(state.odgm, address.partition, "$.partition");
    return this.#tryHolders(state, address, work);
  }

  /**
   * Calls the clusters that hold a partition, in the same order each time, until one answers. A write that is repeated in
   * another cluster has the same effect, because it replaces or deletes a whole object.
   */
  async #tryHolders<T>(
    state: DeployedState,
    { collection, partition }: { readonly collection: string; readonly partition: number },
    work: (unit: Unit) => Promise<T>,
  ): Promise<{ readonly cluster: ClusterName; readonly value: T }> {
    const faults: Fault[] = [];
    for (const unit of holdersOf(state, collection, partition)) {
      try {
        return { cluster: unit[0], value: await work(unit) };
      } catch (thrown) {
        const fault = Fault.from(thrown);
        if (!mayAnswerElsewhere(fault)) throw fault;
        faults.push(fault);
      }
    }
    // A fault that passes says more than one of a cluster that does not hold the partition.
    throw faults.find(({ retryable }) => retryable) ?? faults[0] ?? notFound("partition", `${collection}/${partition}`);
  }

  async #state(key: DeploymentKey, cluster: ClusterName | undefined): Promise<DeployedState> {
    const { clusters, planOf } = this.#deps;
    const record = await this.#deps.record(key);
    if (record === undefined) throw notFound("deployment", key);
    if (cluster !== undefined) assertKnownCluster(clusters, cluster);
    const plan = await planOf(key, record);
    if (plan?.odgm === undefined) throw withoutState(key);
    const units = placementEntries(record)
      .filter(([name, { state }]) => (cluster === undefined ? state !== "withdrawn" : name === cluster))
      .map(([name, { unitId, namespace }]) => [name, { unitId, namespace }] as const);
    if (units.length === 0) throw notFound("deployment", cluster === undefined ? key : `${key} in ${cluster}`);
    return { odgm: plan.odgm, units: units.toSorted(([a], [b]) => (a < b ? -1 : 1)) };
  }
}

function withoutState(key: DeploymentKey): Fault {
  return failedPrecondition(
    `deployment "${key}"`,
    `deployment "${key}" has no state store: its class has no state; add state_spec to the class`,
  );
}

/** A cluster that is not reachable, has no quorum, does not hold the partition, or is older; not one that rejects it. */
function mayAnswerElsewhere(fault: Fault): boolean {
  if (isFault(fault, "not-found")) return fault.detail.resource !== STATE_OBJECT;
  return fault.kind !== "invalid-argument" && fault.kind !== "cancelled" && fault.kind !== "internal";
}

/** The resource in the faults of class runtime managers about objects. */
const STATE_OBJECT = "object";

/** The units that hold a partition, the one of its primary first; all of them when the plan does not say. */
function holdersOf({ odgm, units }: DeployedState, collection: string, partition: number): readonly Unit[] {
  const assignment = assignmentsOf(odgm, collection)[partition];
  if (assignment === undefined) return units;
  const rank = ([cluster]: Unit): number => {
    const ids = odgm.nodeIds[cluster] ?? [];
    const at = assignment.replica.findIndex((node) => ids.includes(node));
    return at === -1 ? Infinity : at;
  };
  const holders = units.filter((unit) => rank(unit) !== Infinity);
  return holders.length === 0 ? units : holders.toSorted((a, b) => rank(a) - rank(b));
}

function clustersOf({ odgm, units }: DeployedState, collection: string): readonly ClusterName[] {
  const nodes = new Set(assignmentsOf(odgm, collection).flatMap(({ replica }) => replica));
  const all = units.map(([cluster]) => cluster);
  const holders = all.filter((cluster) => (odgm.nodeIds[cluster] ?? []).some((node) => nodes.has(node)));
  return holders.length === 0 ? all : holders;
}

function assignmentsOf({ assignments }: PlannedOdgm, collection: string) {
  return Object.hasOwn(assignments, collection) ? (assignments[collection] ?? []) : [];
}

/** The named collection, or the only one. */
function collectionOf({ collections }: PlannedOdgm, named: string | undefined, path: string): string {
  const [only] = collections;
  if (named === undefined && collections.length === 1 && only !== undefined) return only;
  if (named !== undefined && collections.includes(named)) return named;
  if (named !== undefined) {
    const known = `the deployment has ${collections.join(", ")}`;
    throw new Fault(
      { kind: "not-found", resource: "collection", name: named },
      `collection "${named}" was not found: ${known}`,
    );
  }
  throw invalid({ path, message: "is missing", fix: `use one of ${collections.join(", ")}` });
}

function assertPartition({ partitionCount }: PlannedOdgm, partition: number, path: string): void {
  if (partition < partitionCount) return;
  throw invalid({ path, message: `${partition} does not exist`, fix: `use 0 to ${partitionCount - 1}` });
}

/** Where a list starts: at its beginning, or where the previous page ended. */
function startOf(odgm: PlannedOdgm, collection: string, { partition, pageToken }: StateListQuery): ListPosition {
  if (pageToken === undefined) return { collection, partition: partition ?? 0 };
  const position = parseListPosition(pageToken);
  const isOfList =
    position?.collection === collection &&
    position.partition < odgm.partitionCount &&
    (partition === undefined || partition === position.partition);
  if (isOfList) return position;
  throw invalid({
    path: "$.page_token",
    message: "is not a token of this list",
    fix: "pass the token of the previous page unchanged, or omit it to start at the first page",
  });
}

/** Where the list continues: in the same partition, in the next one, or not at all. */
function positionAfter(
  { collection, partition }: ListPosition,
  token: Uint8Array | undefined,
  { partitionCount }: PlannedOdgm,
  { partition: only }: StateListQuery,
): ListPosition | undefined {
  if (token !== undefined) return { collection, partition, token };
  return only !== undefined || partition + 1 >= partitionCount ? undefined : { collection, partition: partition + 1 };
}

function invalid(violation: Violation): Fault {
  return invalidArgument("the request", [violation]);
}
