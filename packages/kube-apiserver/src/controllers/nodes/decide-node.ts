import { equalJson, type Stored } from "@oaas/kube-core";
import { decision, recordEvent, update, updateStatus, type Decision, type Step } from "../loop/decision.ts";
import { conditionIn } from "../objects/conditions.ts";
import { isReady } from "../objects/pods.ts";
import { NODES, PODS } from "../objects/resources.ts";
import { wholeSeconds } from "../objects/time.ts";
import type { Condition, Node, Pod, Taint } from "../objects/typed.ts";
import { isLost } from "./node-state.ts";

/** How long a node may be silent before it is lost: the controller manager's `--node-monitor-grace-period`. */
export const SILENCE_MS = 50_000;

export interface NodeMoment {
  readonly node: Stored<Node>;
  /** Since when it has been in its current state, lost or not. */
  readonly inStateMs: number;
  readonly silenceMs: number;
  readonly now: number;
  readonly podsOf: () => readonly Stored<Pod>[];
}

const ROOM = { cpu: "32", memory: "256Gi", pods: "110" };

/** Kubelet and node controller of one node: it becomes ready, or is lost after a while, and is tainted accordingly. */
export function decideNode(moment: NodeMoment): Decision {
  const { node } = moment;
  if (node.metadata.deletionTimestamp !== undefined) return decision([]);
  const next = isLost(node) ? silent(moment) : well(moment);
  if (next.steps.length > 0) return next;
  const taints = taintsOf(node, moment.now);
  const tainted = equalJson(taints, node.spec?.taints ?? [])
    ? []
    : [update(NODES, { ...node, spec: withTaints(node.spec ?? {}, taints) })];
  return decision([...tainted, ...podsOnLostNode(moment)], next.requeueAfterMs);
}

function withTaints(spec: NonNullable<Node["spec"]>, taints: readonly Taint[]): Node["spec"] {
  const { taints: _, ...rest } = spec;
  return taints.length === 0 ? rest : { ...rest, taints };
}

/**
 * The report of a node: conditions, capacity, addresses. Reported once; there is no heartbeat, so an idle cluster
 * writes nothing.
 */
function well({ node, now }: NodeMoment): Decision {
  const before = node.status ?? {};
  const conditions = HEALTHY.map((claim) => reported(conditionIn(before.conditions, claim.type), claim, now));
  const status = {
    ...before,
    capacity: before.capacity ?? ROOM,
    allocatable: before.allocatable ?? before.capacity ?? ROOM,
    addresses: before.addresses ?? [
      { type: "InternalIP", address: "127.0.0.1" },
      { type: "Hostname", address: node.metadata.name },
    ],
    conditions,
    // The server fills in an empty one.
    nodeInfo: (before.nodeInfo?.kubeletVersion ?? "") === "" ? nodeInfo() : before.nodeInfo,
  };
  if (equalJson(status, before)) return decision([]);
  const isBack = conditionIn(before.conditions, "Ready")?.status !== "True";
  const message = `Node ${node.metadata.name} status is now: NodeReady`;
  return decision([
    updateStatus(NODES, { ...node, status }),
    isBack
      ? recordEvent({ about: node, type: "Normal", reason: "NodeReady", message, host: node.metadata.name })
      : undefined,
  ]);
}

function silent({ node, inStateMs, silenceMs, now }: NodeMoment): Decision {
  const before = node.status?.conditions ?? [];
  if (before.every(({ status }) => status === "Unknown")) return decision([]);
  if (inStateMs < silenceMs) return decision([], silenceMs - inStateMs);
  const unknown = { status: "Unknown", reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status." };
  const conditions = before.map((condition) => ({ ...condition, ...unknown, lastTransitionTime: wholeSeconds(now) }));
  return decision([
    updateStatus(NODES, { ...node, status: { ...node.status, conditions } }),
    recordEvent({
      about: node,
      type: "Normal",
      reason: "NodeNotReady",
      message: `Node ${node.metadata.name} status is now: NodeNotReady`,
    }),
  ]);
}

type NodeClaim = Pick<Condition, "type" | "status" | "reason" | "message">;

const HEALTHY: readonly NodeClaim[] = [
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

function reported(before: Condition | undefined, claim: NodeClaim, now: number): Condition {
  if (before?.status === claim.status && before.reason === claim.reason) return before;
  const time = wholeSeconds(now);
  return {
    ...claim,
    lastHeartbeatTime: time,
    lastTransitionTime: before?.status === claim.status ? (before.lastTransitionTime ?? time) : time,
  };
}

function nodeInfo(): object {
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

const OURS = /^node\.kubernetes\.io\/(not-ready|unreachable|unschedulable)$/;

/** Taints that follow from conditions and from `spec.unschedulable`; taints of others are kept. */
function taintsOf(node: Stored<Node>, now: number): readonly Taint[] {
  const { taints = [], unschedulable } = node.spec ?? {};
  const ready = conditionIn(node.status?.conditions, "Ready")?.status;
  const trouble = ready === "Unknown" ? "unreachable" : ready === "True" ? undefined : "not-ready";
  const wanted = [
    ...(trouble === undefined
      ? []
      : [
          { key: trouble, effect: "NoSchedule" },
          { key: trouble, effect: "NoExecute" },
        ]),
    ...(unschedulable === true ? [{ key: "unschedulable", effect: "NoSchedule" }] : []),
  ].map(({ key, effect }) => ({ key: `node.kubernetes.io/${key}`, effect: effect as Taint["effect"] }));
  const isWanted = (taint: Taint): boolean =>
    wanted.some(({ key, effect }) => key === taint.key && effect === taint.effect);
  const kept = taints.filter((taint) => !OURS.test(taint.key) || isWanted(taint));
  const added = wanted
    .filter(({ key, effect }) => !kept.some((taint) => taint.key === key && taint.effect === effect))
    .map((taint) => ({ ...taint, timeAdded: wholeSeconds(now) }));
  return [...kept, ...added];
}

/** Pods of a lost node are not ready; their kubelet corrects that when it is back. */
function podsOnLostNode({ node, podsOf, now }: NodeMoment): Step[] {
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
