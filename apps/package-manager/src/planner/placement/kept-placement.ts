import type { ClusterName } from "@oaas/models";
import type { DeploymentPlan, Reason } from "../plan-types.ts";
import { meets } from "../sizing/quorum.ts";
import { sizeReplicas, type Demand, type Size, type Sizing } from "../sizing/replicas.ts";
import type { Candidate } from "./candidates.ts";
import { networkOf } from "./networks.ts";
import {
  availabilityIn,
  byStickyRank,
  nodesPerCluster,
  placementOf,
  searchByDomains,
  sizingRules,
  type Placement,
  type PlacementTask,
} from "./placement.ts";
import type { ClassPlacement } from "./state-placement.ts";

/** The plan of a running class with objects. */
export type StatefulPlan = DeploymentPlan & Required<Pick<DeploymentPlan, "odgm">>;

/** Keeps the clusters, nodes and copies of a running class, whatever its clusters are now. */
export function keepPlacement(task: PlacementTask, running: StatefulPlan): Placement {
  const members = membersOf(running);
  const chosen = task.candidates.all.filter(({ cluster }) => members.has(cluster.name)).sort(byStickyRank(task.input));
  const [demand] = task.demands;
  const { replicas } = running;
  const placement = placementOf(task, {
    sizing: keptSizing(task, chosen, running),
    chosen,
    pool: chosen,
    kept: { why: "the members of its state store are fixed", replicas },
    nodes: members,
    othersAgainst: KEPT,
  });
  // With the target that runs, measurements do not change the plan.
  const isSameTarget = demand.target === running.sizing.target;
  const bestEffort = isSameTarget ? running.bestEffort : !meets(placement.achieved, demand.target);
  return { ...placement, bestEffort };
}

const KEPT: Reason = {
  code: "state-kept",
  text: "the running class has its objects in other clusters, and its state store cannot move",
};

/** The nodes of a running state store, by cluster. */
export function membersOf({ odgm }: StatefulPlan): ReadonlyMap<ClusterName, number> {
  return new Map(Object.entries(odgm.nodeIds).map(([cluster, ids]) => [cluster as ClusterName, ids.length]));
}

/** The sizes of a class that stays where it is. A target that a function has already keeps its replicas if it is missed now. */
function keptSizing(task: PlacementTask, chosen: readonly Candidate[], running: StatefulPlan): Sizing {
  const [demand, ...others] = task.demands;
  const worstFirst = chosen.map(availabilityIn).sort((a, b) => a - b);
  const { curve, sizes } = sizeFunctions(task, chosen, others);
  const kept: Size = { demand, replicas: running.replicas, availability: 0, reached: true };
  const ofFunctions = others.map((each, index) => {
    const size = sizes[index];
    if (size?.reached === true) return size;
    const before = runningReplicas(running, each);
    return before === undefined ? size : { demand: each, replicas: before, availability: 0, reached: true };
  });
  const all = [kept, ...ofFunctions];
  return { worstFirst, excluded: 0, sizes: all, curve, reached: all.every((size) => size?.reached === true) };
}

function sizeFunctions(
  task: PlacementTask,
  chosen: readonly Candidate[],
  others: readonly Demand[],
): Pick<Sizing, "curve" | "sizes"> {
  const [demand] = task.demands;
  if (task.basis.algorithm === "domains" && others.length > 0) {
    const anyTarget = { ...demand, target: 0, strong: false, atLeast: 1 };
    const { sizing } = searchByDomains(task, chosen, { demands: [anyTarget, ...others], usesAll: true });
    return { curve: sizing.curve, sizes: sizing.sizes.slice(1) };
  }
  const worstFirst = chosen.map(availabilityIn).sort((a, b) => a - b);
  return sizeReplicas(worstFirst, { ...sizingRules(task), demands: others, canExclude: false });
}

/** The replicas of a function that stated the same target before. */
function runningReplicas({ shared, units }: StatefulPlan, { subject, target }: Demand): number | undefined {
  const before = shared.functions.find(({ functionKey }) => functionKey === subject);
  if (before?.nfr.availability !== target) return undefined;
  const scales = units.flatMap(({ functions }) => functions.filter(({ functionKey }) => functionKey === subject));
  return scales.length === 0 ? undefined : Math.max(1, ...scales.map(({ minScale }) => minScale));
}

/** Adds copies, nodes and clusters to a running class whose copies are merged, and removes none. */
export function growPlacement(given: PlacementTask, running: StatefulPlan): ClassPlacement {
  const members = membersOf(running);
  const { input, candidates } = given;
  const isMember = ({ cluster }: Candidate): boolean => members.has(cluster.name);
  const networks = new Set(candidates.all.filter(isMember).map(({ cluster }) => networkOf(cluster)));
  const pool = candidates.all
    .filter((candidate) => isMember(candidate) || (candidate.usable && networks.has(networkOf(candidate.cluster))))
    .sort((a, b) => Number(isMember(b)) - Number(isMember(a)) || byStickyRank(input)(a, b));
  const [ofClass, ...others] = given.demands;
  const demand = { ...ofClass, atLeast: Math.max(ofClass.atLeast, running.odgm.replicaCount) };
  const task: PlacementTask = { ...given, demands: [demand, ...others] };
  const worstFirst = pool.map(availabilityIn).sort((a, b) => a - b);
  const sizing = sizeReplicas(worstFirst, { ...sizingRules(task), canExclude: false });
  if (!sizing.reached && (!input.deployment.allowBestEffort || sizing.sizes.includes(undefined))) {
    return { task, ok: false, error: sizing };
  }
  const replicas = sizing.sizes[0]?.replicas ?? running.replicas;
  const chosen = candidates.mode === "named" ? pool : pool.slice(0, Math.max(replicas, members.size));
  const needed = nodesPerCluster(chosen, replicas, task.fixedNodes);
  const nodes = new Map([...needed].map(([name, count]) => [name, Math.max(count, members.get(name) ?? 0)]));
  return { task, ok: true, value: placementOf(task, { sizing, chosen, pool, nodes }) };
}
