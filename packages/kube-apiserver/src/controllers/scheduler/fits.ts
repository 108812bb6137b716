import { type LabelSelector, selectsLabels, type Stored, subtractQuantities, ZERO_QUANTITY } from "@oaas/kube-core";
import { tolerates } from "../nodes/node-state.ts";
import { plus, podRequests, quantity, sumsOf, type Sums } from "../objects/pods.ts";
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
export interface Place {
  readonly node: Stored<Node>;
  readonly pods: readonly Pod[];
  readonly used: Sums;
}

/** Why a node does not fit, in the scheduler's words. */
export interface Misfit {
  readonly reasons: readonly string[];
  /** Whether preemption would help. */
  readonly isResolvable: boolean;
}

type Check = (pod: Pod, place: Place, places: readonly Place[]) => Misfit | undefined;

/** In the order of the real plug-ins: the first that rejects names the reason. */
const CHECKS: readonly Check[] = [isOpen, toleratesTaints, matchesNode, hasPorts, hasRoom, isSpread, matchesPods];

export function misfit(pod: Pod, place: Place, places: readonly Place[]): Misfit | undefined {
  for (const check of CHECKS) {
    const found = check(pod, place, places);
    if (found) return found;
  }
  return undefined;
}

export function placeOf(node: Stored<Node>, pods: readonly Pod[]): Place {
  return { node, pods, used: pods.map(podRequests).reduce(plus, {}) };
}

export function withPod(place: Place, pod: Pod): Place {
  return { node: place.node, pods: [...place.pods, pod], used: plus(place.used, podRequests(pod)) };
}

const never = (...reasons: string[]): Misfit => ({ reasons, isResolvable: false });
const notNow = (...reasons: string[]): Misfit => ({ reasons, isResolvable: true });

const UNSCHEDULABLE: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

function isOpen({ spec }: Pod, { node }: Place): Misfit | undefined {
  const isClosed = node.spec?.unschedulable === true && !tolerates(spec?.tolerations, UNSCHEDULABLE);
  return isClosed ? never("node(s) were unschedulable") : undefined;
}

function toleratesTaints({ spec }: Pod, { node }: Place): Misfit | undefined {
  const taint = node.spec?.taints?.find(
    (one) => one.effect !== "PreferNoSchedule" && !tolerates(spec?.tolerations, one),
  );
  return taint ? never("node(s) had untolerated taint(s)") : undefined;
}

function matchesNode({ spec }: Pod, { node }: Place): Misfit | undefined {
  const labels = node.metadata.labels ?? {};
  const selected = Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const wanted = terms === undefined || terms.some((term) => matchesTerm(term, node));
  return selected && wanted ? undefined : never("node(s) didn't match Pod's node affinity/selector");
}

export function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const labels = node.metadata.labels ?? {};
  return (
    matchExpressions.every((one) => meets(one, labels[one.key])) &&
    matchFields.every((one) => one.key === "metadata.name" && meets(one, node.metadata.name ?? ""))
  );
}

