import { controllerOf, selectsLabels } from "@oaas/kube-core";
import { podRequests, plus, quantity } from "../objects/pods.ts";
import type { Pod } from "../objects/typed.ts";
import { tolerates } from "../nodes/node-state.ts";
import { matchesTerm, type Place } from "./fits.ts";

/**
 * The score of a node: the pod's preferences, then few equal pods on the node and in the zone, then free capacity. The
 * real scheduler weighs similarly and chooses randomly among equals; here the first by name wins, so that placement is
 * deterministic.
 */
export function bestPlace(pod: Pod, places: readonly Place[], all: readonly Place[]): Place | undefined {
  let best: { readonly place: Place; readonly score: readonly number[] } | undefined;
  for (const place of places) {
    const score = [preference(pod, place), -siblings(pod, place), -siblingsInZone(pod, place, all), -load(pod, place)];
    if (!best || isBetter(score, best.score)) best = { place, score };
  }
  return best?.place;
}

function isBetter(a: readonly number[], b: readonly number[]): boolean {
  const index = a.findIndex((value, at) => value !== b[at]);
  return index !== -1 && (a[index] ?? 0) > (b[index] ?? 0);
}

function preference(pod: Pod, { node, pods }: Place): number {
  const { nodeAffinity, podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  const liked = nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const byNode = liked
    .filter(({ preference: term }) => matchesTerm(term, node))
    .reduce((sum, { weight }) => sum + weight, 0);
  const byPods = (terms: typeof podAffinity): number =>
    (terms?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      .filter(({ podAffinityTerm }) =>
        pods.some((one) => selectsLabels(podAffinityTerm.labelSelector, one.metadata.labels)),
      )
      .reduce((sum, { weight }) => sum + weight, 0);
  const avoided = node.spec?.taints?.filter(
    (taint) => taint.effect === "PreferNoSchedule" && !tolerates(pod.spec?.tolerations, taint),
  );
  return byNode + byPods(podAffinity) - byPods(podAntiAffinity) - 100 * (avoided?.length ?? 0);
}

function siblings(pod: Pod, { pods }: Place): number {
  const owner = controllerOf(pod)?.uid;
  return owner === undefined ? 0 : pods.filter((one) => controllerOf(one)?.uid === owner).length;
}

const ZONE = "topology.kubernetes.io/zone";

function siblingsInZone(pod: Pod, place: Place, all: readonly Place[]): number {
  const zone = place.node.metadata.labels?.[ZONE];
  if (zone === undefined) return 0;
  return all
    .filter(({ node }) => node.metadata.labels?.[ZONE] === zone)
    .reduce((sum, one) => sum + siblings(pod, one), 0);
}

/** The share of cpu, memory and pods in use with this pod: the highest counts. */
function load(pod: Pod, { node, pods, used }: Place): number {
  const room = node.status?.allocatable ?? {};
  const sum = plus(used, podRequests(pod));
  const shares = ["cpu", "memory"].map((name) => share(sum[name]?.nano ?? 0n, quantity(room[name]).nano));
  return shares.reduce((total, one) => total + one, 0) + pods.length / Number(room["pods"] ?? 110);
}

function share(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 1000n) / whole) / 1000;
}
