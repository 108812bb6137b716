import { controllerOf, selectsLabels } from "@oaas/kube-core";
import { podRequests, addSums, quantity } from "../objects/pods.ts";
import type { Pod } from "../objects/typed.ts";
import { tolerates } from "../nodes/node-state.ts";
import { matchesTerm, type SchedulingNode } from "./fits.ts";

/**
 * The score of a node: the pod's preferences, then few equal pods on the node and in the zone, then free capacity. The
 * real scheduler weighs similarly and chooses randomly among equals; here the first by name wins, so that placement is
 * deterministic.
 */
export function selectBestNode(
  pod: Pod,
  places: readonly SchedulingNode[],
  all: readonly SchedulingNode[],
): SchedulingNode | undefined {
  let best: { readonly place: SchedulingNode; readonly score: readonly number[] } | undefined;
  for (const place of places) {
    const score = [
      computePreference(pod, place),
      -countSiblings(pod, place),
      -countSiblingsInZone(pod, place, all),
      -computeLoad(pod, place),
    ];
    if (!best || isBetter(score, best.score)) best = { place, score };
  }
  return best?.place;
}

function isBetter(a: readonly number[], b: readonly number[]): boolean {
  const index = a.findIndex((value, at) => value !== b[at]);
  return index !== -1 && (a[index] ?? 0) > (b[index] ?? 0);
}

function computePreference(pod: Pod, { node, pods }: SchedulingNode): number {
  const { nodeAffinity, podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  const preferredTerms = nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const byNode = preferredTerms
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

function countSiblings(pod: Pod, { pods }: SchedulingNode): number {
  const owner = controllerOf(pod)?.uid;
  return owner === undefined ? 0 : pods.filter((one) => controllerOf(one)?.uid === owner).length;
}

const ZONE = "topology.kubernetes.io/zone";

function countSiblingsInZone(pod: Pod, place: SchedulingNode, all: readonly SchedulingNode[]): number {
  const zone = place.node.metadata.labels?.[ZONE];
  if (zone === undefined) return 0;
  return all
    .filter(({ node }) => node.metadata.labels?.[ZONE] === zone)
    .reduce((sum, one) => sum + countSiblings(pod, one), 0);
}

/** The share of cpu, memory and pods in use with this pod: the highest counts. */
function computeLoad(pod: Pod, { node, pods, used }: SchedulingNode): number {
  const room = node.status?.allocatable ?? {};
  const sum = addSums(used, podRequests(pod));
  const shares = ["cpu", "memory"].map((name) => computeShare(sum[name]?.nano ?? 0n, quantity(room[name]).nano));
  return shares.reduce((total, one) => total + one, 0) + pods.length / Number(room["pods"] ?? 110);
}

function computeShare(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 1000n) / whole) / 1000;
}
