import type { ClassDefinition, Rollout } from "@oaas/models";
import { compareNames, type Candidate } from "./placement/candidates.ts";
import { scaleFunction } from "./sizing/function-scale.ts";
import type { RequestedFunction } from "./sizing/functions.ts";
import { ownEntry } from "./own-entry.ts";
import type { DeploymentPlan, PlanInput, PlannedFunction, PlannedOdgm, PlannedUnit, SharedSpec } from "./plan-types.ts";
import { unitIdOf } from "./unit-id.ts";

/** What every unit of the deployment says alike. */
export function sharedSpec(
  { package: from, packageRevision, deployment }: PlanInput,
  definition: ClassDefinition,
  functions: readonly RequestedFunction[],
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

/** What is particular to the unit of each cluster, by name. Where nothing was measured, all have the same scales. */
export function planUnits(
  input: PlanInput,
  chosen: readonly Candidate[],
  functions: readonly RequestedFunction[],
  planned: (fn: RequestedFunction) => number,
): readonly PlannedUnit[] {
  const { deployment, settings, previous } = input;
  const assumed = functions.map((fn) => scaleFunction({ fn, planned: planned(fn), settings }));
  const running = new Map(previous?.units.map((unit) => [unit.cluster, unit]));
  return chosen
    .map(({ cluster }): PlannedUnit => {
      const template = ownEntry(deployment.clusterTemplates, cluster.name);
      const before = running.get(cluster.name);
      const known = { settings, cluster, ...(before === undefined ? {} : { previous: before }) };
      return {
        unitId: unitIdOf(deployment.key, cluster.name),
        cluster: cluster.name,
        ...(template === undefined ? {} : { template }),
        functions:
          cluster.recommendedReplicas === undefined
            ? assumed
            : functions.map((fn) => scaleFunction({ fn, planned: planned(fn), ...known })),
      };
    })
    .sort((a, b) => compareNames(a.cluster, b.cluster));
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
