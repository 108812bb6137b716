import { equalJson, scaledCount, type Stored } from "@oaas/kube-core";
import { create, decision, remove, updateStatus, type Decision, type Step } from "../loop/decision.ts";
import { tolerates } from "../nodes/node-state.ts";
import { isAvailable, isFinished, isReady, isTerminating, nextAvailableInMs } from "../objects/pods.ts";
import { DAEMON_SETS, PODS } from "../objects/resources.ts";
import type { ControllerRevision, DaemonSet, Node, Pod, PodSpec, Toleration } from "../objects/typed.ts";
import { matchesTerm } from "../scheduler/fits.ts";
import { podFrom, creationEvents, deletionEvents } from "./pod-from-template.ts";
import { count } from "./replica-set.ts";
import { isStep, truncation, updateRevision } from "./revisions.ts";

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
  const target = updateRevision(set, revisions, REVISION_LABEL);
  if (isStep(target)) return decision([target]);
  const hash = target.metadata.labels?.[REVISION_LABEL] ?? "";
  const wanted = nodes.filter((node) => isWanted(set, node));
  const isGoing = set.metadata.deletionTimestamp !== undefined;
  const steps = isGoing ? [] : [...placement(state, wanted, hash)];
  const changes = steps.length > 0 || isGoing ? steps : rolling(state, wanted, hash);
  if (changes.length > 0) return decision(changes);
  const status = statusOf(state, wanted, hash);
  const live = new Set([target.metadata.name, ...pods.map((pod) => `${set.metadata.name}-${hashOf(pod)}`)]);
  return decision(
    [
      ...truncation(set, revisions, live),
      equalJson(status, set.status ?? {}) ? undefined : updateStatus(DAEMON_SETS, { ...set, status }),
    ],
    nextAvailableInMs(pods, set.spec.minReadySeconds ?? 0, now),
  );
}

/** What its pods have besides their template: tolerations that keep a daemon running. */
const DAEMON_TOLERATIONS: readonly Toleration[] = [
  ...["not-ready", "unreachable"].map((key) => ({ key, effect: "NoExecute" })),
  ...["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"].map((key) => ({
    key,
    effect: "NoSchedule",
  })),
].map(({ key, effect }) => ({ key: `node.kubernetes.io/${key}`, operator: "Exists", effect }));

function isWanted({ spec }: DaemonSet, node: Node): boolean {
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
function nodeOf({ spec }: Pod): string | undefined {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return spec?.nodeName ?? terms?.[0]?.matchFields?.find(({ key }) => key === "metadata.name")?.values?.[0];
}

const hashOf = ({ metadata }: Pod): string | undefined => metadata.labels?.[REVISION_LABEL];

function placement({ set, pods }: DaemonSetState, wanted: readonly Stored<Node>[], hash: string): Step[] {
  const surplus = pods.filter((pod, index) => {
    const node = nodeOf(pod);
    const isElsewhere = !wanted.some(({ metadata }) => metadata.name === node);
    const isSecond = pods.findIndex((one) => nodeOf(one) === node && !isTerminating(one)) < index;
    return !isTerminating(pod) && (isFinished(pod) || isElsewhere || isSecond);
  });
  const missing = wanted.filter(({ metadata }) => !pods.some((pod) => nodeOf(pod) === metadata.name));
  return [
    ...surplus.map((pod) => remove(PODS, pod, {}, deletionEvents(set, pod))),
    ...missing.map((node) => create(PODS, daemonPod(set, node, hash), creationEvents(set))),
  ];
}

function daemonPod(set: Stored<DaemonSet>, node: Stored<Node>, hash: string): Pod {
  const pod = podFrom(set, set.spec.template, {
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
function rolling({ set, pods, now }: DaemonSetState, wanted: readonly Stored<Node>[], hash: string): Step[] {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === "OnDelete") return [];
  const most = scaledCount(rollingUpdate?.maxUnavailable ?? 1, wanted.length, "up");
  const minReady = set.spec.minReadySeconds ?? 0;
  const isServing = (pod: Pod): boolean => !isTerminating(pod) && isAvailable(pod, minReady, now);
  const old = pods.filter((pod) => hashOf(pod) !== hash && !isTerminating(pod));
  const missing = wanted.length - pods.filter(isServing).length;
  const useless = old.filter((pod) => !isServing(pod));
  const allowed = Math.max(0, (most.ok ? most.value : 1) - missing);
  const next = old.filter(isServing).slice(0, allowed);
  return [...useless, ...next].map((pod) => remove(PODS, pod, {}, deletionEvents(set, pod)));
}

function statusOf({ set, pods, now }: DaemonSetState, wanted: readonly Stored<Node>[], hash: string): object {
  const minReady = set.spec.minReadySeconds ?? 0;
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const alive = pods.filter((pod) => !isTerminating(pod));
  const placed = alive.filter((pod) => names.has(nodeOf(pod) ?? ""));
  const available = placed.filter((pod) => isAvailable(pod, minReady, now));
  const misplaced = alive.filter((pod) => pod.spec?.nodeName !== undefined && !names.has(pod.spec.nodeName));
  const unavailable = wanted.length - available.length;
  return {
    currentNumberScheduled: placed.length,
    desiredNumberScheduled: wanted.length,
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
