import { hashJson } from "@oaas/foundation";
import type { ClassDefinition, Rollout } from "@oaas/models";
import type { Candidate } from "./cluster-choice.ts";
import { scaleFunction } from "./function-scale.ts";
import type { WantedFunction } from "./functions.ts";
import { ownEntry } from "./own-entry.ts";
import type { DeploymentPlan, PlanInput, PlannedFunction, PlannedOdgm, PlannedUnit, SharedSpec } from "./plan-types.ts";
import { unitIdOf } from "./unit-id.ts";

/** What every unit of the deployment says alike. */
export function sharedSpec(
  { package: from, packageRevision, deployment }: PlanInput,
  definition: ClassDefinition,
  functions: readonly WantedFunction[],
): SharedSpec {
  const { enforcement, addons, templateHint, telemetry, environmentKind } = deployment;
  return {
    deploymentKey: deployment.key,
    packageName: from.name,
    packageRevision,
    classKey: definition.key,
    functions: functions.map(({ spec }) => spec),
    bindings: definition.bindings,
    nfr: deployment.nfr,
    ...(definition.stateSpec === undefined ? {} : { state: definition.stateSpec }),
    ...(enforcement === undefined ? {} : { enforcement }),
    ...(addons === undefined ? {} : { addons }),
    ...(templateHint === undefined ? {} : { templateHint }),
    ...(telemetry === undefined ? {} : { telemetry }),
    ...(environmentKind === undefined ? {} : { environmentKind }),
  };
}

/** What is particular to the unit of one cluster. */
export function planUnit(
  input: PlanInput,
  { cluster }: Candidate,
  functions: readonly WantedFunction[],
  planned: (fn: WantedFunction) => number,
): PlannedUnit {
  const { deployment, settings } = input;
  const template = ownEntry(deployment.clusterTemplates, cluster.name);
  const previous = input.previous?.units.find((unit) => unit.cluster === cluster.name);
  return {
    unitId: unitIdOf(deployment.key, cluster.name),
    cluster: cluster.name,
    ...(template === undefined ? {} : { template }),
    functions: functions.map((fn) =>
      scaleFunction({ fn, planned: planned(fn), settings, cluster, ...(previous === undefined ? {} : { previous }) }),
    ),
  };
}

/** The part of a plan that is done. Readings, reasons and what was achieved are about it, not of it. */
export interface PlanContent {
  readonly target: number;
  readonly replicas: number;
  readonly bestEffort: boolean;
  readonly shared: SharedSpec;
  readonly units: readonly UnitContent[];
  readonly odgm?: PlannedOdgm;
  readonly rollout?: Rollout;
}

/** A unit without the words about it. */
export interface UnitContent extends Omit<PlannedUnit, "functions"> {
  readonly functions: readonly Omit<PlannedFunction, "basis" | "reason">[];
}

/** What the digest of a plan stands for. */
export function planContent({
  sizing,
  replicas,
  bestEffort,
  shared,
  units,
  odgm,
  rollout,
}: Omit<DeploymentPlan, "digest">): PlanContent {
  return {
    target: sizing.target,
    replicas,
    bestEffort,
    shared,
    units: units.map((unit) => ({
      ...unit,
      functions: unit.functions.map(({ basis: _basis, reason: _reason, ...scale }) => scale),
    })),
    ...(odgm === undefined ? {} : { odgm }),
    ...(rollout === undefined ? {} : { rollout }),
  };
}

/** Equal for plans that do the same, different for others. */
export function planDigest(plan: Omit<DeploymentPlan, "digest">): string {
  return hashJson(planContent(plan));
}
