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
  const ready = done ? { status: "False", reason: "PodCompleted" } : readiness;
  return [
    { type: "PodReadyToStartContainers", status: isReadyToStart && !isDone(phase) ? "True" : "False" },
    { type: "Initialized", status: initialized ? "True" : "False", ...(done ? { reason: "PodCompleted" } : {}) },
    { type: "Ready", ...ready },
    { type: "ContainersReady", ...ready },
    { type: "PodScheduled", status: "True" },
    ...(pod.spec?.readinessGates ?? []).map(({ conditionType }) => ({ type: conditionType, status: "True" })),
  ];
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
