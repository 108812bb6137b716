import { err, nearestName, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { ShardType, type ClassDefinition, type ClusterName } from "@oaas/models";
import { decisionsOf } from "./explanation/decisions.ts";
import { plannedAvailability } from "./explanation/planned-availability.ts";
import {
  availabilityOfOneEach,
  worstCandidatesFirst,
  type Placement,
  type PlacementTask,
} from "./placement/placement.ts";
import {
  evaluateClusters,
  findUnknownClusters,
  verdict,
  type Candidate,
  type Candidates,
  type ClusterNeeds,
} from "./placement/candidates.ts";
import { growPlacement, keepPlacement, type StatefulPlan } from "./placement/kept-placement.ts";
import { placeClass, type ClassPlacement } from "./placement/state-placement.ts";
import { missingCapacity } from "./placement/free-capacity.ts";
import { priceOf } from "./price/plan-price.ts";
import { planDigest } from "./plan-digest.ts";
import type {
  ClusterVerdict,
  CompletePlan,
  PlanInput,
  PlannedOdgm,
  PlanRefusal,
  Reason,
  SizingBasis,
} from "./plan-types.ts";
import { planUnits, sharedSpec } from "./plan-units.ts";
import {
  refuseDisabled,
  refuseInvalid,
  refuseMemoryStores,
  refuseNamedClusters,
  refuseNamespace,
  refuseNoCluster,
  refuseThroughput,
  refuseUnconnected,
  refuseUnreachableTarget,
  refuseUnusable,
} from "./refusals/refusals.ts";
import { assumedReplicas, maxScaleViolation } from "./sizing/function-scale.ts";
import { resolveFunctions, type RequestedFunction } from "./sizing/functions.ts";
import {
  changeViolations,
  hasSameLayout,
  removalViolations,
  requiredChanges,
  stateLossOf,
  type RequiredChange,
} from "./sizing/layout-changes.ts";
import { keepOdgm, needsOdgm, planOdgm, singleCopyViolation } from "./sizing/odgm.ts";
import { clustersWithoutZero, forbidsZero, zeroRules, zeroViolations, type ZeroRule } from "./sizing/zero-scale.ts";
import { collectionsInNetwork, copyRules, isStrong, runningShardType } from "./sizing/state-layout.ts";
import { CLASS_SUBJECT, type Demand } from "./sizing/replicas.ts";

/**
 * Plans a deployment, or explains why it is refused.
 *
 * *Guarantees*: the same input gives the same plan, in whatever order the clusters are listed; a plan that is not best
 * effort meets its target; all violations of the request are reported together.
 */
export function planDeployment(input: PlanInput): Result<CompletePlan, PlanRefusal> {
  const unsuited = new Map<ClusterName, readonly Reason[]>();
  let first: PlanRefusal | undefined;
  for (let round = 1; ; round += 1) {
    const { result, found } = planWithout(input, unsuited, round > EXACT_ROUNDS);
    const more = found.filter(([cluster]) => !unsuited.has(cluster));
    // A refusal without a cluster says less than the one that names what the cluster lacks.
    if (more.length === 0) return result.ok || first === undefined ? result : err(first);
    if (!result.ok) first ??= result.error;
    for (const [cluster, reason] of more) unsuited.set(cluster, [reason]);
  }
}

/** Clusters in which the planned units cannot run, with the reason: they are left out of the next attempt. */
type Unsuited = readonly (readonly [ClusterName, Reason])[];

interface Attempt {
  readonly result: Result<CompletePlan, PlanRefusal>;
  readonly found: Unsuited;
}

/** After so many attempts, every cluster is left out that has no room for as many replicas as the others got. */
const EXACT_ROUNDS = 8;

/**
 * The clusters that have no room. How many replicas a cluster gets is only known from a plan, and leaving out a worse
 * cluster may lower it: first those are left out that are too full for the least that any unit has, then one at a time.
 */
function clustersWithoutRoom(
  { units, shared }: CompletePlan,
  input: PlanInput,
  { candidates, isApproximate }: { readonly candidates: Candidates; readonly isApproximate: boolean },
): Unsuited {
  const unitOf = new Map(units.map((unit) => [unit.cluster, unit]));
  const least = shared.functions.map(({ functionKey, provision }) => ({
    functionKey,
    minScale: provision.minScale ?? 1,
  }));
  const [one] = units;
  const isFullFor = (functions: RoomDemand | undefined) => (candidate: Candidate) => {
    const { name } = candidate.cluster;
    const unit = { cluster: name, functions: functions ?? unitOf.get(name)?.functions ?? [] };
    const reason = missingCapacity(unit, shared, input.previous, candidate.cluster);
    return reason === undefined ? [] : [[name, reason] as const];
  };
  const chosen = worstCandidatesFirst(candidates).filter(({ cluster }) => unitOf.has(cluster.name));
  const full = chosen.flatMap(isFullFor(undefined));
  if (full.length === 0 || candidates.mode === "named") return full;
  if (isApproximate) return [...full, ...candidates.all.flatMap(isFullFor(one?.functions))];
  const tooFull = candidates.all.flatMap(isFullFor(least));
  return tooFull.some(([name]) => unitOf.has(name)) ? tooFull : [...tooFull, ...full.slice(0, 1)];
}

type RoomDemand = Parameters<typeof missingCapacity>[0]["functions"];

/** Plans without the clusters that are unsuited. */
function planWithout(input: PlanInput, unsuited: ClusterNeeds["unsuited"], isApproximate: boolean): Attempt {
  const refused = (refusal: PlanRefusal): Attempt => ({ result: err(refusal), found: [] });
  const resolved = resolveDeployment(input);
  const candidates = evaluateClusters(input, { ...storeNeeds(input, resolved), unsuited });
  const verdicts = candidates.all.map((candidate) => verdict(candidate, false));

  if (!resolved.ok) return refused(refuseInvalid(resolved.error, verdicts));
  const requested = placementTask(input, candidates, resolved.value);
  const fixed = fixedState(input, requested, resolved.value);
  const refusal =
    refuseDisabled(input, verdicts) ??
    (fixed.kind === "kept" ? undefined : refuseNoCluster(input, candidates, verdicts)) ??
    refuseNamespace(input, candidates, verdicts) ??
    (fixed.kind === "refused" ? refuseInvalid(changeViolations(fixed.changes), verdicts) : undefined) ??
    (fixed.kind === "kept" ? undefined : refuseClusters(input, requested, verdicts));
  if (refusal !== undefined) return refused(refusal);

  const placed = placeState(requested, fixed);
  const { task } = placed;
  if (!placed.ok) {
    return refused(
      placed.unconnected === undefined
        ? refuseUnreachableTarget(placed, verdicts)
        : refuseUnconnected(task, placed.unconnected, verdicts),
    );
  }

  const throughput = checkThroughput(input, resolved.value.functions, verdicts);
  if (throughput !== undefined && !input.deployment.allowBestEffort) return refused(throughput);
  const placement = throughput === undefined ? placed.value : { ...placed.value, bestEffort: true };
  const zero = zeroRules(input, resolved.value.functions, availabilityOfOneEach(task, placement));
  const result = assemblePlan(input, resolved.value, { task, placement, fixed }, zero);
  const found = result.ok
    ? clustersWithoutRoom(result.value, input, { candidates, isApproximate })
    : candidates.mode === "named"
      ? []
      : clustersWithoutZero(input, zero);
  return { result, found };
}

/** What happens to the state store of a running class. */
type FixedState =
  /** It is planned freely: the class is new, or its user accepts the loss of its objects. */
  | { readonly kind: "free" }
  /** It stays as it is. */
  | { readonly kind: "kept"; readonly running: StatefulPlan; readonly placement: Placement }
  /** Copies, nodes and clusters are added. */
  | { readonly kind: "grown"; readonly running: StatefulPlan }
  | { readonly kind: "refused"; readonly changes: readonly RequiredChange[] };

/**
 * Decides whether the state store of a running class is kept. Nodes and copies are fixed while it runs: it keeps them
 * unless the user states something that it does not meet, and then only a permission of the user lets it change.
 */
function fixedState(input: PlanInput, task: PlacementTask, resolved: ResolvedDeployment): FixedState {
  const running = statefulPlan(input.previous);
  if (running === undefined || !resolved.hasOdgm || input.mayMoveState === true) return { kind: "free" };
  const placement = keepPlacement(task, running);
  const { definition } = resolved;
  const { achieved } = placement;
  const request = { input, definition, candidates: task.candidates, target: task.basis.target, achieved };
  const changes = requiredChanges(request, running);
  if (changes.length === 0) return { kind: "kept", running, placement };
  const isPermitted = input.deployment.odgm?.allowLayoutChange === true && input.mayMoveState === undefined;
  // A what-if plan shows the layout that would be refused, with a warning.
  if (isPermitted || isWhatIf(input)) return { kind: "free" };
  const canGrow = runningShardType(running) === ShardType.mst && changes.every(({ isGrowth }) => isGrowth);
  return canGrow ? { kind: "grown", running } : { kind: "refused", changes };
}

function statefulPlan(plan: PlanInput["previous"]): StatefulPlan | undefined {
  return plan?.odgm === undefined ? undefined : { ...plan, odgm: plan.odgm };
}

function placeState(task: PlacementTask, fixed: FixedState): ClassPlacement {
  switch (fixed.kind) {
    case "kept":
      return { task, ok: true, value: fixed.placement };
    case "grown":
      return growPlacement(task, fixed.running);
    case "free":
    case "refused":
      return placeClass(task);
  }
}

/** What the class needs of a state store. A class that is persistent already is not refused for it again. */
function storeNeeds(
  { previous }: PlanInput,
  resolved: Result<ResolvedDeployment, readonly Violation[]>,
): Omit<ClusterNeeds, "unsuited"> {
  if (!resolved.ok) return { needsStore: false, isPersistent: false };
  const { definition, hasOdgm } = resolved.value;
  const isPersistent = definition.stateSpec?.persistent === true && previous?.shared.state?.persistent !== true;
  return { needsStore: hasOdgm, isPersistent };
}

/** Refuses if the eligible clusters cannot have the class. */
function refuseClusters(
  input: PlanInput,
  task: PlacementTask,
  verdicts: readonly ClusterVerdict[],
): PlanRefusal | undefined {
  return (
    refuseMemoryStores(input, task.candidates, verdicts) ??
    refuseUnusable(input, task.candidates, verdicts) ??
    refuseNamedClusters(task, verdicts)
  );
}

/** The request with its references to the package resolved. */
interface ResolvedDeployment {
  readonly definition: ClassDefinition;
  readonly functions: readonly RequestedFunction[];
  readonly hasOdgm: boolean;
}

/** Returns all violations of the request. */
function resolveDeployment(input: PlanInput): Result<ResolvedDeployment, readonly Violation[]> {
  const { package: from, deployment, settings } = input;
  const definition = from.classes.find(({ key }) => key === deployment.classKey);
  const functions = resolveFunctions(from, definition, deployment);
  const violations = [
    ...(definition === undefined ? [unknownClass(input)] : []),
    ...findUnknownClusters(input),
    ...(functions.ok ? [] : functions.error),
    ...replicaCountViolation(input, settings.maxReplicas),
    ...(input.previous?.odgm === undefined ? singleCopyViolation(deployment) : []),
  ];
  if (definition === undefined || !functions.ok || violations.length > 0) return err(violations);
  const hasOdgm = needsOdgm(definition, deployment, functions.value);
  return ok({ definition, functions: functions.value, hasOdgm });
}

function unknownClass({ package: from, deployment }: PlanInput): Violation {
  const known = from.classes.map(({ key }) => key);
  const nearest = nearestName(deployment.classKey, known);
  return {
    path: pathOf(ROOT_PATH, "class_key"),
    message: `package ${from.name} has no class ${deployment.classKey}`,
    fix:
      nearest === undefined
        ? known.length === 0
          ? "add the class to the package"
          : `use one of ${known.join(", ")}`
        : `did you mean ${nearest}?`,
  };
}

function replicaCountViolation({ deployment }: PlanInput, maxReplicas: number): Violation[] {
  const requested = deployment.odgm?.replicaCount ?? 1;
  if (requested <= maxReplicas) return [];
  return [
    {
      path: pathOf(ROOT_PATH, "odgm", "replica_count"),
      message: `${requested} exceeds PLANNER_MAX_REPLICAS (${maxReplicas})`,
      fix: `lower it to at most ${maxReplicas}`,
    },
  ];
}

/** The availability demands to size for: the class, then each function that states its own. */
function placementTask(input: PlanInput, candidates: Candidates, resolved: ResolvedDeployment): PlacementTask {
  const { deployment, settings, whatIf } = input;
  const basis: SizingBasis = {
    target: whatIf?.availability ?? deployment.nfr.availability ?? settings.defaultAvailability,
    algorithm: settings.algorithm,
    strong: isStrong(resolved.definition),
    atLeast: resolved.hasOdgm ? (deployment.odgm?.replicaCount ?? 1) : 1,
  };
  const ofClass: Demand = { subject: CLASS_SUBJECT, ...basis };
  const ofFunctions = resolved.functions.flatMap(({ spec, ownAvailability, hasReplicas }) =>
    ownAvailability === undefined || !hasReplicas
      ? []
      : [{ subject: spec.functionKey, target: ownAvailability, strong: false, atLeast: 1 }],
  );
  const hasState = resolved.hasOdgm;
  const fixedNodes = hasState ? (deployment.odgm?.nodeIds ?? {}) : {};
  const copies = copyRules(resolved.definition, deployment, statefulPlan(input.previous));
  return { input, candidates, demands: [ofClass, ...ofFunctions], basis, fixedNodes, hasState, copies };
}

function checkThroughput(
  { settings }: PlanInput,
  functions: readonly RequestedFunction[],
  verdicts: readonly ClusterVerdict[],
): PlanRefusal | undefined {
  const first = functions.find((fn) => fn.hasReplicas && (assumedReplicas(fn, settings) ?? 0) > settings.maxReplicas);
  if (first === undefined) return undefined;
  return refuseThroughput(first, assumedReplicas(first, settings) ?? 0, settings, verdicts);
}

function assemblePlan(
  input: PlanInput,
  { definition, functions, hasOdgm }: ResolvedDeployment,
  { task, placement, fixed }: PlacedState,
  zero: ReadonlyMap<string, ZeroRule>,
): Result<CompletePlan, PlanRefusal> {
  const { package: from, deployment, settings } = input;
  const { replicas, nodes, chosen, verdicts } = placement;
  const plannedFor = ({ spec }: RequestedFunction): number => placement.counts.get(spec.functionKey) ?? replicas;
  const running = statefulPlan(input.previous);
  const clusters = chosen.map(({ cluster }) => cluster);
  const used = collectionsInNetwork(
    input,
    clusters.map(({ name }) => name),
  );
  const odgm = !hasOdgm
    ? ok(undefined)
    : fixed.kind === "kept"
      ? ok(keepOdgm(fixed.running, input, definition))
      : planOdgm({ packageName: from.name, definition, deployment, replicas, nodes, running, used });
  const violations = [
    ...functions.flatMap((fn) => maxScaleViolation(fn, plannedAtLoad(fn, zero, plannedFor(fn)), settings)),
    ...zeroViolations(input, functions, zero, clusters),
    ...(odgm.ok ? [] : odgm.error),
    ...(hasOdgm || running === undefined ? [] : removalViolations(deployment.odgm)),
  ];
  if (!odgm.ok || violations.length > 0) return err(refuseInvalid(violations, verdicts));

  const units = planUnits(input, chosen, functions, plannedFor, zero);
  const { rollout } = deployment;
  const availability = plannedAvailability(task, placement, odgm.value);
  const shared = sharedSpec(input, definition, functions);
  const price = priceOf(
    { units, shared, ...(odgm.value === undefined ? {} : { odgm: odgm.value }) },
    (name) => input.clusters.find((cluster) => cluster.name === name)?.cost,
  );
  const grid = odgm.value && withPermission(odgm.value, input);
  const stateLoss = stateLossOf(input.previous, { shared, odgm: grid }, deployment.odgm);
  const plan = {
    sizing: task.basis,
    achievedAvailability: placement.achieved,
    availability,
    bestEffort: placement.bestEffort,
    replicas,
    clusters: verdicts,
    shared,
    units,
    price,
    ...(grid === undefined ? {} : { odgm: grid }),
    ...(rollout === undefined ? {} : { rollout }),
    ...(stateLoss === undefined ? {} : { stateLoss }),
    decisions: decisionsOf({
      task,
      placement,
      units,
      availability,
      functions,
      zero,
      price,
      fresh: fixed.kind === "kept" ? placeClass(withoutRunning(task)) : undefined,
      definition,
      used,
      stateLoss,
      ...(grid === undefined ? {} : { odgm: grid }),
    }),
  };
  return ok({ digest: planDigest(plan), ...plan });
}

/** A placement, the task that it answers, and what happens to a running state store. */
interface PlacedState {
  readonly task: PlacementTask;
  readonly placement: Placement;
  readonly fixed: FixedState;
}

/** A state store that may move without a request of its user needs their permission in its clusters too. */
function withPermission(odgm: PlannedOdgm, { mayMoveState, previous }: PlanInput): PlannedOdgm {
  const isMoved = mayMoveState === true && previous?.odgm !== undefined && !hasSameLayout(previous.odgm, odgm);
  return isMoved ? { ...odgm, allowLayoutChange: true } : odgm;
}

/** The task of the same class if it did not run. */
function withoutRunning(task: PlacementTask): PlacementTask {
  const { previous: _, ...input } = task.input;
  return { ...task, input };
}

/** The replicas that a function must be allowed to have: one, if it runs without replicas between requests. */
function plannedAtLoad({ spec }: RequestedFunction, zero: ReadonlyMap<string, ZeroRule>, planned: number): number {
  const rule = zero.get(spec.functionKey);
  return rule === undefined || forbidsZero(rule) ? planned : 1;
}

/** Whether assumptions replace facts, so that the plan cannot be applied as it is. */
function isWhatIf({ whatIf }: PlanInput): boolean {
  if (whatIf === undefined) return false;
  const { clustersDown = [], availability, clusterAvailability = {} } = whatIf;
  return availability !== undefined || clustersDown.length > 0 || Object.keys(clusterAvailability).length > 0;
}
