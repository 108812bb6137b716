import { parseQuantity, quantityUnits } from "@oaas/kube-core";

type Quantities = Readonly<Record<string, string | number>>;

/** The fields of a Kubernetes node that capacity needs. */
export interface NodeFacts {
  readonly metadata?: { readonly name?: string };
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

/** The resource requests of some pods. */
export interface Requests {
  readonly cpuMillicores: bigint;
  readonly memoryBytes: bigint;
  readonly pods: number;
  /** Extended resources, such as nvidia.com/gpu; absent if there are none. */
  readonly extended?: Amounts;
}

/** Amounts by the name of the resource. */
export type Amounts = Readonly<Record<string, bigint>>;

/** Resource requests of the scheduled pods. */
export interface PodDemand extends Requests {
  /** By the name of the node. */
  readonly byNode: ReadonlyMap<string, Requests>;
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

/** Whether the node takes new pods. */
export function isSchedulable(node: NodeFacts): boolean {
  return isNodeReady(node) && node.spec?.unschedulable !== true;
}

/** Sums the allocatable resources of the ready nodes. Cordoned nodes do not count. */
export function capacityOf(nodes: readonly NodeFacts[], demand: PodDemand): Capacity {
  const schedulable = nodes.filter(isSchedulable);
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
  const byNode = new Map<string, Requests>();
  let all = NO_REQUESTS;
  for (const pod of pods) {
    const phase = pod.status?.phase;
    const node = pod.spec?.nodeName;
    if (phase === "Succeeded" || phase === "Failed" || node === undefined) continue;
    const extended = extendedRequests(pod);
    const requests = {
      cpuMillicores: podRequest(pod, "cpu", -3),
      memoryBytes: podRequest(pod, "memory", 0),
      pods: 1,
      ...(extended === undefined ? {} : { extended }),
    };
    all = addRequests(all, requests);
    byNode.set(node, addRequests(byNode.get(node) ?? NO_REQUESTS, requests));
  }
  return { ...all, byNode };
}

const NO_REQUESTS: Requests = { cpuMillicores: 0n, memoryBytes: 0n, pods: 0 };

function addRequests(a: Requests, b: Requests): Requests {
  const extended = mergeAmounts(a.extended, b.extended, (one, other) => one + other);
  return {
    cpuMillicores: a.cpuMillicores + b.cpuMillicores,
    memoryBytes: a.memoryBytes + b.memoryBytes,
    pods: a.pods + b.pods,
    ...(extended === undefined ? {} : { extended }),
  };
}

/** Combines the amounts of each resource; one that is not there counts as 0. */
export function mergeAmounts(
  a: Amounts | undefined,
  b: Amounts | undefined,
  combine: (one: bigint, other: bigint) => bigint,
): Amounts | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, combine(a[name] ?? 0n, b[name] ?? 0n)]));
}

/** Only extended resources have a name with a domain. */
function isExtended(name: string): boolean {
  return name.includes("/");
}

function extendedRequests(pod: PodFacts): Amounts | undefined {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const names = [...containers, ...initContainers]
    .flatMap(({ resources }) => Object.keys(resources?.requests ?? {}))
    .filter(isExtended);
  if (names.length === 0) return undefined;
  return Object.fromEntries(names.map((name) => [name, podRequest(pod, name, 0)]));
}

function extendedOf(quantities: Quantities = {}): Amounts | undefined {
  const names = Object.keys(quantities).filter(isExtended);
  return names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, amount(quantities, name, 0)]));
}

/** What a node has left for further pods; nothing is negative on an overcommitted node. */
export function freeOn(
  node: NodeFacts,
  demand: PodDemand,
): { readonly allocatable: Requests; readonly free: Requests } {
  const extended = extendedOf(node.status?.allocatable);
  const allocatable = {
    ...(extended === undefined ? {} : { extended }),
    cpuMillicores: amount(node.status?.allocatable, "cpu", -3),
    memoryBytes: amount(node.status?.allocatable, "memory", 0),
    pods: Number(amount(node.status?.allocatable, "pods", 0)),
  };
  const used = demand.byNode.get(node.metadata?.name ?? "") ?? NO_REQUESTS;
  const rest = (all: bigint, taken: bigint): bigint => (all > taken ? all - taken : 0n);
  const freeExtended =
    extended &&
    Object.fromEntries(Object.entries(extended).map(([name, all]) => [name, rest(all, used.extended?.[name] ?? 0n)]));
  return {
    allocatable,
    free: {
      ...(freeExtended === undefined ? {} : { extended: freeExtended }),
      cpuMillicores: rest(allocatable.cpuMillicores, used.cpuMillicores),
      memoryBytes: rest(allocatable.memoryBytes, used.memoryBytes),
      pods: Math.max(0, allocatable.pods - used.pods),
    },
  };
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
