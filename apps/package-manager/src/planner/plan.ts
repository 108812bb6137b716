import { err, ok, pathOf, ROOT_PATH, violationText, type Result, type Violation } from "@oaas/foundation";
import type { ClassDefinition } from "@oaas/models";
import { evaluateClusters, findUnknownClusters, verdict, type Candidates } from "./placement/candidates.ts";
import { decisionsOf } from "./explanation/decisions.ts";
import { assumedReplicas, maxScaleViolation } from "./sizing/function-scale.ts";
import { resolveFunctions, type RequestedFunction } from "./sizing/functions.ts";
import { isStrong, planOdgm, needsOdgm } from "./sizing/odgm.ts";
import { placeReplicas, type Placement, type PlacementTask } from "./placement/placement.ts";
import { planDigest } from "./plan-digest.ts";
import type { ClusterVerdict, DeploymentPlan, PlanInput, PlanRefusal, SizingBasis } from "./plan-types.ts";
import {
  refuseDisabled,
  refuseNoCluster,
  refuseUnreachableTarget,
  refuseThroughput,
  refuseUnusable,
} from "./refusals/refusals.ts";
import { CLASS_SUBJECT, type Demand } from "./sizing/replicas.ts";
import { planUnits, sharedSpec } from "./plan-units.ts";

/**
 * What would be done to fulfil a wish, or why it is refused.
 *
 * *Guarantees*: the same input gives the same plan, whatever the order of clusters; a plan that is not best effort meets its
 * target; everything that is wrong with the wish is said at once.
 */
export function planDeployment(input: PlanInput): Result<DeploymentPlan, PlanRefusal> {
  const candidates = evaluateClusters(input);
  const verdicts = candidates.all.map((candidate) => verdict(candidate, false));

  const wish = resolveDeployment(input, verdicts);
  if (!wish.ok) return wish;
  const off = refuseDisabled(input, verdicts);
  if (off !== undefined) return err(off);

  const unplaceable = refuseNoCluster(input, candidates, verdicts) ?? refuseUnusable(input, candidates, verdicts);
  if (unplaceable !== undefined) return err(unplaceable);

  const task = placementTask(input, candidates, wish.value);
  const placed = placeReplicas(task);
  if (!placed.ok) return err(refuseUnreachableTarget(task, placed.error, verdicts));

  const slow = checkThroughput(input, wish.value.functions, verdicts);
  if (slow === undefined) return assemblePlan(input, wish.value, task, placed.value);
  if (!input.deployment.allowBestEffort) return err(slow);
  return assemblePlan(input, wish.value, task, { ...placed.value, bestEffort: true });
}

/** A wish whose words all mean something. */
interface ResolvedDeployment {
  readonly definition: ClassDefinition;
  readonly functions: readonly RequestedFunction[];
  readonly hasOdgm: boolean;
}

function resolveDeployment(
  input: PlanInput,
  verdicts: readonly ClusterVerdict[],
): Result<ResolvedDeployment, PlanRefusal> {
  const { package: from, deployment, settings } = input;
  const definition = from.classes.find(({ key }) => key === deployment.classKey);
  const functions = resolveFunctions(from, definition, deployment);
  const violations = [
    ...(definition === undefined ? [unknownClass(input)] : []),
    ...findUnknownClusters(input),
    ...(functions.ok ? [] : functions.error),
    ...replicaCountViolation(input, settings.maxReplicas),
  ];
  if (definition === undefined || !functions.ok || violations.length > 0)
    return err(refuseInvalid(violations, verdicts));
  const hasOdgm = needsOdgm(definition, deployment, functions.value);
  return ok({ definition, functions: functions.value, hasOdgm });
}

function unknownClass({ package: from, deployment }: PlanInput): Violation {
  const known = from.classes.map(({ key }) => key).join(", ");
  return {
    path: pathOf(ROOT_PATH, "class_key"),
    message: `package ${from.name} has no class ${deployment.classKey}`,
    fix: known === "" ? "add the class to the package" : `use one of ${known}`,
  };
}

function replicaCountViolation({ deployment }: PlanInput, maxReplicas: number): Violation[] {
  const asked = deployment.odgm?.replicaCount ?? 1;
  if (asked <= maxReplicas) return [];
  return [
    {
      path: pathOf(ROOT_PATH, "odgm", "replica_count"),
      message: `${asked} is above the most that are planned (PLANNER_MAX_REPLICAS, ${maxReplicas})`,
      fix: `lower it to at most ${maxReplicas}`,
    },
  ];
}

/** What the sizes must reach: the class as a whole, then each function that states an availability of its own. */
function placementTask(input: PlanInput, candidates: Candidates, wish: ResolvedDeployment): PlacementTask {
  const { deployment, settings, whatIf } = input;
  const basis: SizingBasis = {
    target: whatIf?.availability ?? deployment.nfr.availability ?? settings.defaultAvailability,
    algorithm: settings.algorithm,
    strong: isStrong(wish.definition),
    atLeast: wish.hasOdgm ? (deployment.odgm?.replicaCount ?? 1) : 1,
  };
  const ofClass: Demand = { subject: CLASS_SUBJECT, ...basis };
  const ofFunctions = wish.functions.flatMap(({ spec, ownAvailability, hasReplicas }) =>
    ownAvailability === undefined || !hasReplicas
      ? []
      : [{ subject: spec.functionKey, target: ownAvailability, strong: false, atLeast: 1 }],
  );
  const givenNodes = wish.hasOdgm ? (deployment.odgm?.nodeIds ?? {}) : {};
  return { input, candidates, demands: [ofClass, ...ofFunctions], basis, givenNodes };
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
): Result<DeploymentPlan, PlanRefusal> {
  const { package: from, deployment, settings } = input;
  const { replicas, nodes, chosen, verdicts } = placement;
  const plannedFor = ({ spec }: RequestedFunction): number => placement.counts.get(spec.functionKey) ?? replicas;
  const odgm = hasOdgm ? planOdgm({ packageName: from.name, definition, deployment, replicas, nodes }) : ok(undefined);
  const violations = [
    ...functions.flatMap((fn) => maxScaleViolation(fn, plannedFor(fn), settings)),
    ...(odgm.ok ? [] : odgm.error),
  ];
  if (!odgm.ok || violations.length > 0) return err(refuseInvalid(violations, verdicts));

  const units = planUnits(input, chosen, functions, plannedFor);
  const { rollout } = deployment;
  const plan = {
    sizing: task.basis,
    achievedAvailability: placement.achieved,
    bestEffort: placement.bestEffort,
    replicas,
    clusters: verdicts,
    shared: sharedSpec(input, definition, functions),
    units,
    ...(odgm.value === undefined ? {} : { odgm: odgm.value }),
    ...(rollout === undefined ? {} : { rollout }),
    decisions: decisionsOf({ task, placement, units, ...(odgm.value === undefined ? {} : { odgm: odgm.value }) }),
  };
  return ok({ digest: planDigest(plan), ...plan });
}

function refuseInvalid(violations: readonly Violation[], clusters: readonly ClusterVerdict[]): PlanRefusal {
  return { kind: "invalid", violations, clusters, message: violations.map(violationText).join("; ") };
}
