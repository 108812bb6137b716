import { parseQuantity, quantityUnits } from "@oaas/kube-core";

type Quantities = Readonly<Record<string, string | number>>;

/** The part of a Kubernetes node that is counted. */
export interface NodeFacts {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly allocatable?: Quantities;
  };
}

/** The part of a pod that says what it asks for. */
export interface PodFacts {
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly Asking[];
    readonly initContainers?: readonly (Asking & { readonly restartPolicy?: string })[];
    readonly overhead?: Quantities;
  };
  readonly status?: { readonly phase?: string };
}

interface Asking {
  readonly resources?: { readonly requests?: Quantities };
}

/** What pods that run or are about to ask of the cluster. */
export interface PodDemand {
  readonly cpuMillicores: bigint;
  readonly memoryBytes: bigint;
  readonly pods: number;
}

/** What the ready nodes offer and what is asked of them already. */
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

/** What the cluster offers and what is asked of it; a cordoned node offers nothing. */
export function capacityOf(nodes: readonly NodeFacts[], demand: PodDemand): Capacity {
  const offering = nodes.filter((node) => isNodeReady(node) && node.spec?.unschedulable !== true);
  const sum = (resource: string, scale = 0): bigint =>
    offering.reduce((total, { status }) => total + amount(status?.allocatable, resource, scale), 0n);
  return {
    allocatableCpuMillicores: sum("cpu", -3),
    allocatableMemoryBytes: sum("memory"),
    allocatablePods: Number(sum("pods")),
    requestedCpuMillicores: demand.cpuMillicores,
    requestedMemoryBytes: demand.memoryBytes,
    runningPods: demand.pods,
  };
}

/** What these pods ask for together. Pods that have ended ask for nothing. */
export function demandOf(pods: Iterable<PodFacts>): PodDemand {
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

/** As the scheduler counts: all containers together with the sidecars, or the largest step of the start, whichever is more. */
function podRequest({ spec = {} }: PodFacts, resource: string, scale: number): bigint {
  const of = ({ resources }: Asking): bigint => amount(resources?.requests, resource, scale);
  const running = (spec.containers ?? []).reduce((total, one) => total + of(one), 0n);
  let sidecars = 0n;
  let largestStep = 0n;
  for (const one of spec.initContainers ?? []) {
    if (one.restartPolicy === "Always") sidecars += of(one);
    const step = one.restartPolicy === "Always" ? sidecars : sidecars + of(one);
    if (step > largestStep) largestStep = step;
  }
  const whole = running + sidecars;
  return (whole > largestStep ? whole : largestStep) + amount(spec.overhead, resource, scale);
}

function amount(quantities: Quantities | undefined, resource: string, scale: number): bigint {
  const text = quantities?.[resource];
  const parsed = text === undefined ? undefined : parseQuantity(text);
  return parsed?.ok === true ? quantityUnits(parsed.value, scale) : 0n;
}
