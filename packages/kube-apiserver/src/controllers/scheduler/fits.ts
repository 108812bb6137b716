import { type LabelSelector, selectsLabels, type Stored, subtractQuantities, ZERO_QUANTITY } from "@oaas/kube-core";
import { tolerates } from "../nodes/node-state.ts";
import { addSums, podRequests, quantity, sumsOf, type Sums } from "../objects/pods.ts";
import type {
  Container,
  Node,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  Pod,
  PodAffinityTerm,
  Taint,
} from "../objects/typed.ts";

/** A node and its pods, including those assigned a moment ago. */
export interface SchedulingNode {
  readonly node: Stored<Node>;
  readonly pods: readonly Pod[];
  readonly used: Sums;
}

/** Why a node does not fit, with the scheduler's messages. */
export interface Misfit {
  readonly reasons: readonly string[];
  /** Whether preemption would help. */
  readonly isResolvable: boolean;
}

type Check = (pod: Pod, place: SchedulingNode, places: readonly SchedulingNode[]) => Misfit | undefined;

/** In the order of the real plug-ins: the first that rejects names the reason. */
const CHECKS: readonly Check[] = [
  checkUnschedulable,
  checkTaints,
  checkNodeAffinity,
  checkHostPorts,
  checkResources,
  checkTopologySpread,
  checkPodAffinity,
];

export function findMisfit(pod: Pod, place: SchedulingNode, places: readonly SchedulingNode[]): Misfit | undefined {
  for (const check of CHECKS) {
    const found = check(pod, place, places);
    if (found) return found;
  }
  return undefined;
}

export function createSchedulingNode(node: Stored<Node>, pods: readonly Pod[]): SchedulingNode {
  return { node, pods, used: pods.map(podRequests).reduce(addSums, {}) };
}

export function assumePod(place: SchedulingNode, pod: Pod): SchedulingNode {
  return { node: place.node, pods: [...place.pods, pod], used: addSums(place.used, podRequests(pod)) };
}

const createUnresolvable = (...reasons: string[]): Misfit => ({ reasons, isResolvable: false });
const createResolvable = (...reasons: string[]): Misfit => ({ reasons, isResolvable: true });

const UNSCHEDULABLE: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

function checkUnschedulable({ spec }: Pod, { node }: SchedulingNode): Misfit | undefined {
  const isClosed = node.spec?.unschedulable === true && !tolerates(spec?.tolerations, UNSCHEDULABLE);
  return isClosed ? createUnresolvable("node(s) were unschedulable") : undefined;
}

function checkTaints({ spec }: Pod, { node }: SchedulingNode): Misfit | undefined {
  const taint = node.spec?.taints?.find(
    (one) => one.effect !== "PreferNoSchedule" && !tolerates(spec?.tolerations, one),
  );
  return taint ? createUnresolvable("node(s) had untolerated taint(s)") : undefined;
}

function checkNodeAffinity({ spec }: Pod, { node }: SchedulingNode): Misfit | undefined {
  const labels = node.metadata.labels ?? {};
  const matchesSelector = Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const matchesAffinity = terms === undefined || terms.some((term) => matchesTerm(term, node));
  return matchesSelector && matchesAffinity
    ? undefined
    : createUnresolvable("node(s) didn't match Pod's node affinity/selector");
}

export function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const labels = node.metadata.labels ?? {};
  return (
    matchExpressions.every((one) => matchesRequirement(one, labels[one.key])) &&
    matchFields.every((one) => one.key === "metadata.name" && matchesRequirement(one, node.metadata.name ?? ""))
  );
}

