import { classDeploymentToWire } from "@oaas/contracts/rest";
import { notFound, type Fault } from "@oaas/foundation";
import {
  qualifyClassKey,
  type ClusterName,
  type DeploymentKey,
  type ObservedDeployment,
  type UnitId,
  type DeploymentRevision,
} from "@oaas/models";
import type { CollectionView, Stored, ViewQuery } from "@oaas/storage";
import { jsonChanges } from "../history/json-changes.ts";
import { missingRevision, retainedNumbers } from "../history/retention.ts";
import { boundedPage, pageOfRevisions, patternMatcher, sortOrder } from "../paging.ts";
import {
  observedDeployment,
  retainedRevisions,
  type DeploymentRecord,
  type RevisionRecord,
} from "../records/deployment-record.ts";
import { comparePlans } from "../planner/explanation/compare-plans.ts";
import type { DeploymentStore } from "../stores/deployment-store.ts";
import type { DeploymentDiff, DeploymentQuery, ListPage, PageRequest, WithVersion } from "../use-cases.ts";

type DeploymentReader = Pick<DeploymentStore, "get" | "revision">;

/** Sort orders of deployments besides the key. */
export const DEPLOYMENT_ORDERS = {
  created_at: ({ record }: Stored<DeploymentRecord>) => record.createdAt,
  updated_at: ({ record }: Stored<DeploymentRecord>) => record.updatedAt,
  condition: ({ record }: Stored<DeploymentRecord>) => record.condition,
  package_name: ({ record }: Stored<DeploymentRecord>) => record.deployment.packageName,
  class_key: ({ record }: Stored<DeploymentRecord>) => record.deployment.classKey,
};

export async function readDeployment(
  deployments: DeploymentReader,
  key: DeploymentKey,
): Promise<WithVersion<ObservedDeployment>> {
  const stored = await deployments.get(key);
  if (stored === undefined) throw notFound("deployment", key);
  return { value: observedDeployment(stored.record), version: stored.revision };
}

/** One page of the deployments that match, from the view in memory. */
export function listDeployments(
  view: Pick<CollectionView<DeploymentRecord>, "page">,
  query: DeploymentQuery,
): ListPage<ObservedDeployment> {
  const { records, ...rest } = view.page({
    ...filterOf(query),
    ...sortOrder(query.sort, "key"),
    ...boundedPage(query),
  });
  return { items: records.map(({ record }) => observedDeployment(record)), ...rest };
}

/** The history of a deployment, newest first. */
export async function listRevisions(
  deployments: DeploymentReader,
  key: DeploymentKey,
  page: PageRequest,
): Promise<ListPage<DeploymentRevision>> {
  const stored = await deployments.get(key);
  if (stored === undefined) throw notFound("deployment", key);
  const numbers = retainedNumbers(retainedRevisions(stored.record), stored.record.revision);
  return pageOfRevisions(numbers, boundedPage(page), async (revision) => {
    const entry = await deployments.revision(key, revision);
    return entry && { item: toRevision(entry.record), bytes: entry.source.entry.value.length };
  });
}

export async function readRevision(
  deployments: DeploymentReader,
  key: DeploymentKey,
  revision: number,
): Promise<DeploymentRevision> {
  const entry = await deployments.revision(key, revision);
  if (entry !== undefined) return toRevision(entry.record);
  throw await revisionFault(deployments, key, revision);
}

/** Why a revision cannot be read: the deployment or the revision does not exist, or the revision was removed. */
export async function revisionFault(
  deployments: Pick<DeploymentStore, "get">,
  key: DeploymentKey,
  revision: number,
): Promise<Fault> {
  const stored = await deployments.get(key);
  if (stored === undefined) return notFound("deployment", key);
  const subject = { resource: "deployment", name: key, setting: "DEPLOYMENT_REVISIONS_KEEP" } as const;
  return missingRevision(subject, revision, retainedRevisions(stored.record));
}

/** The changes between two revisions, as written and of what runs; by default between the last two. */
export async function diffRevisions(
  deployments: DeploymentReader & Pick<DeploymentStore, "plan">,
  key: DeploymentKey,
  from: number | undefined,
  to: number | undefined,
): Promise<DeploymentDiff> {
  const stored = await deployments.get(key);
  if (stored === undefined) throw notFound("deployment", key);
  const until = to ?? stored.record.revision;
  const since = from ?? Math.max(1, until - 1);
  const [before, after] = await Promise.all([
    readRevision(deployments, key, since),
    readRevision(deployments, key, until),
  ]);
  const [planBefore, planAfter] = await Promise.all([deployments.plan(key, since), deployments.plan(key, until)]);
  return {
    from: since,
    to: until,
    changes: jsonChanges(specOf(before), specOf(after)),
    resolvedChanges: planBefore && planAfter ? comparePlans(planBefore, planAfter) : [],
  };
}

/** Unit ids by cluster, for every cluster that has or may have a unit. */
export async function readMappings(
  deployments: DeploymentReader,
  key: DeploymentKey,
): Promise<Readonly<Record<ClusterName, UnitId>>> {
  const placements = (await deployments.get(key))?.record.placements ?? {};
  return Object.fromEntries(Object.entries(placements).map(([cluster, { unitId }]) => [cluster, unitId]));
}

/** `target_env` matches the environment kind, and for clients of the earlier API the name of a cluster. */
function isInEnvironment({ deployment, placements }: DeploymentRecord, environment: string): boolean {
  return deployment.environmentKind === environment || Object.hasOwn(placements, environment);
}

function filterOf(query: DeploymentQuery): Pick<ViewQuery<DeploymentRecord>, "filter" | "filterKey"> {
  const { packageName, classKey, targetEnv, targetCluster } = query;
  const condition = query.condition?.toLowerCase();
  const criteria = [packageName, classKey, targetEnv, targetCluster, condition, query.filter];
  const fits = query.filter === undefined ? undefined : patternMatcher(query.filter);
  if (criteria.every((value) => value === undefined)) return {};
  return {
    filterKey: JSON.stringify(criteria.map((value) => value ?? null)),
    filter: ({ id, record }) => {
      const { deployment, placements } = record;
      const qualified = qualifyClassKey(deployment.packageName, deployment.classKey);
      return (
        (packageName === undefined || deployment.packageName === packageName) &&
        (classKey === undefined || deployment.classKey === classKey || qualified === classKey) &&
        (targetEnv === undefined || isInEnvironment(record, targetEnv)) &&
        (targetCluster === undefined || Object.hasOwn(placements, targetCluster)) &&
        (condition === undefined || record.condition === condition) &&
        (fits === undefined || fits(id))
      );
    },
  };
}

function toRevision(entry: RevisionRecord): DeploymentRevision {
  const { kind: _, unitRevision: __, correlationId: ___, withdrawn: ____, ...revision } = entry;
  return revision;
}

/** The deployment in the form of the API, without its observed condition. */
function specOf({ deployment }: DeploymentRevision): unknown {
  const { condition: _, health: __, ...wire } = classDeploymentToWire({ deployment, condition: "unknown" });
  return wire;
}
