import { conditionIn } from "../objects/conditions.ts";
import { wholeSeconds } from "../objects/time.ts";
import type { Condition, ContainerStatus, Pod, PodStatus } from "../objects/typed.ts";

export interface PodAddresses {
  readonly hostIP: string;
  /** Called once the pod has started: finding a free address is work. */
  podIP(): string;
}

/** The pod status that follows from its containers, as a kubelet computes it. */
export function summarizeStatus(pod: Pod, statuses: PodContainers, addresses: PodAddresses, now: number): PodStatus {
  const phase = computePhase(pod, statuses);
  const before = pod.status?.conditions ?? [];
  const conditions = computeConditions(pod, statuses, phase).map((claim) =>
    updateCondition(conditionIn(before, claim.type), claim, now),
  );
  const others = before.filter(({ type }) => !conditions.some((condition) => condition.type === type));
  const hasAddress = phase !== "Pending" || statuses.containers.some(({ state }) => state.running ?? state.terminated);
  const { hostIP } = addresses;
  return {
    ...pod.status,
    phase,
    conditions: [...conditions, ...others],
    ...(statuses.inits.length === 0 ? {} : { initContainerStatuses: statuses.inits }),
    containerStatuses: statuses.containers,
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(hasAddress ? addressOf(addresses.podIP()) : {}),
    startTime: pod.status?.startTime ?? wholeSeconds(now),
  };
}

function addressOf(podIP: string): Pick<PodStatus, "podIP" | "podIPs"> {
  return { podIP, podIPs: [{ ip: podIP }] };
}

export interface PodContainers {
  readonly inits: readonly ContainerStatus[];
  readonly containers: readonly ContainerStatus[];
}

function computePhase(pod: Pod, { containers }: PodContainers): string {
  const restartPolicy = pod.spec?.restartPolicy ?? "Always";
  if (containers.some(({ state, restartCount }) => state.waiting && restartCount === 0)) return "Pending";
  const isOver = containers.length > 0 && containers.every(({ state }) => state.terminated);
  if (!isOver || restartPolicy === "Always") return "Running";
  const isSuccessful = containers.every(({ state }) => state.terminated?.exitCode === 0);
  if (isSuccessful) return "Succeeded";
  return restartPolicy === "Never" ? "Failed" : "Running";
}

type PodConditionUpdate = Pick<Condition, "type" | "status"> & { readonly reason?: string; readonly message?: string };

/** In the order in which a kubelet writes them. */
function computeConditions(
  pod: Pod,
  { inits, containers }: PodContainers,
  phase: string,
): readonly PodConditionUpdate[] {
  const isReadyToStart = containers.some(({ state }) => state.waiting?.reason !== "ContainerCreating");
  const initialized = isInitialized(inits);
  const done: PodConditionUpdate | undefined =
    phase === "Succeeded" ? { type: "", status: "False", reason: "PodCompleted" } : undefined;
  const unready = containers.filter(({ ready }) => !ready).map(({ name }) => name);
  const notReady =
    phase === "Failed"
      ? { status: "False", reason: "PodFailed" }
      : {
          status: "False",
          reason: "ContainersNotReady",
          message: `containers with unready status: [${unready.join(" ")}]`,
        };
  const readiness = unready.length === 0 ? { status: "True" } : notReady;
  const containersReady = done ? { status: "False", reason: "PodCompleted" } : readiness;
  const ready = containersReady.status === "True" ? checkReadinessGates(pod) : containersReady;
  return [
    { type: "PodReadyToStartContainers", status: isReadyToStart && !isDone(phase) ? "True" : "False" },
    { type: "Initialized", status: initialized ? "True" : "False", ...(done ? { reason: "PodCompleted" } : {}) },
    { type: "Ready", ...ready },
    { type: "ContainersReady", ...containersReady },
    { type: "PodScheduled", status: "True" },
  ];
}

/** A pod is ready when another controller has set the condition of each gate. */
function checkReadinessGates({ spec, status }: Pod): Omit<PodConditionUpdate, "type"> {
  const messages = (spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = conditionIn(status?.conditions ?? [], conditionType);
    if (condition === undefined)
      return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    if (condition.status === "True") return [];
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`];
  });
  if (messages.length === 0) return { status: "True" };
  return { status: "False", reason: "ReadinessGatesNotReady", message: messages.join(", ") };
}

function isDone(phase: string): boolean {
  return phase === "Succeeded" || phase === "Failed";
}

function isInitialized(inits: readonly ContainerStatus[]): boolean {
  return inits.every(({ state }) => state.running !== undefined || state.terminated?.exitCode === 0);
}

function updateCondition(before: Condition | undefined, claim: PodConditionUpdate, now: number): Condition {
  if (before?.status === claim.status && before.reason === claim.reason && before.message === claim.message)
    return before;
  const isSame = before?.status === claim.status;
  return {
    lastProbeTime: null,
    lastTransitionTime: isSame ? (before.lastTransitionTime ?? wholeSeconds(now)) : wholeSeconds(now),
    ...claim,
  };
}
