import { Fault, MergedStreams, notFound, timestamp, type Clock } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { assertKnownCluster } from "../clusters/cluster-roster.ts";
import type { ClusterDirectory, CrmGateway, FunctionRequest, FunctionResponse, LogQuery } from "../ports.ts";
import { placementEntries, type DeploymentRecord } from "../records/deployment-record.ts";
import type { UnitAddress } from "../records/unit-table.ts";
import type { ClusterLogLine, FunctionAccess, StatusReader } from "../use-cases.ts";

export interface FunctionAccessDeps {
  readonly record: (key: DeploymentKey) => Promise<DeploymentRecord | undefined>;
  readonly clusters: ClusterDirectory;
  readonly gateway: Pick<CrmGateway, "logs" | "invoke">;
  readonly status: Pick<StatusReader, "status">;
  readonly clock: Clock;
}

type Unit = readonly [ClusterName, UnitAddress];

/** Reaches functions through the class runtime managers of their clusters. */
export class ClusterFunctionAccess implements FunctionAccess {
  readonly #deps: FunctionAccessDeps;

  constructor(deps: FunctionAccessDeps) {
    this.#deps = deps;
  }

  async logs(
    key: DeploymentKey,
    { cluster, ...query }: LogQuery & { readonly cluster?: ClusterName },
    signal: AbortSignal,
  ): Promise<AsyncIterable<readonly ClusterLogLine[]>> {
    return this.#merge(await this.#units(key, cluster), query, signal);
  }

  async invoke(
    key: DeploymentKey,
    request: FunctionRequest,
    { cluster, signal }: { readonly cluster?: ClusterName; readonly signal: AbortSignal },
  ): Promise<FunctionResponse & { readonly cluster: ClusterName }> {
    const units = await this.#units(key, cluster);
    const [name, unit] = (units.length > 1 ? await this.#firstReady(key, request.functionKey, units) : undefined) ??
      units[0] ?? [undefined, undefined];
    if (name === undefined) throw notFound("deployment", `${key} in any cluster`);
    const { unitId, namespace } = unit;
    return { ...(await this.#deps.gateway.invoke(name, unitId, request, { signal, namespace })), cluster: name };
  }

  async *#merge(
    units: readonly Unit[],
    query: LogQuery,
    signal: AbortSignal,
  ): AsyncGenerator<readonly ClusterLogLine[]> {
    const ending = new AbortController();
    const both = AbortSignal.any([signal, ending.signal]);
    const merged = new MergedStreams<readonly ClusterLogLine[]>();
    try {
      for (const unit of units) merged.add(this.#read(unit, query, both));
      for (let next = await merged.next(both); next; next = await merged.next(both)) yield next;
    } finally {
      ending.abort();
      merged.close();
    }
  }

  async *#read(
    [cluster, { unitId, namespace }]: Unit,
    query: LogQuery,
    signal: AbortSignal,
  ): AsyncGenerator<readonly ClusterLogLine[]> {
    try {
      const batches = this.#deps.gateway.logs(cluster, unitId, query, { signal, namespace });
      for await (const lines of batches) yield lines.map((line) => ({ cluster, ...line }));
    } catch (thrown) {
      if (signal.aborted) return;
      const text = `cannot read the output: ${Fault.from(thrown).message}`;
      const at = timestamp(this.#deps.clock.now());
      yield [{ cluster, pod: "", functionKey: "", at, text, isNotice: true }];
    }
  }

  /** The first cluster in which the function is ready. */
  async #firstReady(key: DeploymentKey, functionKey: string, units: readonly Unit[]): Promise<Unit | undefined> {
    const { clusters } = await this.#deps.status.status(key);
    const isReady = (name: ClusterName): boolean =>
      clusters.some(
        ({ cluster, functions }) =>
          cluster === name && functions.some((one) => one.functionKey === functionKey && one.ready === true),
      );
    return units.find(([name]) => isReady(name));
  }

  async #units(key: DeploymentKey, cluster: ClusterName | undefined): Promise<readonly Unit[]> {
    const record = await this.#deps.record(key);
    if (record === undefined) throw notFound("deployment", key);
    if (cluster !== undefined) assertKnownCluster(this.#deps.clusters, cluster);
    const units = placementEntries(record)
      .filter(([name, { state }]) => (cluster === undefined ? state !== "withdrawn" : name === cluster))
      .map(([name, { unitId, namespace }]) => [name, { unitId, namespace }] as const);
    if (cluster !== undefined && units.length === 0) throw notFound("deployment", `${key} in ${cluster}`);
    return units.toSorted(([a], [b]) => (a < b ? -1 : 1));
  }
}
