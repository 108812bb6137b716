import { equalJson, type IntOrString, scaledCount, type Stored } from "@oaas/kube-core";
import type { Deployment, PodTemplate, ReplicaSet } from "../../objects/typed.ts";

/** How many surplus and missing pods a roll-out may have. */
export interface Fence {
  readonly surge: number;
  readonly unavailable: number;
}

export const HASH_LABEL = "pod-template-hash";
export const REVISION = "deployment.kubernetes.io/revision";
export const REVISION_HISTORY = "deployment.kubernetes.io/revision-history";
export const DESIRED = "deployment.kubernetes.io/desired-replicas";
export const MOST = "deployment.kubernetes.io/max-replicas";

export const sizeOf = (set: ReplicaSet): number => set.spec.replicas ?? 1;
export const wantedOf = (deployment: Deployment): number => deployment.spec.replicas ?? 1;
export const isRolling = ({ spec }: Deployment): boolean =>
  (spec.strategy?.type ?? "RollingUpdate") === "RollingUpdate";

export function fenceOf(deployment: Deployment): Fence {
  if (!isRolling(deployment)) return { surge: 0, unavailable: 0 };
  const wanted = wantedOf(deployment);
  const { maxSurge = "25%", maxUnavailable = "25%" } = deployment.spec.strategy?.rollingUpdate ?? {};
  const surge = scaled(maxSurge, wanted, "up");
  const unavailable = scaled(maxUnavailable, wanted, "down");
  // Zero for both would stop the roll-out forever.
  const allowed = surge === 0 && unavailable === 0 ? 1 : unavailable;
  return { surge, unavailable: wanted === 0 ? 0 : Math.min(allowed, wanted) };
}

function scaled(value: IntOrString, total: number, rounding: "up" | "down"): number {
  const count = scaledCount(value, total, rounding);
  return count.ok ? count.value : 0;
}

export function sum(sets: readonly ReplicaSet[], size: (set: ReplicaSet) => number): number {
  return sets.reduce((total, set) => total + size(set), 0);
}

/** The set with the deployment's template, except for the hash; the oldest if there are several. */
export function newSetOf<T extends ReplicaSet>(deployment: Deployment, sets: readonly T[]): T | undefined {
  const template = withoutHash(deployment.spec.template);
  return [...sets].sort(byAge).find((set) => equalJson(withoutHash(set.spec.template), template));
}

function withoutHash(template: PodTemplate): PodTemplate {
  const { labels, ...metadata } = template.metadata ?? {};
  const kept = Object.entries(labels ?? {}).filter(([key]) => key !== HASH_LABEL);
  return { ...template, metadata: { ...metadata, labels: Object.fromEntries(kept) } };
}

export function byAge(a: ReplicaSet, b: ReplicaSet): number {
  const [older = "", newer = ""] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  if (older !== newer) return older < newer ? -1 : 1;
  return (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1;
}

export function revisionOf({ metadata }: ReplicaSet): number {
  const revision = Number(metadata.annotations?.[REVISION] ?? 0);
  return Number.isInteger(revision) ? revision : 0;
}

/** The allowed size of the new set. */
export function newSize(deployment: Deployment, all: readonly ReplicaSet[], newSet: ReplicaSet): number {
  const wanted = wantedOf(deployment);
  if (!isRolling(deployment)) return wanted;
  const most = wanted + fenceOf(deployment).surge;
  const present = sum(all, sizeOf);
  if (present >= most) return sizeOf(newSet);
  return sizeOf(newSet) + Math.min(most - present, wanted - sizeOf(newSet));
}

/** New sizes of old sets: first unavailable pods, then as many as the new ones replace. */
export function oldSizes(
  deployment: Deployment,
  newSet: ReplicaSet,
  old: readonly ReplicaSet[],
): ReadonlyMap<ReplicaSet, number> {
  const sizes = new Map(old.map((set) => [set, sizeOf(set)]));
  const least = wantedOf(deployment) - fenceOf(deployment).unavailable;
  const missing = sizeOf(newSet) - (newSet.status?.availableReplicas ?? 0);
  const spare = sum([...old, newSet], sizeOf) - least - missing;
  if (spare <= 0) return new Map();
  const sorted = [...old].sort(byAge);
  let cleaned = 0;
  for (const set of sorted) {
    const unhealthy = sizeOf(set) - (set.status?.availableReplicas ?? 0);
    const fewer = Math.max(0, Math.min(spare - cleaned, unhealthy));
    sizes.set(set, sizeOf(set) - fewer);
    cleaned += fewer;
  }
  let surplus = sum([...old, newSet], (set) => set.status?.availableReplicas ?? 0) - least;
  for (const set of sorted) {
    const size = sizes.get(set) ?? 0;
    const fewer = Math.max(0, Math.min(size, surplus));
    sizes.set(set, size - fewer);
    surplus -= fewer;
  }
  return new Map([...sizes].filter(([set, size]) => size !== sizeOf(set)));
}

/** Sizes after scaling in the middle of a roll-out: every set gets its share. */
export function proportionalSizes(
  deployment: Deployment,
  active: readonly Stored<ReplicaSet>[],
): ReadonlyMap<Stored<ReplicaSet>, number> {
  const wanted = wantedOf(deployment);
  const allowed = wanted > 0 ? wanted + fenceOf(deployment).surge : 0;
  const toAdd = allowed - sum(active, sizeOf);
  const sorted = [...active].sort((a, b) => sizeOf(b) - sizeOf(a) || (toAdd > 0 ? byAge(b, a) : byAge(a, b)));
  let added = 0;
  const sizes = new Map<Stored<ReplicaSet>, number>();
  for (const set of sorted) {
    const share = toAdd === 0 ? 0 : shareOf(set, deployment, toAdd, added);
    sizes.set(set, sizeOf(set) + share);
    added += share;
  }
  const [largest] = sorted;
  if (largest && toAdd !== 0) sizes.set(largest, Math.max(0, (sizes.get(largest) ?? 0) + toAdd - added));
  return sizes;
}

function shareOf(set: ReplicaSet, deployment: Deployment, toAdd: number, added: number): number {
  if (sizeOf(set) === 0 || toAdd === added) return 0;
  const fraction = fractionOf(set, deployment);
  return toAdd > 0 ? Math.min(fraction, toAdd - added) : Math.max(fraction, toAdd - added);
}

function fractionOf(set: ReplicaSet, deployment: Deployment): number {
  const wanted = wantedOf(deployment);
  if (wanted === 0) return -sizeOf(set);
  const before = Number(set.metadata.annotations?.[MOST] ?? 0) || (deployment.status?.replicas ?? 0);
  if (before === 0) return 0;
  return Math.round((sizeOf(set) * (wanted + fenceOf(deployment).surge)) / before) - sizeOf(set);
}