function matchesRequirement({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return value !== undefined && Number(value) > Number(values[0]);
    case "Lt":
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

function checkHostPorts(pod: Pod, { pods }: SchedulingNode): Misfit | undefined {
  const requestedPorts = hostPorts(pod);
  if (requestedPorts.length === 0) return undefined;
  const usedPorts = new Set(pods.flatMap(hostPorts));
  return requestedPorts.some((port) => usedPorts.has(port))
    ? createResolvable("node(s) didn't have free ports for the requested pod ports")
    : undefined;
}

function hostPorts({ spec }: Pod): string[] {
  return (spec?.containers ?? []).flatMap(({ ports = [] }: Container) =>
    ports.flatMap(({ hostPort, protocol = "TCP" }) => (hostPort === undefined ? [] : [`${protocol}/${hostPort}`])),
  );
}

function checkResources(pod: Pod, { node, pods, used }: SchedulingNode): Misfit | undefined {
  const allocatable = sumsOf(node.status?.allocatable);
  const maxPods = Number(node.status?.allocatable?.["pods"] ?? 110);
  const insufficient = Object.entries(podRequests(pod)).filter(([name, requested]) => {
    const free = subtractQuantities(allocatable[name] ?? ZERO_QUANTITY, used[name] ?? ZERO_QUANTITY);
    return requested.nano > 0n && requested.nano > free.nano;
  });
  const reasons = [
    ...(pods.length + 1 > maxPods ? ["Too many pods"] : []),
    ...insufficient.map(([name]) => `Insufficient ${name}`),
  ];
  if (reasons.length === 0) return undefined;
  // No preemption helps if the empty node is too small.
  const exceedsNode = insufficient.some(
    ([name, requested]) => requested.nano > quantity(node.status?.allocatable?.[name]).nano,
  );
  return { reasons, isResolvable: !exceedsNode };
}

/** Hard topology spread: no domain may have `maxSkew` more of these pods than the emptiest. */
function checkTopologySpread(
  pod: Pod,
  { node }: SchedulingNode,
  places: readonly SchedulingNode[],
): Misfit | undefined {
  const hard = pod.spec?.topologySpreadConstraints?.filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule",
  );
  for (const { topologyKey, labelSelector, maxSkew } of hard ?? []) {
    const domain = node.metadata.labels?.[topologyKey];
    if (domain === undefined)
      return createUnresolvable("node(s) didn't match pod topology spread constraints (missing required label)");
    const counts = new Map<string, number>();
    for (const place of places) {
      const name = place.node.metadata.labels?.[topologyKey];
      if (name !== undefined)
        counts.set(name, (counts.get(name) ?? 0) + countMatchingPods(place.pods, pod, labelSelector));
    }
    const self = selectsLabels(labelSelector, pod.metadata.labels) ? 1 : 0;
    const skew = (counts.get(domain) ?? 0) + self - Math.min(...counts.values());
    if (skew > maxSkew) return createResolvable("node(s) didn't match pod topology spread constraints");
  }
  return undefined;
}

function countMatchingPods(pods: readonly Pod[], { metadata }: Pod, selector: LabelSelector | undefined): number {
  return pods.filter(
    (one) => one.metadata.namespace === metadata.namespace && selectsLabels(selector, one.metadata.labels),
  ).length;
}

function checkPodAffinity(pod: Pod, place: SchedulingNode, places: readonly SchedulingNode[]): Misfit | undefined {
  const listMatching = (term: PodAffinityTerm, subject: Pod): readonly Pod[] =>
    listPodsInDomain(term.topologyKey, place, places).filter((one) => matchesAffinityTerm(term, subject, one));
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  const affinityTerms = podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const isFirstPod = (term: PodAffinityTerm): boolean =>
    matchesAffinityTerm(term, pod, pod) &&
    !places.some(({ pods }) => pods.some((one) => matchesAffinityTerm(term, pod, one)));
  if (affinityTerms.some((term) => listMatching(term, pod).length === 0 && !isFirstPod(term)))
    return createUnresolvable("node(s) didn't match pod affinity rules");
  const antiAffinityTerms = podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (antiAffinityTerms.some((term) => listMatching(term, pod).length > 0))
    return createResolvable("node(s) didn't match pod anti-affinity rules");
  const violatesAntiAffinity = places.some(({ node, pods }) =>
    pods.some((other) =>
      other.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.some(
        (term) => isSameDomain(term.topologyKey, node, place.node) && matchesAffinityTerm(term, other, pod),
      ),
    ),
  );
  return violatesAntiAffinity
    ? createResolvable("node(s) didn't satisfy existing pods anti-affinity rules")
    : undefined;
}

function listPodsInDomain(
  topologyKey: string,
  place: SchedulingNode,
  places: readonly SchedulingNode[],
): readonly Pod[] {
  return places.filter(({ node }) => isSameDomain(topologyKey, node, place.node)).flatMap(({ pods }) => pods);
}

function isSameDomain(topologyKey: string, a: Node, b: Node): boolean {
  const domain = a.metadata.labels?.[topologyKey];
  return domain !== undefined && domain === b.metadata.labels?.[topologyKey];
}

/** Whether a term of this pod matches the other pod. */
function matchesAffinityTerm({ labelSelector, namespaces = [] }: PodAffinityTerm, pod: Pod, other: Pod): boolean {
  const scope = namespaces.length === 0 ? [pod.metadata.namespace ?? ""] : namespaces;
  return scope.includes(other.metadata.namespace ?? "") && selectsLabels(labelSelector, other.metadata.labels);
}
