import type { Violation } from "@oaas/foundation";
import { pathIn, type RequestedFunction } from "./functions.ts";
import {
  ownEntry,
  type CandidateCluster,
  type ClusterAbility,
  type PlannedFunction,
  type PlannedUnit,
  type PlannerSettings,
  type ReplicaRecommendation,
  type ScaleBasis,
} from "../plan-types.ts";
import { pluralize } from "../explanation/format.ts";
import { forbidsZero, zeroReason, type ZeroRule } from "./zero-scale.ts";

/** Quotients such as 3 / 1 do not round up because of floating point errors. */
const ROUNDING = 1e-9;

/** A replica count that one requirement needs. */
interface Need {
  readonly basis: ScaleBasis;
  readonly replicas: number;
  readonly because: string;
}

/** The inputs of the scale of one function in one cluster. */
export interface ScaleTask {
  readonly fn: RequestedFunction;
  /** Replicas that availability needs. */
  readonly planned: number;
  readonly settings: PlannerSettings;
  /** Present if the cluster may have measurements. */
  readonly cluster?: CandidateCluster;
  /** The unit that runs in the cluster. */
  readonly previous?: PlannedUnit;
  /** Present for a function that states `min_scale: 0`. */
  readonly zero?: { readonly rule: ZeroRule; readonly ability: ClusterAbility };
}

/** Replicas that the required throughput needs at the assumed rate; undefined without a requirement. */
export function assumedReplicas({ spec }: RequestedFunction, { rpsPerReplica }: PlannerSettings): number | undefined {
  const rps = spec.nfr.minThroughputRps;
  return rps === undefined ? undefined : Math.max(1, Math.ceil(rps / rpsPerReplica));
}

/**
 * The minimum scale of one function in one cluster: the largest of `min_scale`, availability and throughput. Each
 * cluster must carry the whole throughput, because the others may be down. A `min_scale` of zero is kept unless a stated
 * availability needs running replicas: replicas for the throughput start with the requests.
 */
export function scaleFunction(task: ScaleTask): PlannedFunction {
  const { functionKey, provision } = task.fn.spec;
  const { minScale, maxScale } = provision;
  const bounds = maxScale === undefined ? {} : { maxScale };
  if (!task.fn.hasReplicas) {
    const reason = "runs without its own replicas";
    return { functionKey, minScale: minScale ?? 0, ...bounds, basis: "none", reason };
  }
  const { zero } = task;
  const zeroText = zero === undefined ? undefined : zeroReason(zero.rule, zero.ability);
  if (zeroText !== undefined && zero?.ability === "able" && !forbidsZero(zero.rule))
    return { functionKey, minScale: 0, ...bounds, basis: "user", reason: zeroText };
  const throughput = throughputNeed(task);
  const availability: Need = {
    basis: "availability",
    replicas: task.planned,
    because: `availability needs ${task.planned}`,
  };
  const user: Need | undefined =
    minScale === undefined
      ? undefined
      : { basis: "user", replicas: minScale, because: zeroText ?? `min_scale is ${minScale}` };
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

/** A fresh measurement replaces the assumed rate, limited by `max_scale` and the cap of the operator. */
function throughputNeed({ fn, settings, cluster, previous }: ScaleTask): Need | undefined {
  const assumed = assumedReplicas(fn, settings);
  const rps = fn.spec.nfr.minThroughputRps;
  if (assumed === undefined || rps === undefined) return undefined;
  const measured = ownEntry(cluster?.recommendedReplicas, fn.spec.functionKey);
  if (cluster === undefined || measured === undefined || !isUsable(measured)) {
    const why = measured === undefined ? "not measured yet" : unusableText(measured);
    const because = `${rps} requests per second need ${assumed} at an assumed ${settings.rpsPerReplica} each (${why})`;
    return { basis: "throughput", replicas: Math.min(assumed, settings.maxReplicas), because };
  }
  const most = Math.min(settings.maxReplicas, fn.spec.provision.maxScale ?? Number.POSITIVE_INFINITY);
  const needed = measuredReplicas(measured, rps);
  const replicas = keepWithinMargin(Math.min(needed, most), previous, { fn, settings });
  const bound = needed > most ? `, limited to ${most}` : "";
  const kept = replicas > needed ? `, kept at ${replicas} because the saving is within the hysteresis margin` : "";
  return {
    basis: "measured",
    replicas,
    because: `measured in ${cluster.name}, ${rps} requests per second need ${needed}${evidenceText(measured)}${bound}${kept}`,
  };
}

/** The measured capacity sizes for the required and for the actual load; the recommendation covers latency as well. */
function measuredReplicas(measured: ReplicaRecommendation, rps: number): number {
  const { rpsPerReplica = 0, demandRps = 0, isMinimum = false } = measured;
  const recommended = Math.max(1, Math.ceil(measured.replicas));
  if (!(rpsPerReplica > 0)) return recommended;
  const forLoad = Math.ceil(Math.max(rps, demandRps) / rpsPerReplica - ROUNDING);
  return Math.max(1, forLoad, isMinimum ? 1 : recommended);
}

function isUsable({ replicas, isOutdated }: ReplicaRecommendation): boolean {
  return !isOutdated && Number.isFinite(replicas);
}

function unusableText({ replicas, isOutdated, validUntil }: ReplicaRecommendation): string {
  if (!isOutdated) return `the recommendation ${replicas} is not a number of replicas`;
  return validUntil === undefined
    ? "the recommendation has no expiry"
    : `the recommendation of ${replicas} expired at ${validUntil}`;
}

/** The numbers of a measurement, for the explanation of the plan. */
function evidenceText({ basis, confidence }: ReplicaRecommendation): string {
  const parts = [
    ...(basis === undefined ? [] : [basis]),
    ...(confidence === undefined ? [] : [`confidence ${Number(confidence.toPrecision(2))}`]),
  ];
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

/** Keeps the current scale while the measured need falls by no more than the margin. */
function keepWithinMargin(
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

/** Rejects a `max_scale` that is below the planned scale. */
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
      message: `${functionKey} is limited to ${pluralize(maxScale, "replica")}, but its ${why} needs ${needed}`,
      fix: `raise max_scale to at least ${needed} or lower the required ${why}`,
    },
  ];
}
