import { equalJson, type Stored } from "@oaas/kube-core";
import { createDecision, recordEvent, update, updateStatus, type Decision, type Step } from "../loop/decision.ts";
import { conditionIn } from "../objects/conditions.ts";
import { isReady } from "../objects/pods.ts";
import { NODES, PODS } from "../objects/resources.ts";
import { wholeSeconds } from "../objects/time.ts";
import type { Condition, Node, Pod, Taint } from "../objects/typed.ts";
import { isLost } from "./node-state.ts";

/** How long a node may be silent before it is lost: the controller manager's `--node-monitor-grace-period`. */
export const SILENCE_MS = 50_000;

export interface NodeState {
  readonly node: Stored<Node>;
  /** Since when it has been in its current state, lost or not. */
  readonly inStateMs: number;
  readonly silenceMs: number;
  readonly now: number;
  readonly podsOf: () => readonly Stored<Pod>[];
}

const DEFAULT_CAPACITY = { cpu: "32", memory: "256Gi", pods: "110" };

/** Kubelet and node controller of one node: it becomes ready, or is lost after a while, and is tainted accordingly. */
export function decideNode(state: NodeState): Decision {
  const { node } = state;
  if (node.metadata.deletionTimestamp !== undefined) return createDecision([]);
  const next = isLost(node) ? decideLostNode(state) : decideHealthyNode(state);
  if (next.steps.length > 0) return next;
  const taints = computeTaints(node, state.now);
  const tainted = equalJson(taints, node.spec?.taints ?? [])
    ? []
    : [update(NODES, { ...node, spec: setTaints(node.spec ?? {}, taints) })];
  return createDecision([...tainted, ...markPodsNotReady(state)], next.requeueAfterMs);
}

function setTaints(spec: NonNullable<Node["spec"]>, taints: readonly Taint[]): Node["spec"] {
  const { taints: _, ...rest } = spec;
  return taints.length === 0 ? rest : { ...rest, taints };
}

/**
 * The report of a node: conditions, capacity, addresses. Reported once; there is no heartbeat, so an idle cluster
 * writes nothing.
 */
function decideHealthyNode({ node, now }: NodeState): Decision {
  const before = node.status ?? {};
  const conditions = HEALTHY.map((claim) => updateCondition(conditionIn(before.conditions, claim.type), claim, now));
  const status = {
    ...before,
    capacity: before.capacity ?? DEFAULT_CAPACITY,
    allocatable: before.allocatable ?? before.capacity ?? DEFAULT_CAPACITY,
    addresses: before.addresses ?? [
      { type: "InternalIP", address: "127.0.0.1" },
      { type: "Hostname", address: node.metadata.name },
    ],
    conditions,
    // The server fills in an empty one.
    nodeInfo: (before.nodeInfo?.kubeletVersion ?? "") === "" ? createNodeInfo() : before.nodeInfo,
  };
  if (equalJson(status, before)) return createDecision([]);
  const wasNotReady = conditionIn(before.conditions, "Ready")?.status !== "True";
  const message = `Node ${node.metadata.name} status is now: NodeReady`;
  return createDecision([
    updateStatus(NODES, { ...node, status }),
    wasNotReady
      ? recordEvent({ about: node, type: "Normal", reason: "NodeReady", message, host: node.metadata.name })
      : undefined,
  ]);
}

