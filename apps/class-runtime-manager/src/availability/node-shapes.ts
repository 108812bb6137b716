import { freeOn, isSchedulable, type NodeFacts, type PodDemand, type Requests } from "./capacity.ts";

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
}

const MAX_SHAPES = 16;

/** Groups the nodes that take new pods by size. Beyond 16 sizes, the rarest are merged into the last shape. */
export function nodeShapes(nodes: readonly NodeFacts[], demand: PodDemand): readonly NodeShape[] {
  const bySize = new Map<string, NodeShape>();
  for (const node of nodes) {
    if (!isSchedulable(node)) continue;
    const { allocatable, free } = freeOn(node, demand);
    const size = `${allocatable.cpuMillicores} ${allocatable.memoryBytes} ${allocatable.pods}`;
    const shape = shapeOf(allocatable, free);
    const known = bySize.get(size);
    bySize.set(size, known === undefined ? shape : mergeShapes(known, shape));
  }
  const shapes = [...bySize.values()].sort((a, b) => b.nodes - a.nodes);
  if (shapes.length <= MAX_SHAPES) return shapes;
  const [first, ...others] = shapes.slice(MAX_SHAPES - 1);
  return [...shapes.slice(0, MAX_SHAPES - 1), ...(first === undefined ? [] : [others.reduce(mergeShapes, first)])];
}

function shapeOf(allocatable: Requests, free: Requests): NodeShape {
  return {
    nodes: 1,
    allocatableCpuMillicores: allocatable.cpuMillicores,
    allocatableMemoryBytes: allocatable.memoryBytes,
    freeCpuMillicores: free.cpuMillicores,
    freeMemoryBytes: free.memoryBytes,
    freePods: free.pods,
    largestFreeCpuMillicores: free.cpuMillicores,
    largestFreeMemoryBytes: free.memoryBytes,
  };
}

function mergeShapes(a: NodeShape, b: NodeShape): NodeShape {
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
  };
}
