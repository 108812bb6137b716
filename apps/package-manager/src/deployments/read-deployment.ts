import { classDeploymentToWire } from "@oaas/contracts/rest";
import { invalidArgument, notFound } from "@oaas/foundation";
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
import { boundedPage, sortOrder } from "../paging.ts";
import { observedDeployment, type DeploymentRecord, type RevisionRecord } from "../records/deployment-record.ts";
import type { DeploymentStore } from "../stores/deployment-store.ts";
import type { DeploymentQuery, Diff, ListPage, PageRequest, WithVersion } from "../use-cases.ts";

type DeploymentReader = Pick<DeploymentStore, "get" | "revision">;

/** Sort orders of deployments besides the key. */
export const DEPLOYMENT_ORDERS = {
  created_at: ({ record }: Stored<DeploymentRecord>) => record.createdAt,
  updated_at: ({ record }: Stored<DeploymentRecord>) => record.updatedAt,
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

/** The history of a deployment, newest first; `history` is the number of revisions that are kept. */
export async function listRevisions(
  { deployments, history }: { readonly deployments: DeploymentReader; readonly history: number },
  key: DeploymentKey,
  page: PageRequest,
): Promise<ListPage<DeploymentRevision>> {
  const stored = await deployments.get(key);
  if (stored === undefined) throw notFound("deployment", key);
  const { revision: newest } = stored.record;
  const oldest = Math.max(1, newest - history + 1);
  const { limit, offset = 0, pageToken } = boundedPage(page);
  const first = pageToken === undefined ? newest - offset : parseRevisionToken(pageToken);
  const last = Math.max(oldest, first - limit + 1);
  const numbers = Array.from({ length: Math.max(0, first - last + 1) }, (_, index) => first - index);
  const found = await Promise.all(numbers.map((number) => deployments.revision(key, number)));
  return {
    items: found.flatMap((entry) => (entry === undefined ? [] : [toRevision(entry.record)])),
    total: newest - oldest + 1,
    ...(last > oldest && numbers.length > 0 ? { next: String(last - 1) } : {}),
  };
}

export async function readRevision(
  deployments: DeploymentReader,
  key: DeploymentKey,
  revision: number,
): Promise<DeploymentRevision> {
  const entry = await deployments.revision(key, revision);
  if (entry !== undefined) return toRevision(entry.record);
  if ((await deployments.get(key)) === undefined) throw notFound("deployment", key);
  throw notFound("deployment revision", `${key} ${revision}`);
}

/** The changes between two revisions, by JSON paths of the contract; by default between the last two. */
export async function diffRevisions(
  deployments: DeploymentReader,
  key: DeploymentKey,
  from: number | undefined,
  to: number | undefined,
): Promise<Diff> {
  const stored = await deployments.get(key);
  if (stored === undefined) throw notFound("deployment", key);
  const until = to ?? stored.record.revision;
  const since = from ?? Math.max(1, until - 1);
  const [before, after] = await Promise.all([
    readRevision(deployments, key, since),
    readRevision(deployments, key, until),
  ]);
  return { from: since, to: until, changes: jsonChanges(specOf(before), specOf(after)) };
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
  const criteria = [packageName, classKey, targetEnv, targetCluster, condition];
  if (criteria.every((value) => value === undefined)) return {};
  return {
    filterKey: JSON.stringify(criteria.map((value) => value ?? null)),
    filter: ({ record }) => {
      const { deployment, placements } = record;
      const qualified = qualifyClassKey(deployment.packageName, deployment.classKey);
      return (
        (packageName === undefined || deployment.packageName === packageName) &&
        (classKey === undefined || deployment.classKey === classKey || qualified === classKey) &&
        (targetEnv === undefined || isInEnvironment(record, targetEnv)) &&
        (targetCluster === undefined || Object.hasOwn(placements, targetCluster)) &&
        (condition === undefined || record.condition === condition)
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
  const { condition: _, ...wire } = classDeploymentToWire({ deployment, condition: "unknown" });
  return wire;
}

function parseRevisionToken(token: string): number {
  if (/^\d{1,15}$/.test(token)) return Number(token);
  throw invalidArgument("the page token", [
    { path: "$.page_token", message: "is not a token of this list", fix: "omit it to start at the first page" },
  ]);
}
