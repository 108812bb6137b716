import { equalJson, scaledCount, type Stored } from "@oaas/kube-core";
import { create, createDecision, remove, updateStatus, type Decision, type Step } from "../loop/decision.ts";
import { tolerates } from "../nodes/node-state.ts";
import { isAvailable, isFinished, isReady, isTerminating, nextAvailableInMs } from "../objects/pods.ts";
import { DAEMON_SETS, PODS } from "../objects/resources.ts";
import type { ControllerRevision, DaemonSet, Node, Pod, PodSpec, Toleration } from "../objects/typed.ts";
import { matchesTerm } from "../scheduler/fits.ts";
import { createPodFromTemplate, creationEvents, deletionEvents } from "./pod-from-template.ts";
import { count } from "./replica-set.ts";
import { isStep, createTruncationSteps, findOrCreateRevision } from "./revisions.ts";

export interface DaemonSetState {
  readonly set: Stored<DaemonSet>;
  readonly pods: readonly Stored<Pod>[];
  readonly nodes: readonly Stored<Node>[];
  readonly revisions: readonly Stored<ControllerRevision>[];
  readonly now: number;
}

const REVISION_LABEL = "controller-revision-hash";

/** One pod on each node that accepts it. */
export function decideDaemonSet(state: DaemonSetState): Decision {
  const { set, pods, nodes, revisions, now } = state;
  const target = findOrCreateRevision(set, revisions, REVISION_LABEL);
  if (isStep(target)) return createDecision([target]);
  const hash = target.metadata.labels?.[REVISION_LABEL] ?? "";
  const desiredNodes = nodes.filter((node) => shouldRunOn(set, node));
  const isTerminating = set.metadata.deletionTimestamp !== undefined;
  const steps = isTerminating ? [] : [...createPlacementSteps(state, desiredNodes, hash)];
  const changes = steps.length > 0 || isTerminating ? steps : createUpdateSteps(state, desiredNodes, hash);
  if (changes.length > 0) return createDecision(changes);
  const status = computeStatus(state, desiredNodes, hash);
  const live = new Set([target.metadata.name, ...pods.map((pod) => `${set.metadata.name}-${hashOf(pod)}`)]);
  return createDecision(
    [
      ...createTruncationSteps(set, revisions, live),
      equalJson(status, set.status ?? {}) ? undefined : updateStatus(DAEMON_SETS, { ...set, status }),
    ],
    nextAvailableInMs(pods, set.spec.minReadySeconds ?? 0, now),
  );
}

/** Tolerations added to the pods of a DaemonSet, so that they keep running. */
const DAEMON_TOLERATIONS: readonly Toleration[] = [
  ...["not-ready", "unreachable"].map((key) => ({ key, effect: "NoExecute" })),
  ...["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"].map((key) => ({
    key,
    effect: "NoSchedule",
  })),
].map(({ key, effect }) => ({ key: `node.kubernetes.io/${key}`, operator: "Exists", effect }));

function shouldRunOn({ spec }: DaemonSet, node: Node): boolean {
  const pod = spec.template.spec ?? {};
  const tolerations = [...(pod.tolerations ?? []), ...DAEMON_TOLERATIONS];
  const labels = node.metadata.labels ?? {};
  const terms = pod.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return (
    Object.entries(pod.nodeSelector ?? {}).every(([key, value]) => labels[key] === value) &&
    (terms === undefined || terms.some((term) => matchesTerm(term, node))) &&
    (node.spec?.taints ?? []).every((taint) => taint.effect === "PreferNoSchedule" || tolerates(tolerations, taint))
  );
}

/** Pods name their node before they are assigned. */
function getNodeName({ spec }: Pod): string | undefined {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return spec?.nodeName ?? terms?.[0]?.matchFields?.find(({ key }) => key === "metadata.name")?.values?.[0];
}

const hashOf = ({ metadata }: Pod): string | undefined => metadata.labels?.[REVISION_LABEL];

