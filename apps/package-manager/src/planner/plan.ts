import { err, nearestName, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import type { ClassDefinition, ClusterName } from "@oaas/models";
import { decisionsOf } from "./explanation/decisions.ts";
import { plannedAvailability } from "./explanation/planned-availability.ts";
import { availabilityOfOneEach, placeReplicas, type Placement, type PlacementTask } from "./placement/placement.ts";
import {
  evaluateClusters,
  findUnknownClusters,
  verdict,
  type Candidates,
  type ClusterNeeds,
} from "./placement/candidates.ts";
import { missingCapacity } from "./placement/free-capacity.ts";
import { priceOf } from "./price/plan-price.ts";
import { planDigest } from "./plan-digest.ts";
import type { ClusterVerdict, CompletePlan, PlanInput, PlanRefusal, Reason, SizingBasis } from "./plan-types.ts";
import { planUnits, sharedSpec } from "./plan-units.ts";
import {
  refuseDisabled,
  refuseInvalid,
  refuseNamespace,
  refuseNoCluster,
  refuseThroughput,
  refuseUnreachableTarget,
  refuseUnusable,
} from "./refusals/refusals.ts";
import { assumedReplicas, maxScaleViolation } from "./sizing/function-scale.ts";
import { resolveFunctions, type RequestedFunction } from "./sizing/functions.ts";
import { needsOdgm, planOdgm } from "./sizing/odgm.ts";
import { forbidsZero, zeroRules, zeroViolations, type ZeroRule } from "./sizing/zero-scale.ts";
import { isStrong, removalViolations } from "./sizing/state-layout.ts";
import { CLASS_SUBJECT, type Demand } from "./sizing/replicas.ts";

/**
 * Plans a deployment, or explains why it is refused.
 *
 * *Guarantees*: the same input gives the same plan, in whatever order the clusters are listed; a plan that is not best
 * effort meets its target; all violations of the request are reported together.
 */
export function planDeployment(input: PlanInput): Result<CompletePlan, PlanRefusal> {
  const noRoom = new Map<ClusterName, readonly Reason[]>();
  for (;;) {
    const planned = planWithout(input, noRoom);
    if (!planned.ok) return planned;
    // How many replicas a cluster gets is only known from a plan, so a cluster without room for them is left out of the next.
    const full = clustersWithoutRoom(planned.value, input).filter(([cluster]) => !noRoom.has(cluster));
    if (full.length === 0) return planned;
    for (const [cluster, reason] of full) noRoom.set(cluster, [reason]);
  }
}

function clustersWithoutRoom(
  { units, shared }: CompletePlan,
  { clusters, previous }: PlanInput,
): readonly (readonly [ClusterName, Reason])[] {
  return units.flatMap((unit) => {
    const cluster = clusters.find(({ name }) => name === unit.cluster);
    const reason = cluster && missingCapacity(unit, shared, previous, cluster);
    return reason === undefined ? [] : [[unit.cluster, reason] as const];
  });
}

/** Plans without the clusters that have no room. */
function planWithout(input: PlanInput, noRoom: ClusterNeeds["noRoom"]): Result<CompletePlan, PlanRefusal> {
  const resolved = resolveDeployment(input);
  const needs = { needsStore: resolved.ok && resolved.value.hasOdgm, noRoom };
  const candidates = evaluateClusters(input, needs);
  const verdicts = candidates.all.map((candidate) => verdict(candidate, false));

  if (!resolved.ok) return err(refuseInvalid(resolved.error, verdicts));
  const refusal =
    refuseDisabled(input, verdicts) ??
    refuseNoCluster(input, candidates, verdicts) ??
    refuseNamespace(input, candidates, verdicts) ??
    refuseUnusable(input, candidates, verdicts);
  if (refusal !== undefined) return err(refusal);

  const task = placementTask(input, candidates, resolved.value);
  const placed = placeReplicas(task);
  if (!placed.ok) return err(refuseUnreachableTarget(task, placed.error, verdicts));

  const throughput = checkThroughput(input, resolved.value.functions, verdicts);
  if (throughput === undefined) return assemblePlan(input, resolved.value, task, placed.value);
  if (!input.deployment.allowBestEffort) return err(throughput);
  return assemblePlan(input, resolved.value, task, { ...placed.value, bestEffort: true });
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
  const fixedNodes = resolved.hasOdgm ? (deployment.odgm?.nodeIds ?? {}) : {};
  return { input, candidates, demands: [ofClass, ...ofFunctions], basis, fixedNodes, hasState: resolved.hasOdgm };
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
  task: PlacementTask,
  placement: Placement,
): Result<CompletePlan, PlanRefusal> {
  const { package: from, deployment, settings } = input;
  const { replicas, nodes, chosen, verdicts } = placement;
  const plannedFor = ({ spec }: RequestedFunction): number => placement.counts.get(spec.functionKey) ?? replicas;
  const previous = input.previous?.odgm;
  const isHypothetical = isWhatIf(input);
  const odgm = hasOdgm
    ? planOdgm({ packageName: from.name, definition, deployment, replicas, nodes, previous, isHypothetical })
    : ok(undefined);
  const zero = zeroRules(input, functions, availabilityOfOneEach(task, placement));
  const clusters = chosen.map(({ cluster }) => cluster);
  const violations = [
    ...functions.flatMap((fn) => maxScaleViolation(fn, plannedAtLoad(fn, zero, plannedFor(fn)), settings)),
    ...zeroViolations(input, functions, zero, clusters),
    ...(odgm.ok ? [] : odgm.error),
    ...(hasOdgm || previous === undefined ? [] : removalViolations(deployment.odgm)),
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
    ...(odgm.value === undefined ? {} : { odgm: odgm.value }),
    ...(rollout === undefined ? {} : { rollout }),
    decisions: decisionsOf({
      task,
      placement,
      units,
      availability,
      functions,
      zero,
      price,
      ...(odgm.value === undefined ? {} : { odgm: odgm.value }),
    }),
  };
  return ok({ digest: planDigest(plan), ...plan });
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
