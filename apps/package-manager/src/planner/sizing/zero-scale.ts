import type { Violation } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import { formatShare } from "../explanation/format.ts";
import { ownEntry, type CandidateCluster, type ClusterAbility, type PlanInput, type Reason } from "../plan-types.ts";
import { pathIn, type RequestedFunction } from "./functions.ts";
import { meets } from "./quorum.ts";

/** What decides whether a function may run without replicas. */
export interface ZeroRule {
  /** The availability that the deployment or the function states; the default target is not stated. */
  readonly stated?: number;
  /** The availability of one replica in each cluster, which is as much as a request can start. */
  readonly reach: number;
}

/** Whether a function states that it needs no replicas while no request arrives. */
export function statesZero({ hasReplicas, spec }: RequestedFunction): boolean {
  return hasReplicas && spec.provision.minScale === 0;
}

/** The rule of each function that states `min_scale: 0`, by function key. */
export function zeroRules(
  { deployment, whatIf }: PlanInput,
  functions: readonly RequestedFunction[],
  reach: number,
): ReadonlyMap<string, ZeroRule> {
  const ofClass = whatIf?.availability ?? deployment.nfr.availability;
  return new Map(
    functions.filter(statesZero).map(({ spec, ownAvailability }) => {
      const stated = ownAvailability ?? ofClass;
      return [spec.functionKey, { reach, ...(stated === undefined ? {} : { stated }) }];
    }),
  );
}

/** Whether a stated availability needs replicas that run before they are requested. */
export function forbidsZero({ stated, reach }: ZeroRule): boolean {
  return stated !== undefined && !meets(reach, stated);
}

/** Whether the manager of a cluster can scale functions to zero with the template of the unit. */
export function zeroAbility({ reading }: CandidateCluster, template: string | undefined): ClusterAbility {
  const able = reading?.zeroScaleTemplates;
  if (able === undefined) return "unknown";
  const named = template?.toLowerCase();
  const isAble = named === undefined ? able.length > 0 : able.some((name) => name.toLowerCase() === named);
  return isAble ? "able" : "unable";
}

/** Why `min_scale: 0` is kept or raised. */
export function zeroReason(rule: ZeroRule, ability: ClusterAbility): string {
  const { stated, reach } = rule;
  if (stated !== undefined && forbidsZero(rule))
    return (
      `min_scale 0 is raised, because availability ${formatShare(stated)} is stated and a function without replicas ` +
      `reaches ${formatShare(reach)}: a request starts one in each cluster`
    );
  if (ability === "unknown")
    return "min_scale 0 is raised, because the class runtime manager does not report whether it can scale to zero";
  const target =
    stated === undefined
      ? "no availability is stated"
      : `one replica in each cluster, which a request starts, reaches the stated availability ${formatShare(stated)}`;
  return `min_scale 0 is kept, because ${target}`;
}

/** The clusters that cannot scale to zero although a function must, with the reason. */
export function clustersWithoutZero(
  { clusters, deployment }: PlanInput,
  rules: ReadonlyMap<string, ZeroRule>,
): readonly (readonly [ClusterName, Reason])[] {
  if ([...rules.values()].every(forbidsZero)) return [];
  return clusters.flatMap((cluster) => {
    const unit = { cluster, template: ownEntry(deployment.clusterTemplates, cluster.name) };
    if (zeroAbility(cluster, unit.template) !== "unable") return [];
    const text = `${unableText(unit)}, and a function has min_scale 0`;
    return [[cluster.name, { code: "no-scale-to-zero", text }] as const];
  });
}

interface Unit {
  readonly cluster: CandidateCluster;
  readonly template: string | undefined;
}

/** Rejects `min_scale: 0` in clusters that cannot scale to zero, unless a stated availability raises it anyway. */
export function zeroViolations(
  { clusters, deployment }: PlanInput,
  functions: readonly RequestedFunction[],
  rules: ReadonlyMap<string, ZeroRule>,
  chosen: readonly CandidateCluster[],
): Violation[] {
  const unitIn = (cluster: CandidateCluster): Unit => ({
    cluster,
    template: ownEntry(deployment.clusterTemplates, cluster.name),
  });
  const unable = chosen.map(unitIn).filter(({ cluster, template }) => zeroAbility(cluster, template) === "unable");
  const others = clusters.filter((cluster) => zeroAbility(cluster, undefined) === "able").map(({ name }) => name);
  return functions.flatMap((fn): Violation[] => {
    const rule = rules.get(fn.spec.functionKey);
    if (rule === undefined || forbidsZero(rule)) return [];
    return unable.map((unit) => ({
      path: pathIn(fn.listedAt, "provision_config", "min_scale"),
      message: `${fn.spec.functionKey} has min_scale 0, but ${unableText(unit)}`,
      fix: fixText(unit, others),
    }));
  });
}

function unableText({ cluster: { name }, template }: Unit): string {
  return template === undefined
    ? `cluster ${name} has no template that can scale to zero`
    : `template ${template} in cluster ${name} cannot scale to zero`;
}

function fixText({ cluster, template }: Unit, others: readonly string[]): string {
  const able = cluster.reading?.zeroScaleTemplates ?? [];
  const elsewhere = others.filter((name) => name !== cluster.name).toSorted();
  const remedies = [
    ...(template !== undefined && able.length > 0 ? [`use template ${able.join(" or ")} in env_templates`] : []),
    ...(able.length > 0
      ? []
      : ["install Knative Serving, or KEDA with a template whose ScaledObject starts the first replica"]),
    ...(elsewhere.length > 0 ? [`use target_clusters with ${elsewhere.join(" or ")}`] : []),
    "set min_scale to 1",
  ];
  return remedies.join(", or ");
}
