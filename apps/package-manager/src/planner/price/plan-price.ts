import type { ClusterCost, ClusterName, PlanPrice } from "@oaas/models";
import { ownEntry, type DeploymentPlan, type PlannedUnit } from "../plan-types.ts";
import {
  assumedRequests,
  hasOwnPods,
  STORE_NODE_REQUESTS,
  type ResourceRequests,
} from "../sizing/resource-requests.ts";

/** Hours of a month: 365 days of 24 hours, divided by 12. */
const MONTH_HOURS = 730;

type PricedPlan = Pick<DeploymentPlan, "units" | "shared" | "odgm">;

/** The price of a plan per month: the requests of its replicas and of its state store, at the prices of the clusters. */
export function priceOf(plan: PricedPlan, costOf: (cluster: ClusterName) => ClusterCost | undefined): PlanPrice {
  const clusters = plan.units.map((unit) => {
    const cost = costOf(unit.cluster);
    const { requests, isAssumed } = requestsOf(plan, unit);
    const price = cost === undefined ? {} : { perMonth: monthly(requests, cost), currency: cost.currency };
    return { cluster: unit.cluster, ...price, isAssumed };
  });
  const totals = new Map<string, number>();
  for (const { perMonth, currency } of clusters)
    if (perMonth !== undefined && currency !== undefined)
      totals.set(currency, cents((totals.get(currency) ?? 0) + perMonth));
  return {
    clusters,
    totals: Object.fromEntries([...totals].sort(([a], [b]) => (a < b ? -1 : 1))),
    unknownIn: clusters.filter(({ perMonth }) => perMonth === undefined).map(({ cluster }) => cluster),
  };
}

/** The price of these requests for a month. */
export function monthly({ cpuMillicores, memoryBytes }: ResourceRequests, { cpuHour, gibHour }: ClusterCost): number {
  return cents(((cpuMillicores / 1000) * cpuHour + (memoryBytes / 2 ** 30) * gibHour) * MONTH_HOURS);
}

/** The price in words; undefined if no cluster has one. */
export function priceText({ totals, unknownIn, clusters }: PlanPrice): string | undefined {
  const known = Object.entries(totals).map(([currency, amount]) => `${amount.toFixed(2)} ${currency}`);
  if (known.length === 0) return undefined;
  const unknown = unknownIn.length === 0 ? "" : `, unknown in ${unknownIn.join(", ")}`;
  const assumed = clusters.some(({ isAssumed }) => isAssumed) ? "; unstated requests count with defaults" : "";
  return `${known.join(" + ")} per month${unknown}${assumed}`;
}

function requestsOf(
  { shared, odgm }: PricedPlan,
  { cluster, functions }: PlannedUnit,
): { readonly requests: ResourceRequests; readonly isAssumed: boolean } {
  let cpuMillicores = 0;
  let memoryBytes = 0;
  let isAssumed = false;
  const add = (replicas: number, each: ResourceRequests): void => {
    cpuMillicores += replicas * each.cpuMillicores;
    memoryBytes += replicas * each.memoryBytes;
  };
  for (const spec of shared.functions.filter(hasOwnPods)) {
    const { isAssumed: needsDefault, ...each } = assumedRequests(spec);
    const replicas = functions.find(({ functionKey }) => functionKey === spec.functionKey)?.minScale ?? 0;
    add(replicas, each);
    isAssumed ||= needsDefault && replicas > 0;
  }
  const nodes = ownEntry(odgm?.nodeIds, cluster)?.length ?? 0;
  add(nodes, STORE_NODE_REQUESTS);
  return { requests: { cpuMillicores, memoryBytes }, isAssumed: isAssumed || nodes > 0 };
}

function cents(amount: number): number {
  return Math.round(amount * 100) / 100;
}
