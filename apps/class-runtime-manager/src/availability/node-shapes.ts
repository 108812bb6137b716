import {
  freeOn,
  isSchedulable,
  mergeAmounts,
  type Amounts,
  type NodeFacts,
  type PodDemand,
  type Requests,
} from "./capacity.ts";

/** Nodes with the same allocatable resources, and what is free on them. */
export interface NodeShape {
  readonly nodes: number;
  /** Of one node. */
  readonly allocatableCpuMillicores: bigint;
  readonly allocatableMemoryBytes: bigint;
  /** On all nodes together. */
  readonly freeCpuMillicores: bigint;
  readonly freeMemoryBytes: bigint;
  readonly freePods: number;
  /** On the node with the most. */
  readonly largestFreeCpuMillicores: bigint;
  readonly largestFreeMemoryBytes: bigint;
  /** Extended resources, by name. */
  readonly extendedResources: readonly ExtendedResource[];
  /** Whether all of them are listed. */
  readonly extendedResourcesKnown: boolean;
}

export interface ExtendedResource {
  readonly name: string;
  readonly free: bigint;
  readonly largestFree: bigint;
}

/** Nodes of one size while they are added up. */
interface Group extends Omit<NodeShape, "extendedResources" | "extendedResourcesKnown"> {
  readonly freeExtended: Amounts | undefined;
  readonly largestFreeExtended: Amounts | undefined;
}

const MAX_SHAPES = 16;
const MAX_EXTENDED = 64;

/** Groups the nodes that take new pods by size. Beyond 16 sizes, the rarest are merged into the last shape. */
export function nodeShapes(nodes: readonly NodeFacts[], demand: PodDemand): readonly NodeShape[] {
  const bySize = new Map<string, Group>();
  for (const node of nodes) {
    if (!isSchedulable(node)) continue;
    const { allocatable, free } = freeOn(node, demand);
    const { cpuMillicores, memoryBytes, pods, extended = {} } = allocatable;
    const names = Object.keys(extended).sort();
    const size = [cpuMillicores, memoryBytes, pods, ...names.map((name) => `${name}=${extended[name]}`)].join(" ");
    const shape = shapeOf(allocatable, free);
    const known = bySize.get(size);
    bySize.set(size, known === undefined ? shape : mergeShapes(known, shape));
  }
  const groups = [...bySize.values()].sort((a, b) => b.nodes - a.nodes);
  const [first, ...others] = groups.slice(MAX_SHAPES - 1);
  const merged = first === undefined ? [] : [others.reduce(mergeShapes, first)];
  return [...groups.slice(0, MAX_SHAPES - 1), ...merged].map(finishShape);
}

function finishShape({ freeExtended = {}, largestFreeExtended = {}, ...shape }: Group): NodeShape {
  const names = Object.keys(freeExtended).sort();
  const listed = names.slice(0, MAX_EXTENDED);
  return {
    ...shape,
    extendedResources: listed.map((name) => ({
      name,
      free: freeExtended[name] ?? 0n,
      largestFree: largestFreeExtended[name] ?? 0n,
    })),
    extendedResourcesKnown: listed.length === names.length,
  };
}

function shapeOf(allocatable: Requests, free: Requests): Group {
  return {
    nodes: 1,
    allocatableCpuMillicores: allocatable.cpuMillicores,
    allocatableMemoryBytes: allocatable.memoryBytes,
    freeCpuMillicores: free.cpuMillicores,
    freeMemoryBytes: free.memoryBytes,
    freePods: free.pods,
    largestFreeCpuMillicores: free.cpuMillicores,
    largestFreeMemoryBytes: free.memoryBytes,
    freeExtended: free.extended,
    largestFreeExtended: free.extended,
  };
}

function mergeShapes(a: Group, b: Group): Group {
  const max = (one: bigint, other: bigint): bigint => (one > other ? one : other);
  return {
    nodes: a.nodes + b.nodes,
    allocatableCpuMillicores: max(a.allocatableCpuMillicores, b.allocatableCpuMillicores),
    allocatableMemoryBytes: max(a.allocatableMemoryBytes, b.allocatableMemoryBytes),
    freeCpuMillicores: a.freeCpuMillicores + b.freeCpuMillicores,
    freeMemoryBytes: a.freeMemoryBytes + b.freeMemoryBytes,
    freePods: a.freePods + b.freePods,
    largestFreeCpuMillicores: max(a.largestFreeCpuMillicores, b.largestFreeCpuMillicores),
    largestFreeMemoryBytes: max(a.largestFreeMemoryBytes, b.largestFreeMemoryBytes),
    freeExtended: mergeAmounts(a.freeExtended, b.freeExtended, (one, other) => one + other),
    largestFreeExtended: mergeAmounts(a.largestFreeExtended, b.largestFreeExtended, max),
  };
}
