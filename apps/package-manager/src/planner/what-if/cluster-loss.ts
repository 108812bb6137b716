import { PlacementAfterLoss, QuorumAfterLoss, ReplanMode, type ClusterLoss, type ClusterName } from "@oaas/models";
import { pluralize } from "../explanation/format.ts";
import { copySetsOfPlan, presentAvailability } from "../explanation/planned-availability.ts";
import type { CompletePlan, DeploymentPlan } from "../plan-types.ts";
import { countReplicas } from "../sizing/cluster-failures.ts";
import type { CopySet } from "../sizing/object-copies.ts";

/** How the deployment would be placed without the lost clusters. */
export type PlacementWithout =
  | { readonly kind: "named" }
  /** The class has objects, and its state store cannot move. */
  | { readonly kind: "stateful" }
  | { readonly kind: "planned"; readonly plan: CompletePlan }
  | { readonly kind: "refused"; readonly message: string };

/** What the loss of clusters does to a deployment that runs as planned. */
export function clusterLoss(
  plan: CompletePlan,
  down: readonly ClusterName[],
  without: PlacementWithout,
  mode: ReplanMode = ReplanMode.propose,
): ClusterLoss {
  const gone = new Set<string>(down);
  const lost = plan.units.map(({ cluster }) => cluster).filter((cluster) => gone.has(cluster));
  const running = plan.units
    .filter(({ cluster }) => !gone.has(cluster))
    .map(({ cluster, functions }) => ({
      cluster,
      functions: functions.map(({ functionKey, minScale }) => ({ functionKey, minScale })),
    }));
  const state = stateAfterLoss(plan, gone);
  const restoredBy = setsThatRestore(plan, lost);
  const placement = placementAfter(plan, lost, without);
  return {
    clustersDown: down,
    lost,
    running,
    ...state,
    clusterBound: presentAvailability(plan, gone)?.clusterBound ?? plan.availability.clusterBound,
    restoredBy,
    placement,
    message: lossText(
      lost,
      running.map(({ cluster }) => cluster),
      state,
    ),
    recovery: recoveryText(lost, restoredBy, placement, without, mode),
  };
}

type StateAfterLoss = Pick<ClusterLoss, "quorum" | "partitions" | "availablePartitions">;

/** The partitions that stay available without the clusters that are down. */
export function stateAfterLoss(plan: DeploymentPlan, down: ReadonlySet<string>): StateAfterLoss {
  if (plan.odgm === undefined) return { quorum: QuorumAfterLoss.stateless, partitions: 0, availablePartitions: 0 };
  const sets = copySetsOfPlan(plan, down);
  const partitions = countPartitions(sets);
  const available = countPartitions(sets.filter((set) => isUp(set, down)));
  return { quorum: quorumOf(available, partitions), partitions, availablePartitions: available };
}

function quorumOf(available: number, partitions: number): QuorumAfterLoss {
  if (available === partitions) return QuorumAfterLoss.kept;
  return available === 0 ? QuorumAfterLoss.lost : QuorumAfterLoss.partial;
}

function isUp({ placed, needed }: CopySet, down: ReadonlySet<string>): boolean {
  return countReplicas(placed.filter(({ cluster }) => !down.has(cluster))) >= needed;
}

function countPartitions(sets: readonly CopySet[]): number {
  return sets.reduce((sum, { partitions }) => sum + partitions, 0);
}

/** Each cluster that is enough by itself; if there is none, the fewest together, those with the most nodes first. */
function setsThatRestore(plan: CompletePlan, lost: readonly ClusterName[]): readonly (readonly ClusterName[])[] {
  const isAvailableWithout = (missing: readonly ClusterName[]): boolean => isAvailable(plan, new Set(missing));
  if (isAvailableWithout(lost)) return [];
  const alone = lost.filter((cluster) => isAvailableWithout(lost.filter((other) => other !== cluster)));
  if (alone.length > 0) return alone.map((cluster) => [cluster]);
  const nodes = plan.availability.replicas;
  const largestFirst = lost.toSorted((a, b) => (nodes[b] ?? 0) - (nodes[a] ?? 0));
  const count = largestFirst.findIndex((_, index) => isAvailableWithout(largestFirst.slice(index + 1)));
  return [largestFirst.slice(0, count + 1)];
}

function isAvailable(plan: CompletePlan, down: ReadonlySet<string>): boolean {
  return copySetsOfPlan(plan, down).every((set) => isUp(set, down));
}

function placementAfter(
  plan: CompletePlan,
  lost: readonly ClusterName[],
  without: PlacementWithout,
): PlacementAfterLoss {
  if (lost.length === 0 || without.kind === "named" || without.kind === "stateful") return PlacementAfterLoss.unchanged;
  if (without.kind === "refused") return PlacementAfterLoss.impossible;
  return without.plan.digest === plan.digest ? PlacementAfterLoss.unchanged : PlacementAfterLoss.replanned;
}

function lossText(
  lost: readonly ClusterName[],
  running: readonly ClusterName[],
  { quorum, partitions, availablePartitions }: StateAfterLoss,
): string {
  if (lost.length === 0) return "the deployment does not use these clusters; nothing changes";
  const where = running.length === 0 ? "nothing keeps running" : `the class keeps running in ${running.join(", ")}`;
  const share = `${availablePartitions} of ${pluralize(partitions, "partition")}`;
  switch (quorum) {
    case QuorumAfterLoss.stateless:
      return where;
    case QuorumAfterLoss.kept:
      return `${where}; the quorum is kept: available are ${share}`;
    case QuorumAfterLoss.partial:
      return `${where}; the quorum is lost in part: available are ${share}`;
    case QuorumAfterLoss.lost:
      return `${where}; the quorum is lost: no object can be read or written`;
  }
}

/** What happens to the units in lost clusters after `REPLAN_CLUSTER_LOST`. */
const MOVES: Readonly<Record<ReplanMode, string>> = {
  auto: "The package manager applies a plan like this one when a cluster is lost for longer than REPLAN_CLUSTER_LOST.",
  propose:
    "The status proposes a plan like this one when a cluster is lost for longer than REPLAN_CLUSTER_LOST; no unit is moved before it is applied.",
  off: "Units are not moved by themselves: apply the deployment again to use this plan meanwhile.",
};

function whyUnchanged({ kind }: PlacementWithout): string {
  if (kind === "named") return ", because target_clusters names the clusters";
  return kind === "stateful" ? ", because the nodes of a state store are fixed while it runs" : "";
}

/** What the units in a lost cluster need to come back. */
function recoveryText(
  lost: readonly ClusterName[],
  restoredBy: ClusterLoss["restoredBy"],
  placement: PlacementAfterLoss,
  without: PlacementWithout,
  mode: ReplanMode,
): string {
  if (lost.length === 0) return "nothing to recover";
  const names = lost.join(" and ");
  const sets = restoredBy.map((set) => set.join(" and "));
  const needed = sets.length === 0 ? "" : `The class is available again when ${sets.join(" or ")} is back. `;
  const back =
    `${needed}Units in ${names} start again with their cluster, without the package manager; ` +
    "changes made meanwhile are sent after its next successful health check (CRM_HEALTH_CHECK_INTERVAL).";
  switch (placement) {
    case PlacementAfterLoss.unchanged:
      return `${back} No unit is moved${whyUnchanged(without)}.`;
    case PlacementAfterLoss.replanned:
      return `${back} ${MOVES[mode]}`;
    case PlacementAfterLoss.impossible:
      return `${back} No other placement is possible${without.kind === "refused" ? `: ${without.message}` : ""}`;
  }
}
