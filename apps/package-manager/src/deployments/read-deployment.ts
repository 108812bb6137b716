import { classDeploymentToWire } from "@oaas/contracts/rest";
import { invalidArgument, notFound } from "@oaas/foundation";
import {
  qualifyClassKey,
  type ClusterName,
  type DeploymentKey,
  type ObservedDeployment,
  type UnitId,
} from "@oaas/models";
import type { Stored, ViewQuery } from "@oaas/storage";
import { jsonChanges } from "../history/json-changes.ts";
import { pageRequest } from "../registry/package-queries.ts";
import type { DeploymentQuery, DeploymentRevision, Diff, ListPage, PageRequest, WithVersion } from "../use-cases.ts";
import type { DeploymentContext } from "./context.ts";
import { observedDeployment, type DeploymentRecord, type RevisionRecord } from "../records/deployment-record.ts";

/** How deployments can be ordered besides by key. */
export const DEPLOYMENT_ORDERS = {
  created_at: ({ record }: Stored<DeploymentRecord>) => record.createdAt,
  updated_at: ({ record }: Stored<DeploymentRecord>) => record.updatedAt,
};

/** The deployment as the store has it now. */
export async function readDeployment(
  { deployments }: DeploymentContext,
  key: DeploymentKey,
): Promise<WithVersion<ObservedDeployment>> {
  const stored = await deployments.get(key);
  if (stored === undefined) throw notFound("deployment", key);
  return { value: observedDeployment(stored.record), version: stored.revision };
}

/** One page of the deployments that match, from memory. */
export function listDeployments({ view }: DeploymentContext, query: DeploymentQuery): ListPage<ObservedDeployment> {
  const { records, ...rest } = view.page({ ...filterOf(query), ...orderOf(query.sort), ...pageRequest(query) });
  return { items: records.map(({ record }) => observedDeployment(record)), ...rest };
}

/** The history, newest first. */
export async function listRevisions(
  { deployments, history }: DeploymentContext,
  key: DeploymentKey,
  page: PageRequest,
): Promise<ListPage<DeploymentRevision>> {
  const stored = await deployments.get(key);
  if (stored === undefined) throw notFound("deployment", key);
  const { revision: newest } = stored.record;
  const oldest = Math.max(1, newest - history + 1);
  const { limit, offset = 0, pageToken } = pageRequest(page);
  const first = pageToken === undefined ? newest - offset : revisionToken(pageToken);
  const last = Math.max(oldest, first - limit + 1);
  const numbers = Array.from({ length: Math.max(0, first - last + 1) }, (_, index) => first - index);
  const found = await Promise.all(numbers.map((number) => deployments.revision(key, number)));
  return {
    items: found.flatMap((entry) => (entry === undefined ? [] : [told(entry.record)])),
    total: newest - oldest + 1,
    ...(last > oldest && numbers.length > 0 ? { next: String(last - 1) } : {}),
  };
}

export async function readRevision(
  { deployments }: DeploymentContext,
  key: DeploymentKey,
  revision: number,
): Promise<DeploymentRevision> {
  const entry = await deployments.revision(key, revision);
  if (entry !== undefined) return told(entry.record);
  if ((await deployments.get(key)) === undefined) throw notFound("deployment", key);
  throw notFound("deployment revision", `${key} ${revision}`);
}

/** What changed between two entries of the history, in the contract's spelling; by default the last two. */
export async function diffRevisions(
  context: DeploymentContext,
  key: DeploymentKey,
  from: number | undefined,
  to: number | undefined,
): Promise<Diff> {
  const stored = await context.deployments.get(key);
  if (stored === undefined) throw notFound("deployment", key);
  const until = to ?? stored.record.revision;
  const since = from ?? Math.max(1, until - 1);
  const [before, after] = await Promise.all([readRevision(context, key, since), readRevision(context, key, until)]);
  return { from: since, to: until, changes: jsonChanges(comparable(before), comparable(after)) };
}

/** Unit ids by cluster, wherever one is or may be. */
export async function readMappings(
  { deployments }: DeploymentContext,
  key: DeploymentKey,
): Promise<Readonly<Record<ClusterName, UnitId>>> {
  const placements = (await deployments.get(key))?.record.placements ?? {};
  return Object.fromEntries(Object.entries(placements).map(([cluster, { unitId }]) => [cluster, unitId]));
}

/** The word has two meanings: a kind of environment, and to those who know the earlier implementation a cluster. */
function isOfEnvironment({ deployment, placements }: DeploymentRecord, word: string): boolean {
  return deployment.environmentKind === word || Object.hasOwn(placements, word);
}

function filterOf(query: DeploymentQuery): Pick<ViewQuery<DeploymentRecord>, "filter" | "filterKey"> {
  const { packageName, classKey, targetEnv, targetCluster } = query;
  const condition = query.condition?.toLowerCase();
  const asked = [packageName, classKey, targetEnv, targetCluster, condition];
  if (asked.every((value) => value === undefined)) return {};
  return {
    filterKey: JSON.stringify(asked.map((value) => value ?? null)),
    filter: ({ record }) => {
      const { deployment, placements } = record;
      const qualified = qualifyClassKey(deployment.packageName, deployment.classKey);
      return (
        (packageName === undefined || deployment.packageName === packageName) &&
        (classKey === undefined || deployment.classKey === classKey || qualified === classKey) &&
        (targetEnv === undefined || isOfEnvironment(record, targetEnv)) &&
        (targetCluster === undefined || Object.hasOwn(placements, targetCluster)) &&
        (condition === undefined || record.condition === condition)
      );
    },
  };
}

function orderOf(sort: string | undefined): { readonly order?: string; readonly descending?: boolean } {
  if (sort === undefined) return {};
  const descending = sort.startsWith("-");
  const field = descending ? sort.slice(1) : sort;
  return { order: field === "key" ? "id" : field, descending };
}

function told(entry: RevisionRecord): DeploymentRevision {
  const { kind: _, unitRevision: __, correlationId: ___, withdrawn: ____, ...revision } = entry;
  return revision;
}

/** The wish without what only PM can know of it. */
function comparable({ deployment }: DeploymentRevision): unknown {
  const { condition: _, ...wire } = classDeploymentToWire({ deployment, condition: "unknown" });
  return wire;
}

function revisionToken(token: string): number {
  if (/^\d{1,15}$/.test(token)) return Number(token);
  throw invalidArgument("the page token", [
    { path: "$.page_token", message: "is not a token of this list", fix: "leave it out to begin anew" },
  ]);
}
