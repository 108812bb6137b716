import { omitUndefined } from "@oaas/contracts/rest";
import { timestamp, type Clock } from "@oaas/foundation";
import type { DeploymentKey } from "@oaas/models";
import { boundedPage, patternMatcher } from "../paging.ts";
import type { ClusterDirectory, UnitReport } from "../ports.ts";
import type { DeploymentRecord } from "../records/deployment-record.ts";
import { keyOfSubject, operationStatus, type DeploymentSagaData } from "../records/deployment-saga.ts";
import type { PackageRegistry } from "../registry/package-registry.ts";
import type { SagaEngine } from "../saga-engine/engine.ts";
import type { SagaRecord } from "../saga-engine/saga.ts";
import type { RuntimeView } from "../status/runtime-view.ts";
import type { DeploymentParts } from "../deployments/deployment-parts.ts";
import type {
  Call,
  ListedOperation,
  ListPage,
  OperationQuery,
  Overview,
  OverviewReport,
  RecentChange,
  ViolatedRequirement,
} from "../use-cases.ts";

export interface OverviewSources {
  readonly deployments: Pick<DeploymentParts, "view" | "pauses" | "deployments">;
  readonly engine: Pick<SagaEngine, "list">;
  readonly registry: Pick<PackageRegistry, "summary">;
  readonly clusters: ClusterDirectory;
  readonly runtimes: Pick<RuntimeView, "reportsOf">;
  readonly clock: Clock;
}

/** Items of each part of the overview. */
const MAX_ITEMS = 20;

/** Reads the overview from the views in memory: one pass over deployments and class runtimes, and no call to a cluster. */
export class OverviewReader implements Overview {
  readonly #sources: OverviewSources;

  constructor(sources: OverviewSources) {
    this.#sources = sources;
  }

  async read(call?: Call): Promise<OverviewReport> {
    const { deployments, registry, clusters, clock } = this.#sources;
    const packages = registry.summary(MAX_ITEMS);
    const [readings, changes] = await Promise.all([
      clusters.readings({ ...(call?.signal === undefined ? {} : { signal: call.signal }), needed: [] }),
      this.#recentDeployments(),
    ]);
    const running = this.operations({ state: "running", limit: MAX_ITEMS });
    const ofPackages = packages.newest.map((record): RecentChange => {
      const { revision, author, reason, createdAt: at } = record;
      return omitUndefined({ kind: "package" as const, key: record.package.name, revision, author, reason, at });
    });
    return {
      deployments: {
        total: deployments.view.size,
        byCondition: countBy(deployments.view.all(), ({ record }) => record.condition),
        paused: deployments.pauses.count,
      },
      ...this.#runtimes(),
      packages: { total: packages.total, disabled: packages.disabled },
      clusters: {
        total: readings.length,
        byStatus: countBy(readings, ({ health }) => health.status),
        cordoned: clusters.list().filter(({ cordon }) => cordon !== undefined).length,
      },
      operations: {
        running: running.total,
        failed: this.operations({ state: "failed", limit: 1 }).total,
        items: running.items,
      },
      recentChanges: [...changes, ...ofPackages].toSorted((a, b) => (a.at < b.at ? 1 : -1)).slice(0, MAX_ITEMS),
      at: timestamp(clock.now()),
    };
  }

  operations({ state, kind, filter, ...page }: OperationQuery): ListPage<ListedOperation> {
    const fits = filter === undefined ? undefined : patternMatcher(filter);
    const { records, ...rest } = this.#sources.engine.list({
      ...boundedPage(page),
      filterKey: JSON.stringify([state, kind, filter]),
      filter: ({ id, record }) => {
        const key = keyOfSubject(id);
        if (key === undefined || (fits !== undefined && !fits(key))) return false;
        const { operation } = record.data as DeploymentSagaData;
        return (
          (kind === undefined || operation === kind) && (state === undefined || operationStatus(record).state === state)
        );
      },
    });
    return {
      items: records.map(({ id, record }) => listedOperation(keyOfSubject(id) as DeploymentKey, record)),
      ...rest,
    };
  }

  #runtimes(): Pick<OverviewReport, "classRuntimes" | "violations"> {
    const { clusters, runtimes } = this.#sources;
    const byCondition: Record<string, number> = {};
    const items: ViolatedRequirement[] = [];
    let total = 0;
    let violated = 0;
    for (const { name } of clusters.list()) {
      for (const report of runtimes.reportsOf(name)) {
        total += 1;
        byCondition[report.condition] = (byCondition[report.condition] ?? 0) + 1;
        for (const violation of violationsOf(report)) {
          violated += 1;
          if (items.length < MAX_ITEMS) items.push(violation);
        }
      }
    }
    return { classRuntimes: { total, byCondition }, violations: { total: violated, items } };
  }

  /** The newest revisions of deployments, with the author from the history. */
  async #recentDeployments(): Promise<readonly RecentChange[]> {
    const { view, deployments } = this.#sources.deployments;
    const { records } = view.page({ order: "updated_at", descending: true, limit: MAX_ITEMS });
    const found = await Promise.all(
      records.map(async ({ id, record }) => {
        const key = id as DeploymentKey;
        const entry = (await deployments.revision(key, record.revision))?.record;
        return entry && deploymentChange(key, record, entry);
      }),
    );
    return found.filter((change) => change !== undefined);
  }
}

function deploymentChange(
  key: DeploymentKey,
  { deletion, revision }: DeploymentRecord,
  entry: { readonly author?: string; readonly reason?: string; readonly createdAt: string; readonly outcome: string },
): RecentChange {
  const change = { kind: "deployment" as const, key, revision };
  if (deletion !== undefined)
    return omitUndefined({
      ...change,
      author: deletion.by,
      reason: deletion.reason,
      at: deletion.at,
      outcome: "deleted",
    });
  const { author, reason, createdAt: at, outcome } = entry;
  return omitUndefined({ ...change, author, reason, at, outcome });
}

function violationsOf({ runtime, deploymentKey }: UnitReport): readonly ViolatedRequirement[] {
  const violated = runtime.nfrCompliance?.measurements?.filter(({ status }) => status === "violated") ?? [];
  return violated.map((measurement) => omitUndefined({ runtime, deploymentKey, measurement }));
}

function listedOperation(key: DeploymentKey, saga: SagaRecord): ListedOperation {
  const { by } = saga.data as DeploymentSagaData;
  const { startedAt, endedAt } = saga;
  return omitUndefined({ ...operationStatus(saga), key, startedAt, endedAt, requestedBy: by });
}

function countBy<T>(items: Iterable<T>, wordOf: (item: T) => string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const item of items) {
    const word = wordOf(item);
    counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}