function decideLostNode({ node, inStateMs, silenceMs, now }: NodeState): Decision {
  const before = node.status?.conditions ?? [];
  if (before.every(({ status }) => status === "Unknown")) return createDecision([]);
  if (inStateMs < silenceMs) return createDecision([], silenceMs - inStateMs);
  const unknown = { status: "Unknown", reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status." };
  const conditions = before.map((condition) => ({ ...condition, ...unknown, lastTransitionTime: wholeSeconds(now) }));
  return createDecision([
    updateStatus(NODES, { ...node, status: { ...node.status, conditions } }),
    recordEvent({
      about: node,
      type: "Normal",
      reason: "NodeNotReady",
      message: `Node ${node.metadata.name} status is now: NodeNotReady`,
    }),
  ]);
}

type NodeConditionUpdate = Pick<Condition, "type" | "status" | "reason" | "message">;

const HEALTHY: readonly NodeConditionUpdate[] = [
  { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" },
  {
    type: "MemoryPressure",
    status: "False",
    reason: "KubeletHasSufficientMemory",
    message: "kubelet has sufficient memory available",
  },
  {
    type: "DiskPressure",
    status: "False",
    reason: "KubeletHasNoDiskPressure",
    message: "kubelet has no disk pressure",
  },
  {
    type: "PIDPressure",
    status: "False",
    reason: "KubeletHasSufficientPID",
    message: "kubelet has sufficient PID available",
  },
  { type: "NetworkUnavailable", status: "False", reason: "RouteCreated", message: "RouteController created a route" },
];

function updateCondition(before: Condition | undefined, claim: NodeConditionUpdate, now: number): Condition {
  if (before?.status === claim.status && before.reason === claim.reason) return before;
  const time = wholeSeconds(now);
  return {
    ...claim,
    lastHeartbeatTime: time,
    lastTransitionTime: before?.status === claim.status ? (before.lastTransitionTime ?? time) : time,
  };
}

function createNodeInfo(): object {
  const version = "v1.36.3-simulated";
  return {
    architecture: "amd64",
    bootID: "",
    containerRuntimeVersion: "simulated://1",
    kernelVersion: "simulated",
    kubeProxyVersion: version,
    kubeletVersion: version,
    machineID: "",
    operatingSystem: "linux",
    osImage: "simulated",
    systemUUID: "",
  };
}

const MANAGED_TAINTS = /^node\.kubernetes\.io\/(not-ready|unreachable|unschedulable)$/;

/** Taints that follow from conditions and from `spec.unschedulable`; taints of others are kept. */
function computeTaints(node: Stored<Node>, now: number): readonly Taint[] {
  const { taints = [], unschedulable } = node.spec ?? {};
  const ready = conditionIn(node.status?.conditions, "Ready")?.status;
  const taintKey = ready === "Unknown" ? "unreachable" : ready === "True" ? undefined : "not-ready";
  const desiredTaints = [
    ...(taintKey === undefined
      ? []
      : [
          { key: taintKey, effect: "NoSchedule" },
          { key: taintKey, effect: "NoExecute" },
        ]),
    ...(unschedulable === true ? [{ key: "unschedulable", effect: "NoSchedule" }] : []),
  ].map(({ key, effect }) => ({ key: `node.kubernetes.io/${key}`, effect: effect as Taint["effect"] }));
  const isDesired = (taint: Taint): boolean =>
    desiredTaints.some(({ key, effect }) => key === taint.key && effect === taint.effect);
  const retained = taints.filter((taint) => !MANAGED_TAINTS.test(taint.key) || isDesired(taint));
  const added = desiredTaints
    .filter(({ key, effect }) => !retained.some((taint) => taint.key === key && taint.effect === effect))
    .map((taint) => ({ ...taint, timeAdded: wholeSeconds(now) }));
  return [...retained, ...added];
}

/** Pods of a lost node are not ready; their kubelet corrects that when it is back. */
function markPodsNotReady({ node, podsOf, now }: NodeState): Step[] {
  if (conditionIn(node.status?.conditions, "Ready")?.status === "True") return [];
  return podsOf()
    .filter(isReady)
    .flatMap((pod) => {
      const conditions = pod.status?.conditions?.map((condition) =>
        condition.type === "Ready"
          ? { ...condition, status: "False", lastTransitionTime: wholeSeconds(now) }
          : condition,
      );
      return [
        updateStatus(PODS, { ...pod, status: { ...pod.status, conditions } }),
        recordEvent({ about: pod, type: "Warning", reason: "NodeNotReady", message: "Node is not ready" }),
      ];
    });
}
