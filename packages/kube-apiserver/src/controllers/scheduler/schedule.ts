import type { Stored } from "@oaas/kube-core";
import { createDecision, recordEvent, updateStatus, type Decision, type Step } from "../loop/decision.ts";
import { conditionIn, withCondition } from "../objects/conditions.ts";
import { isFinished } from "../objects/pods.ts";
import { PODS } from "../objects/resources.ts";
import type { Claim, Node, Pod } from "../objects/typed.ts";
import { findMisfit, createSchedulingNode, assumePod, type Misfit, type SchedulingNode } from "./fits.ts";
import { selectBestNode } from "./score.ts";

export interface SchedulingState {
  readonly pods: readonly Stored<Pod>[];
  readonly nodes: readonly Stored<Node>[];
  readonly claimOf: (namespace: string, name: string) => Claim | undefined;
  /** Marked as unschedulable. */
  readonly isMarkedUnschedulable: (pod: Pod) => boolean;
  readonly now: number;
}

const SCHEDULER = "default-scheduler";

/** Assigns every pending pod to a node, highest priority first, then oldest. */
export function schedulePods(state: SchedulingState): Decision {
  const waiting = state.pods.filter(isWaiting).sort(comparePriority);
  if (waiting.length === 0) return createDecision([]);
  let places = state.nodes.map((node) =>
    createSchedulingNode(
      node,
      state.pods.filter((pod) => pod.spec?.nodeName === node.metadata.name && !isFinished(pod)),
    ),
  );
  const steps: (Step | undefined)[] = [];
  for (const pod of waiting) {
    const selected = selectNode(pod, places, state);
    if (typeof selected === "string") {
      steps.push(...createUnschedulableSteps(pod, selected, state.now));
      continue;
    }
    places = places.map((place) => (place === selected ? assumePod(place, pod) : place));
    steps.push(...createBindingSteps(pod, selected.node));
  }
  return createDecision(steps);
}

export function isWaiting({ metadata, spec, status }: Pod): boolean {
  const isOurs = (spec?.schedulerName ?? SCHEDULER) === SCHEDULER;
  const isFree = (spec?.nodeName ?? "") === "" && metadata.deletionTimestamp === undefined;
  return isOurs && isFree && !isFinished({ apiVersion: "", kind: "", metadata, ...(status && { status }) });
}

function comparePriority(a: Stored<Pod>, b: Stored<Pod>): number {
  const byPriority = (b.spec?.priority ?? 0) - (a.spec?.priority ?? 0);
  if (byPriority !== 0) return byPriority;
  const [older, newer] = [a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? ""];
  return older < newer ? -1 : older > newer ? 1 : 0;
}

/** The chosen node, or the reason for none. */
function selectNode(
  pod: Stored<Pod>,
  places: readonly SchedulingNode[],
  state: SchedulingState,
): SchedulingNode | string {
  if ((pod.spec?.schedulingGates?.length ?? 0) > 0) return GATED;
  if (places.length === 0) return "no nodes available to schedule pods";
  const unbound = findClaimProblem(pod, state);
  if (unbound !== undefined) return `0/${places.length} nodes are available: ${unbound}. not found`;
  const checked = places.map((place) => ({
    place,
    misfit: state.isMarkedUnschedulable(pod) ? MARKED_UNSCHEDULABLE : findMisfit(pod, place, places),
  }));
  const fitting = checked.filter((one) => one.misfit === undefined).map(({ place }) => place);
  return selectBestNode(pod, fitting, places) ?? formatUnschedulable(checked.flatMap((one) => one.misfit ?? []));
}

const GATED = "Scheduling is blocked due to non-empty scheduling gates";
const MARKED_UNSCHEDULABLE: Misfit = { reasons: ["Insufficient cpu"], isResolvable: false };

function findClaimProblem(pod: Stored<Pod>, { claimOf }: SchedulingState): string | undefined {
  for (const { persistentVolumeClaim: volume } of pod.spec?.volumes ?? []) {
    if (volume === undefined) continue;
    const claim = claimOf(pod.metadata.namespace ?? "", volume.claimName);
    if (!claim) return `persistentvolumeclaim "${volume.claimName}" not found`;
    if (claim.metadata.deletionTimestamp !== undefined) {
      return `persistentvolumeclaim "${volume.claimName}" is being deleted`;
    }
    if (claim.status?.phase !== "Bound") return "pod has unbound immediate PersistentVolumeClaims";
  }
  return undefined;
}

/** As in `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable. …`, sorted as strings. */
export function formatUnschedulable(misfits: readonly Misfit[]): string {
  const count = misfits.length;
  const reasons = countReasons(misfits.flatMap((one) => one.reasons));
  const preemption = countReasons(
    misfits.map(({ isResolvable }) =>
      isResolvable ? "No preemption victims found for incoming pod" : "Preemption is not helpful for scheduling",
    ),
  );
  const head = `0/${count} nodes are available`;
  return `${head}: ${reasons}. no new claims to deallocate, preemption: ${head}: ${preemption}.`;
}

function countReasons(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(", ");
}

function createBindingSteps(pod: Stored<Pod>, node: Stored<Node>): Step[] {
  const { namespace = "", name, uid } = pod.metadata;
  return [
    {
      do: "subresource",
      kind: PODS,
      name: { namespace, name },
      subresource: "binding",
      body: {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { namespace, name, uid },
        target: { apiVersion: "v1", kind: "Node", name: node.metadata.name },
      },
    },
    recordEvent({
      about: pod,
      type: "Normal",
      reason: "Scheduled",
      message: `Successfully assigned ${namespace}/${name} to ${node.metadata.name}`,
      action: "Binding",
    }),
  ];
}

/** Written once: while the reason is unchanged, neither the condition nor an Event is written again. */
function createUnschedulableSteps(pod: Stored<Pod>, message: string, now: number): Step[] {
  const isGated = message === GATED;
  const before = conditionIn(pod.status?.conditions, "PodScheduled");
  if (before?.status === "False" && before.message === message) return [];
  const reason = isGated ? "SchedulingGated" : "Unschedulable";
  const conditions = withCondition(
    pod.status?.conditions ?? [],
    { type: "PodScheduled", status: "False", reason, message },
    now,
    { lastProbeTime: null, observedGeneration: pod.metadata.generation ?? 1 },
  );
  return [
    ...(isGated
      ? []
      : [recordEvent({ about: pod, type: "Warning", reason: "FailedScheduling", message, action: "Scheduling" })]),
    updateStatus(PODS, { ...pod, status: { ...pod.status, conditions } }),
  ];
}