function meets({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
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

function hasPorts(pod: Pod, { pods }: Place): Misfit | undefined {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return undefined;
  const taken = new Set(pods.flatMap(hostPorts));
  return wanted.some((port) => taken.has(port))
    ? notNow("node(s) didn't have free ports for the requested pod ports")
    : undefined;
}

function hostPorts({ spec }: Pod): string[] {
  return (spec?.containers ?? []).flatMap(({ ports = [] }: Container) =>
    ports.flatMap(({ hostPort, protocol = "TCP" }) => (hostPort === undefined ? [] : [`${protocol}/${hostPort}`])),
  );
}

function hasRoom(pod: Pod, { node, pods, used }: Place): Misfit | undefined {
  const room = sumsOf(node.status?.allocatable);
  const most = Number(node.status?.allocatable?.["pods"] ?? 110);
  const lacking = Object.entries(podRequests(pod)).filter(([name, wanted]) => {
    const free = subtractQuantities(room[name] ?? ZERO_QUANTITY, used[name] ?? ZERO_QUANTITY);
    return wanted.nano > 0n && wanted.nano > free.nano;
  });
  const reasons = [
    ...(pods.length + 1 > most ? ["Too many pods"] : []),
    ...lacking.map(([name]) => `Insufficient ${name}`),
  ];
  if (reasons.length === 0) return undefined;
  // No preemption helps if the empty node is too small.
  const isHopeless = lacking.some(([name, wanted]) => wanted.nano > quantity(node.status?.allocatable?.[name]).nano);
  return { reasons, isResolvable: !isHopeless };
}

/** Hard topology spread: no domain may have `maxSkew` more of these pods than the emptiest. */
function isSpread(pod: Pod, { node }: Place, places: readonly Place[]): Misfit | undefined {
  const hard = pod.spec?.topologySpreadConstraints?.filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule",
  );
  for (const { topologyKey, labelSelector, maxSkew } of hard ?? []) {
    const domain = node.metadata.labels?.[topologyKey];
    if (domain === undefined)
      return never("node(s) didn't match pod topology spread constraints (missing required label)");
    const counts = new Map<string, number>();
    for (const place of places) {
      const name = place.node.metadata.labels?.[topologyKey];
      if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + matching(place.pods, pod, labelSelector));
    }
    const own = selectsLabels(labelSelector, pod.metadata.labels) ? 1 : 0;
    const skew = (counts.get(domain) ?? 0) + own - Math.min(...counts.values());
    if (skew > maxSkew) return notNow("node(s) didn't match pod topology spread constraints");
  }
  return undefined;
}

function matching(pods: readonly Pod[], { metadata }: Pod, selector: LabelSelector | undefined): number {
  return pods.filter(
    (one) => one.metadata.namespace === metadata.namespace && selectsLabels(selector, one.metadata.labels),
  ).length;
}

function matchesPods(pod: Pod, place: Place, places: readonly Place[]): Misfit | undefined {
  const near = (term: PodAffinityTerm, subject: Pod): readonly Pod[] =>
    podsNear(term.topologyKey, place, places).filter((one) => concerns(term, subject, one));
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  const wanted = podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const isAlone = (term: PodAffinityTerm): boolean =>
    concerns(term, pod, pod) && !places.some(({ pods }) => pods.some((one) => concerns(term, pod, one)));
  if (wanted.some((term) => near(term, pod).length === 0 && !isAlone(term)))
    return never("node(s) didn't match pod affinity rules");
  const unwanted = podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (unwanted.some((term) => near(term, pod).length > 0))
    return notNow("node(s) didn't match pod anti-affinity rules");
  const isDisliked = places.some(({ node, pods }) =>
    pods.some((other) =>
      other.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.some(
        (term) => sameDomain(term.topologyKey, node, place.node) && concerns(term, other, pod),
      ),
    ),
  );
  return isDisliked ? notNow("node(s) didn't satisfy existing pods anti-affinity rules") : undefined;
}

function podsNear(topologyKey: string, place: Place, places: readonly Place[]): readonly Pod[] {
  return places.filter(({ node }) => sameDomain(topologyKey, node, place.node)).flatMap(({ pods }) => pods);
}

function sameDomain(topologyKey: string, a: Node, b: Node): boolean {
  const domain = a.metadata.labels?.[topologyKey];
  return domain !== undefined && domain === b.metadata.labels?.[topologyKey];
}

/** Whether a term of this pod matches the other pod. */
function concerns({ labelSelector, namespaces = [] }: PodAffinityTerm, pod: Pod, other: Pod): boolean {
  const scope = namespaces.length === 0 ? [pod.metadata.namespace ?? ""] : namespaces;
  return scope.includes(other.metadata.namespace ?? "") && selectsLabels(labelSelector, other.metadata.labels);
}
