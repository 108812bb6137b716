import type { Violation } from "@oaas/foundation";
import { pathIn, type RequestedFunction } from "./functions.ts";
import { ownEntry } from "../own-entry.ts";
import type { CandidateCluster, PlannedFunction, PlannedUnit, PlannerSettings, ScaleBasis } from "../plan-types.ts";
import { pluralize } from "../explanation/format.ts";

/** A need for replicas, and where it comes from. */
interface Need {
  readonly basis: ScaleBasis;
  readonly replicas: number;
  readonly because: string;
}

/** What the scale of a function in one cluster depends on. */
export interface ScaleTask {
  readonly fn: RequestedFunction;
  /** Replicas for availability. */
  readonly planned: number;
  readonly settings: PlannerSettings;
  /** Where it was measured. */
  readonly cluster?: CandidateCluster;
  /** The unit in force there. */
  readonly previous?: PlannedUnit;
}

/** Replicas that a stated throughput needs by assumption, undefined when none is stated. */
export function assumedReplicas({ spec }: RequestedFunction, { rpsPerReplica }: PlannerSettings): number | undefined {
  const rps = spec.nfr.minThroughputRps;
  return rps === undefined ? undefined : Math.max(1, Math.ceil(rps / rpsPerReplica));
}

/**
 * The least scale of one function in one cluster: the largest of what the user asked for, what availability needs, and
 * what throughput needs. Each cluster must carry the whole throughput, since the others may be down when it is needed.
 */
export function scaleFunction(task: ScaleTask): PlannedFunction {
  const { functionKey, provision } = task.fn.spec;
  const { minScale, maxScale } = provision;
  const bounds = maxScale === undefined ? {} : { maxScale };
  if (!task.fn.hasReplicas) {
    const reason = "it has no replicas of its own";
    return { functionKey, minScale: minScale ?? 0, ...bounds, basis: "none", reason };
  }
  const throughput = throughputNeed(task);
  const availability: Need = {
    basis: "availability",
    replicas: task.planned,
    because: `availability needs ${task.planned}`,
  };
  const user: Need | undefined =
    minScale === undefined
      ? undefined
      : { basis: "user", replicas: minScale, because: `min_scale asks for ${minScale}` };
  const needs = [availability, throughput, user].filter((need) => need !== undefined);
  const deciding = needs.reduce((most, need) => (need.replicas > most.replicas ? need : most));
  return {
    functionKey,
    minScale: deciding.replicas,
    ...bounds,
    basis: deciding.basis,
    reason: needs.map(({ because }) => because).join("; "),
  };
}

/** What was measured replaces what is assumed; it bends to the user's bound and the operator's cap, which do not bend. */
function throughputNeed({ fn, settings, cluster, previous }: ScaleTask): Need | undefined {
  const assumed = assumedReplicas(fn, settings);
  const rps = fn.spec.nfr.minThroughputRps;
  if (assumed === undefined || rps === undefined) return undefined;
  const measured = ownEntry(cluster?.recommendedReplicas, fn.spec.functionKey);
  if (cluster === undefined || measured === undefined || !Number.isFinite(measured)) {
    const because = `${rps} requests per second need ${assumed} at ${settings.rpsPerReplica} each`;
    return { basis: "throughput", replicas: Math.min(assumed, settings.maxReplicas), because };
  }
  const most = Math.min(settings.maxReplicas, fn.spec.provision.maxScale ?? Number.POSITIVE_INFINITY);
  const wanted = Math.max(1, Math.ceil(measured));
  const replicas = steady(Math.min(wanted, most), previous, { fn, settings });
  const bound = wanted > most ? `, of which ${most} are allowed` : "";
  const kept = replicas > wanted ? `, and ${replicas} stay because so small a saving is not worth a move` : "";
  return {
    basis: "measured",
    replicas,
    because: `measured in ${cluster.name}, ${rps} requests per second need ${wanted}${bound}${kept}`,
  };
}

/** A measured need that falls by no more than the margin changes nothing. */
function steady(
  replicas: number,
  previous: PlannedUnit | undefined,
  { fn, settings }: { readonly fn: RequestedFunction; readonly settings: PlannerSettings },
): number {
  const before = previous?.functions.find(({ functionKey }) => functionKey === fn.spec.functionKey);
  if (before?.basis !== "measured" || before.minScale <= replicas || before.minScale > settings.maxReplicas) {
    return replicas;
  }
  const most = fn.spec.provision.maxScale ?? Number.POSITIVE_INFINITY;
  const saved = (before.minScale - replicas) / before.minScale;
  return saved > settings.hysteresisMargin || before.minScale > most ? replicas : before.minScale;
}

/** A max_scale that the plan cannot keep is told, never raised in silence. */
export function maxScaleViolation(fn: RequestedFunction, planned: number, settings: PlannerSettings): Violation[] {
  const { functionKey, provision } = fn.spec;
  const { maxScale } = provision;
  const assumed = Math.min(assumedReplicas(fn, settings) ?? 0, settings.maxReplicas);
  const needed = Math.max(planned, assumed);
  if (!fn.hasReplicas || maxScale === undefined || maxScale >= needed) return [];
  const why = assumed > planned ? "throughput" : "availability";
  return [
    {
      path: pathIn(fn.listedAt, "provision_config", "max_scale"),
      message: `${functionKey} may have at most ${pluralize(maxScale, "replica")}, but its ${why} needs ${needed}`,
      fix: `raise max_scale to at least ${needed} or lower the ${why} asked for`,
    },
  ];
}
