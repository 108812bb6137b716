import { availabilitiesOf, sizingRules, worstCandidatesFirst, type PlacementTask } from "../placement/placement.ts";
import type { LowerTarget, Remedy } from "../plan-types.ts";
import { sizeReplicas, subjectName, type Demand, type Size, type SizingRules } from "../sizing/replicas.ts";
import { truncateShare, formatShare } from "../explanation/format.ts";

/** Beyond these, more replicas are no sensible answer. */
const MOST_REPLICAS_SUGGESTED = 501;

/** Halvings of the interval from 0 to 1: enough for the four digits that are told. */
const HALVINGS = 14;

/** How many unusable clusters are tried, the best first. */
const CLUSTERS_TRIED = 3;

/**
 * Everything that would make an unreachable target reachable by itself, each tried before it is told; accepting the best
 * there is comes last, since it always helps.
 */
export function remediesFor(task: PlacementTask, missed: { readonly demand: Demand; readonly best?: Size }): Remedy[] {
  const remedies = [
    lowerTargets(task, missed),
    lowerReplicaCount(task),
    leaveOut(task),
    ...restoreClusters(task),
    addCluster(task),
    raiseCap(task),
    missed.best === undefined ? undefined : bestEffort(missed.best),
  ];
  return remedies.filter((remedy) => remedy !== undefined);
}

/** Every target that is missed, since lowering one of them would leave the others out of reach. */
function lowerTargets(task: PlacementTask, missed: { readonly best?: Size }): Remedy | undefined {
  if (missed.best === undefined) return undefined;
  const { sizes } = sized(task, availabilitiesOf(task));
  const targets = sizes.flatMap((size): LowerTarget[] =>
    size === undefined || size.reached
      ? []
      : [{ subject: subjectName(size.demand), availability: truncateShare(size.availability, 9) }],
  );
  const text =
    targets.length === 1
      ? `a target of at most ${formatShare(missed.best.availability)}`
      : `targets of at most ${targets.map((one) => `${formatShare(one.availability)} for ${one.subject}`).join(" and ")}`;
  return { kind: "lower-target", targets, text };
}

function lowerReplicaCount(task: PlacementTask): Remedy | undefined {
  const [ofClass, ...others] = task.demands;
  if (ofClass.atLeast <= 1) return undefined;
  const sizing = sized(task, availabilitiesOf(task), { demands: [{ ...ofClass, atLeast: 1 }, ...others] });
  const replicaCount = sizing.sizes[0]?.replicas;
  if (!sizing.reached || replicaCount === undefined) return undefined;
  return { kind: "lower-replica-count", replicaCount, text: `odgm.replica_count of ${replicaCount}` };
}

/** Where the user named the clusters, the worst of them may be what is in the way. */
function leaveOut(task: PlacementTask): Remedy | undefined {
  if (task.candidates.mode !== "named") return undefined;
  const sizing = sized(task, availabilitiesOf(task), { canExclude: true });
  if (!sizing.reached) return undefined;
  const clusters = worstCandidatesFirst(task.candidates)
    .slice(0, sizing.excluded)
    .map(({ cluster }) => cluster.name);
  return { kind: "leave-out", clusters, text: `targets without ${clusters.join(", ")}` };
}

function restoreClusters(task: PlacementTask): Remedy[] {
  return task.candidates.all
    .filter(
      ({ eligible: wanted, usable, availability }) =>
        wanted && !usable && availability !== undefined && availability > 0,
    )
    .sort((a, b) => (b.availability ?? 0) - (a.availability ?? 0))
    .slice(0, CLUSTERS_TRIED)
    .filter(({ availability = 0 }) => isReachable(task, [...availabilitiesOf(task), availability]))
    .map(({ cluster, availability = 0 }) => ({
      kind: "restore-cluster",
      cluster: cluster.name,
      text: `${cluster.name} usable again (${formatShare(availability)})`,
    }));
}

/** The least availability that one more cluster would need. Better never hurts, so that halving finds it. */
function addCluster(task: PlacementTask): Remedy | undefined {
  const helps = (availability: number): boolean => isReachable(task, [...availabilitiesOf(task), availability]);
  if (!helps(1)) return undefined;
  let low = 0;
  let high = 1;
  for (let step = 0; step < HALVINGS; step += 1) {
    const middle = (low + high) / 2;
    if (helps(middle)) high = middle;
    else low = middle;
  }
  const rounded = Math.min(1, truncateShare(high + 0.0001, 4));
  const availability = helps(rounded) ? rounded : 1;
  return {
    kind: "add-cluster",
    availability,
    text: `one more cluster that is up ${formatShare(availability)} of the time`,
  };
}

function raiseCap(task: PlacementTask): Remedy | undefined {
  if (task.input.settings.maxReplicas >= MOST_REPLICAS_SUGGESTED) return undefined;
  // Only over the clusters that came nearest: trying each choice of clusters with so many replicas would take long.
  const nearest = availabilitiesOf(task).slice(sized(task, availabilitiesOf(task)).excluded);
  const sizing = sized(task, nearest, { maxReplicas: MOST_REPLICAS_SUGGESTED, canExclude: false });
  if (!sizing.reached) return undefined;
  const maxReplicas = Math.max(...sizing.sizes.map((size) => size?.replicas ?? 0));
  return { kind: "raise-cap", maxReplicas, text: `PLANNER_MAX_REPLICAS of at least ${maxReplicas}` };
}

function bestEffort({ availability, replicas }: Size): Remedy {
  return {
    kind: "allow-best-effort",
    text: `allow_best_effort: true, which accepts ${formatShare(availability)} with ${replicas}`,
  };
}

function isReachable(task: PlacementTask, clusters: readonly number[]): boolean {
  return sized(task, clusters).reached;
}

function sized(task: PlacementTask, clusters: readonly number[], changed: Partial<SizingRules> = {}) {
  return sizeReplicas(
    clusters.toSorted((a, b) => a - b),
    { ...sizingRules(task), ...changed },
  );
}