function createPlacementSteps(
  { set, pods }: DaemonSetState,
  desiredNodes: readonly Stored<Node>[],
  hash: string,
): Step[] {
  const surplus = pods.filter((pod, index) => {
    const node = getNodeName(pod);
    const isElsewhere = !desiredNodes.some(({ metadata }) => metadata.name === node);
    const isSecond = pods.findIndex((one) => getNodeName(one) === node && !isTerminating(one)) < index;
    return !isTerminating(pod) && (isFinished(pod) || isElsewhere || isSecond);
  });
  const missing = desiredNodes.filter(({ metadata }) => !pods.some((pod) => getNodeName(pod) === metadata.name));
  return [
    ...surplus.map((pod) => remove(PODS, pod, {}, deletionEvents(set, pod))),
    ...missing.map((node) => create(PODS, createPod(set, node, hash), creationEvents(set))),
  ];
}

function createPod(set: Stored<DaemonSet>, node: Stored<Node>, hash: string): Pod {
  const pod = createPodFromTemplate(set, set.spec.template, {
    labels: {
      ...set.spec.template.metadata?.labels,
      [REVISION_LABEL]: hash,
      "pod-template-generation": set.metadata.annotations?.["deprecated.daemonset.template.generation"] ?? "1",
    },
  });
  const field = { key: "metadata.name", operator: "In", values: [node.metadata.name] };
  const { nodeAffinity, ...affinity } = pod.spec?.affinity ?? {};
  const required = { nodeSelectorTerms: [{ matchFields: [field] }] };
  const spec: PodSpec = {
    ...pod.spec,
    affinity: {
      ...affinity,
      nodeAffinity: { ...nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required },
    },
    tolerations: [...(pod.spec?.tolerations ?? []), ...DAEMON_TOLERATIONS],
  };
  return { ...pod, spec };
}

/** Deletes old pods within the limit of unavailable ones; unavailable ones first. */
function createUpdateSteps(
  { set, pods, now }: DaemonSetState,
  desiredNodes: readonly Stored<Node>[],
  hash: string,
): Step[] {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === "OnDelete") return [];
  const maxUnavailable = scaledCount(rollingUpdate?.maxUnavailable ?? 1, desiredNodes.length, "up");
  const minReady = set.spec.minReadySeconds ?? 0;
  const isServing = (pod: Pod): boolean => !isTerminating(pod) && isAvailable(pod, minReady, now);
  const old = pods.filter((pod) => hashOf(pod) !== hash && !isTerminating(pod));
  const missing = desiredNodes.length - pods.filter(isServing).length;
  const notServing = old.filter((pod) => !isServing(pod));
  const allowed = Math.max(0, (maxUnavailable.ok ? maxUnavailable.value : 1) - missing);
  const next = old.filter(isServing).slice(0, allowed);
  return [...notServing, ...next].map((pod) => remove(PODS, pod, {}, deletionEvents(set, pod)));
}

function computeStatus(
  { set, pods, now }: DaemonSetState,
  desiredNodes: readonly Stored<Node>[],
  hash: string,
): object {
  const minReady = set.spec.minReadySeconds ?? 0;
  const names = new Set(desiredNodes.map(({ metadata }) => metadata.name));
  const alive = pods.filter((pod) => !isTerminating(pod));
  const placed = alive.filter((pod) => names.has(getNodeName(pod) ?? ""));
  const available = placed.filter((pod) => isAvailable(pod, minReady, now));
  const misplaced = alive.filter((pod) => pod.spec?.nodeName !== undefined && !names.has(pod.spec.nodeName));
  const unavailable = desiredNodes.length - available.length;
  return {
    currentNumberScheduled: placed.length,
    desiredNumberScheduled: desiredNodes.length,
    ...count("numberAvailable", available),
    numberMisscheduled: misplaced.length,
    numberReady: placed.filter(isReady).length,
    ...(unavailable === 0 ? {} : { numberUnavailable: unavailable }),
    observedGeneration: set.metadata.generation ?? 1,
    ...count(
      "updatedNumberScheduled",
      placed.filter((pod) => hashOf(pod) === hash),
    ),
  };
}
