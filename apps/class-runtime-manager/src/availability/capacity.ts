import { parseQuantity, quantityUnits } from "@oaas/kube-core";

type Quantities = Readonly<Record<string, string | number>>;

/** The fields of a Kubernetes node that capacity needs. */
export interface NodeFacts {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly allocatable?: Quantities;
  };
}

/** The fields of a pod that capacity needs. */
export interface PodFacts {
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly ContainerRequests[];
    readonly initContainers?: readonly (ContainerRequests & { readonly restartPolicy?: string })[];
    readonly overhead?: Quantities;
  };
  readonly status?: { readonly phase?: string };
}

interface ContainerRequests {
  readonly resources?: { readonly requests?: Quantities };
}

/** Resource requests of the scheduled pods. */
export interface PodDemand {
  readonly cpuMillicores: bigint;
  readonly memoryBytes: bigint;
  readonly pods: number;
}

/** Allocatable resources of the ready nodes, and the requests of all pods. */
export interface Capacity {
  readonly allocatableCpuMillicores: bigint;
  readonly allocatableMemoryBytes: bigint;
  readonly allocatablePods: number;
  readonly requestedCpuMillicores: bigint;
  readonly requestedMemoryBytes: bigint;
  readonly runningPods: number;
}

export function isNodeReady({ status }: NodeFacts): boolean {
  return status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false;
}

/** Sums the allocatable resources of the ready nodes. Cordoned nodes do not count. */
export function capacityOf(nodes: readonly NodeFacts[], demand: PodDemand): Capacity {
  const schedulable = nodes.filter((node) => isNodeReady(node) && node.spec?.unschedulable !== true);
  const sum = (resource: string, scale = 0): bigint =>
    schedulable.reduce((total, { status }) => total + amount(status?.allocatable, resource, scale), 0n);
  return {
    allocatableCpuMillicores: sum("cpu", -3),
    allocatableMemoryBytes: sum("memory"),
    allocatablePods: Number(sum("pods")),
    requestedCpuMillicores: demand.cpuMillicores,
    requestedMemoryBytes: demand.memoryBytes,
    runningPods: demand.pods,
  };
}

/** Sums the requests of the scheduled pods that have not completed. */
export function sumDemand(pods: Iterable<PodFacts>): PodDemand {
  let cpuMillicores = 0n;
  let memoryBytes = 0n;
  let count = 0;
  for (const pod of pods) {
    const phase = pod.status?.phase;
    if (phase === "Succeeded" || phase === "Failed" || pod.spec?.nodeName === undefined) continue;
    cpuMillicores += podRequest(pod, "cpu", -3);
    memoryBytes += podRequest(pod, "memory", 0);
    count += 1;
  }
  return { cpuMillicores, memoryBytes, pods: count };
}

/**
 * The request of a pod as the scheduler computes it: the maximum of all containers with sidecars and of each init step.
 */
function podRequest({ spec = {} }: PodFacts, resource: string, scale: number): bigint {
  const of = ({ resources }: ContainerRequests): bigint => amount(resources?.requests, resource, scale);
  const running = (spec.containers ?? []).reduce((sum, container) => sum + of(container), 0n);
  let sidecars = 0n;
  let largestStep = 0n;
  for (const one of spec.initContainers ?? []) {
    if (one.restartPolicy === "Always") sidecars += of(one);
    const step = one.restartPolicy === "Always" ? sidecars : sidecars + of(one);
    if (step > largestStep) largestStep = step;
  }
  const total = running + sidecars;
  return (total > largestStep ? total : largestStep) + amount(spec.overhead, resource, scale);
}

function amount(quantities: Quantities | undefined, resource: string, scale: number): bigint {
  const text = quantities?.[resource];
  const parsed = text === undefined ? undefined : parseQuantity(text);
  return parsed?.ok === true ? quantityUnits(parsed.value, scale) : 0n;
}
