import type { EveryField } from "@oaas/contracts/grpc";
import { omitUndefined } from "@oaas/contracts/rest";
import type { ClassDefinition, Rollout } from "@oaas/models";
import { compareNames, type Candidate } from "./placement/candidates.ts";
import { scaleFunction, type ScaleTask } from "./sizing/function-scale.ts";
import type { RequestedFunction } from "./sizing/functions.ts";
import { zeroAbility, type ZeroRule } from "./sizing/zero-scale.ts";
import {
  ownEntry,
  type ClusterAbility,
  type DeploymentPlan,
  type PlanInput,
  type PlannedFunction,
  type PlannedOdgm,
  type PlannedUnit,
  type SharedSpec,
} from "./plan-types.ts";
import { unitIdOf } from "./unit-id.ts";

/** The content that all units of the deployment share. */
export function sharedSpec(
  { package: from, packageRevision, deployment }: PlanInput,
  definition: ClassDefinition,
  functions: readonly RequestedFunction[],
): SharedSpec {
  return omitUndefined({
    deploymentKey: deployment.key,
    packageName: from.name,
    packageRevision,
    classKey: definition.key,
    functions: functions.map(({ spec }) => spec),
    bindings: definition.bindings,
    nfr: deployment.nfr,
    state: definition.stateSpec,
    enforcement: deployment.enforcement,
    addons: deployment.addons,
    templateHint: deployment.templateHint,
    telemetry: deployment.telemetry,
    environmentKind: deployment.environmentKind,
  } satisfies EveryField<SharedSpec>);
}

/** The units of the chosen clusters, by name. Clusters without measurements share the same scales. */
export function planUnits(
  input: PlanInput,
  chosen: readonly Candidate[],
  functions: readonly RequestedFunction[],
  planned: (fn: RequestedFunction) => number,
  zero: ReadonlyMap<string, ZeroRule>,
): readonly PlannedUnit[] {
  const { deployment, settings, previous } = input;
  const taskOf = (fn: RequestedFunction, ability: ClusterAbility): ScaleTask => {
    const rule = zero.get(fn.spec.functionKey);
    return { fn, planned: planned(fn), settings, ...(rule === undefined ? {} : { zero: { rule, ability } }) };
  };
  const shared = new Map<ClusterAbility, readonly PlannedFunction[]>();
  const assumed = (ability: ClusterAbility): readonly PlannedFunction[] => {
    const scales = shared.get(ability) ?? functions.map((fn) => scaleFunction(taskOf(fn, ability)));
    shared.set(ability, scales);
    return scales;
  };
  const running = new Map(previous?.units.map((unit) => [unit.cluster, unit]));
  return chosen
    .map(({ cluster, namespace }): PlannedUnit => {
      const template = ownEntry(deployment.clusterTemplates, cluster.name);
      const before = running.get(cluster.name);
      const ability = zeroAbility(cluster, template);
      const context = { cluster, ...(before === undefined ? {} : { previous: before }) };
      return {
        unitId: unitIdOf(deployment.key, cluster.name),
        cluster: cluster.name,
        ...(namespace?.name === undefined ? {} : { namespace: namespace.name }),
        ...(namespace === undefined ? {} : { namespaceOrigin: namespace.origin }),
        ...(template === undefined ? {} : { template }),
        functions:
          cluster.recommendedReplicas === undefined
            ? assumed(ability)
            : functions.map((fn) => scaleFunction({ ...taskOf(fn, ability), ...context })),
      };
    })
    .sort((a, b) => compareNames(a.cluster, b.cluster));
}

/** The part of a plan that takes effect, without readings, reasons and achieved values. */
export interface PlanContent {
  readonly target: number;
  readonly replicas: number;
  readonly bestEffort: boolean;
  readonly shared: SharedSpec;
  readonly units: readonly UnitContent[];
  readonly odgm?: PlannedOdgm;
  readonly rollout?: Rollout;
}

/** A unit without its reasons. */
export interface UnitContent extends Omit<PlannedUnit, "functions" | "namespaceOrigin"> {
  readonly functions: readonly Omit<PlannedFunction, "basis" | "reason">[];
}

/** Extracts the content that the digest of a plan covers. */
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
    units: units.map(({ namespaceOrigin: _origin, ...unit }) => ({
      ...unit,
      functions: unit.functions.map(({ basis: _basis, reason: _reason, ...scale }) => scale),
    })),
    ...(odgm === undefined ? {} : { odgm }),
    ...(rollout === undefined ? {} : { rollout }),
  };
}
