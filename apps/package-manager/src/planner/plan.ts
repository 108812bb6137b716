import { err, nearestName, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import type { ClassDefinition, ClusterName } from "@oaas/models";
import { decisionsOf } from "./explanation/decisions.ts";
import { plannedAvailability } from "./explanation/planned-availability.ts";
import {
  availabilityOfOneEach,
  placeReplicas,
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
import { clustersWithoutZero, forbidsZero, zeroRules, zeroViolations, type ZeroRule } from "./sizing/zero-scale.ts";
import { isStrong, removalViolations } from "./sizing/state-layout.ts";
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
  const needs = { needsStore: resolved.ok && resolved.value.hasOdgm, unsuited };
  const candidates = evaluateClusters(input, needs);
  const verdicts = candidates.all.map((candidate) => verdict(candidate, false));

  if (!resolved.ok) return refused(refuseInvalid(resolved.error, verdicts));
  const refusal =
    refuseDisabled(input, verdicts) ??
    refuseNoCluster(input, candidates, verdicts) ??
    refuseNamespace(input, candidates, verdicts) ??
    refuseUnusable(input, candidates, verdicts);
  if (refusal !== undefined) return refused(refusal);

  const task = placementTask(input, candidates, resolved.value);
  const placed = placeReplicas(task);
  if (!placed.ok) return refused(refuseUnreachableTarget(task, placed.error, verdicts));

  const throughput = checkThroughput(input, resolved.value.functions, verdicts);
  if (throughput !== undefined && !input.deployment.allowBestEffort) return refused(throughput);
  const placement = throughput === undefined ? placed.value : { ...placed.value, bestEffort: true };
  const zero = zeroRules(input, resolved.value.functions, availabilityOfOneEach(task, placement));
  const result = assemblePlan(input, resolved.value, task, placement, zero);
  const found = result.ok
    ? clustersWithoutRoom(result.value, input, { candidates, isApproximate })
    : candidates.mode === "named"
      ? []
      : clustersWithoutZero(input, zero);
  return { result, found };
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
  zero: ReadonlyMap<string, ZeroRule>,
): Result<CompletePlan, PlanRefusal> {
  const { package: from, deployment, settings } = input;
  const { replicas, nodes, chosen, verdicts } = placement;
  const plannedFor = ({ spec }: RequestedFunction): number => placement.counts.get(spec.functionKey) ?? replicas;
  const previous = input.previous?.odgm;
  const isHypothetical = isWhatIf(input);
  const odgm = hasOdgm
    ? planOdgm({ packageName: from.name, definition, deployment, replicas, nodes, previous, isHypothetical })
    : ok(undefined);
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
