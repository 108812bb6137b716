import { equalJson, type IntOrString, scaledCount, type Stored } from "@oaas/kube-core";
import type { Deployment, PodTemplate, ReplicaSet } from "../../objects/typed.ts";

/** How many surplus and missing pods a roll-out may have. */
export interface RolloutLimits {
  readonly surge: number;
  readonly unavailable: number;
}

export const HASH_LABEL = "pod-template-hash";
export const REVISION = "deployment.kubernetes.io/revision";
export const REVISION_HISTORY = "deployment.kubernetes.io/revision-history";
export const DESIRED = "deployment.kubernetes.io/desired-replicas";
export const MAX_REPLICAS = "deployment.kubernetes.io/max-replicas";

export const getSize = (set: ReplicaSet): number => set.spec.replicas ?? 1;
export const getDesiredReplicas = (deployment: Deployment): number => deployment.spec.replicas ?? 1;
export const isRolling = ({ spec }: Deployment): boolean =>
  (spec.strategy?.type ?? "RollingUpdate") === "RollingUpdate";

export function getRolloutLimits(deployment: Deployment): RolloutLimits {
  if (!isRolling(deployment)) return { surge: 0, unavailable: 0 };
  const desired = getDesiredReplicas(deployment);
  const { maxSurge = "25%", maxUnavailable = "25%" } = deployment.spec.strategy?.rollingUpdate ?? {};
  const surge = scaleToCount(maxSurge, desired, "up");
  const unavailable = scaleToCount(maxUnavailable, desired, "down");
  // Zero for both would stop the roll-out forever.
  const allowed = surge === 0 && unavailable === 0 ? 1 : unavailable;
  return { surge, unavailable: desired === 0 ? 0 : Math.min(allowed, desired) };
}

function scaleToCount(value: IntOrString, total: number, rounding: "up" | "down"): number {
  const count = scaledCount(value, total, rounding);
  return count.ok ? count.value : 0;
}

export function sum(sets: readonly ReplicaSet[], size: (set: ReplicaSet) => number): number {
  return sets.reduce((total, set) => total + size(set), 0);
}

/** The set with the deployment's template, except for the hash; the oldest if there are several. */
export function findNewReplicaSet<T extends ReplicaSet>(deployment: Deployment, sets: readonly T[]): T | undefined {
  const template = omitHash(deployment.spec.template);
  return [...sets].sort(compareAge).find((set) => equalJson(omitHash(set.spec.template), template));
}

function omitHash(template: PodTemplate): PodTemplate {
  const { labels, ...metadata } = template.metadata ?? {};
  const otherLabels = Object.entries(labels ?? {}).filter(([key]) => key !== HASH_LABEL);
  return { ...template, metadata: { ...metadata, labels: Object.fromEntries(otherLabels) } };
}

export function compareAge(a: ReplicaSet, b: ReplicaSet): number {
  const [older = "", newer = ""] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (older !== newer) return older < newer ? -1 : 1;
  return (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1;
}

export function getRevision({ metadata }: ReplicaSet): number {
  const revision = Number(metadata.annotations?.[REVISION] ?? 0);
  return Number.isInteger(revision) ? revision : 0;
}

/** The allowed size of the new set. */
export function computeNewSize(deployment: Deployment, all: readonly ReplicaSet[], newSet: ReplicaSet): number {
  const desired = getDesiredReplicas(deployment);
  if (!isRolling(deployment)) return desired;
  const maxReplicas = desired + getRolloutLimits(deployment).surge;
  const current = sum(all, getSize);
  if (current >= maxReplicas) return getSize(newSet);
  return getSize(newSet) + Math.min(maxReplicas - current, desired - getSize(newSet));
}

/** New sizes of old sets: first unavailable pods, then as many as the new ones replace. */
export function computeOldSizes(
  deployment: Deployment,
  newSet: ReplicaSet,
  old: readonly ReplicaSet[],
): ReadonlyMap<ReplicaSet, number> {
  const sizes = new Map(old.map((set) => [set, getSize(set)]));
  const minAvailable = getDesiredReplicas(deployment) - getRolloutLimits(deployment).unavailable;
  const missing = getSize(newSet) - (newSet.status?.availableReplicas ?? 0);
  const removable = sum([...old, newSet], getSize) - minAvailable - missing;
  if (removable <= 0) return new Map();
  const sorted = [...old].sort(compareAge);
  let cleaned = 0;
  for (const set of sorted) {
    const unhealthy = getSize(set) - (set.status?.availableReplicas ?? 0);
    const fewer = Math.max(0, Math.min(removable - cleaned, unhealthy));
    sizes.set(set, getSize(set) - fewer);
    cleaned += fewer;
  }
  let surplus = sum([...old, newSet], (set) => set.status?.availableReplicas ?? 0) - minAvailable;
  for (const set of sorted) {
    const size = sizes.get(set) ?? 0;
    const fewer = Math.max(0, Math.min(size, surplus));
    sizes.set(set, size - fewer);
    surplus -= fewer;
  }
  return new Map([...sizes].filter(([set, size]) => size !== getSize(set)));
}

/** Sizes after scaling in the middle of a roll-out: every set gets its share. */
export function computeProportionalSizes(
  deployment: Deployment,
  active: readonly Stored<ReplicaSet>[],
): ReadonlyMap<Stored<ReplicaSet>, number> {
  const desired = getDesiredReplicas(deployment);
  const allowed = desired > 0 ? desired + getRolloutLimits(deployment).surge : 0;
  const toAdd = allowed - sum(active, getSize);
  const sorted = [...active].sort(
    (a, b) => getSize(b) - getSize(a) || (toAdd > 0 ? compareAge(b, a) : compareAge(a, b)),
  );
  let added = 0;
  const sizes = new Map<Stored<ReplicaSet>, number>();
  for (const set of sorted) {
    const share = toAdd === 0 ? 0 : computeShare(set, deployment, toAdd, added);
    sizes.set(set, getSize(set) + share);
    added += share;
  }
  const [largest] = sorted;
  if (largest && toAdd !== 0) sizes.set(largest, Math.max(0, (sizes.get(largest) ?? 0) + toAdd - added));
  return sizes;
}

function computeShare(set: ReplicaSet, deployment: Deployment, toAdd: number, added: number): number {
  if (getSize(set) === 0 || toAdd === added) return 0;
  const fraction = computeFraction(set, deployment);
  return toAdd > 0 ? Math.min(fraction, toAdd - added) : Math.max(fraction, toAdd - added);
}

function computeFraction(set: ReplicaSet, deployment: Deployment): number {
  const desired = getDesiredReplicas(deployment);
  if (desired === 0) return -getSize(set);
  const before = Number(set.metadata.annotations?.[MAX_REPLICAS] ?? 0) || (deployment.status?.replicas ?? 0);
  if (before === 0) return 0;
  return Math.round((getSize(set) * (desired + getRolloutLimits(deployment).surge)) / before) - getSize(set);
}
