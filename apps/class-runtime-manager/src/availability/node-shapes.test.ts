import { describe, expect, test } from "vitest";
import { sumDemand, type NodeFacts, type PodFacts } from "./capacity.ts";
import { nodeShapes } from "./node-shapes.ts";

const GI = 2n ** 30n;

function node(
  name: string,
  cpu: string,
  more: { readonly ready?: string; readonly unschedulable?: boolean } = {},
): NodeFacts {
  const { ready = "True", unschedulable } = more;
  return {
    metadata: { name },
    ...(unschedulable === undefined ? {} : { spec: { unschedulable } }),
    status: { conditions: [{ type: "Ready", status: ready }], allocatable: { cpu, memory: "8Gi", pods: "10" } },
  };
}

function pod(nodeName: string, cpu: string): PodFacts {
  return {
    spec: { nodeName, containers: [{ resources: { requests: { cpu, memory: "1Gi" } } }] },
    status: { phase: "Running" },
  };
}

test("groups nodes by size and subtracts the requests of their own pods", () => {
  const nodes = [node("a", "4"), node("b", "4"), node("c", "16")];
  const demand = sumDemand([pod("a", "3"), pod("a", "500m"), pod("c", "1")]);
  expect(nodeShapes(nodes, demand)).toEqual([
    {
      nodes: 2,
      allocatableCpuMillicores: 4000n,
      allocatableMemoryBytes: 8n * GI,
      freeCpuMillicores: 4500n,
      freeMemoryBytes: 14n * GI,
      freePods: 18,
      largestFreeCpuMillicores: 4000n,
      largestFreeMemoryBytes: 8n * GI,
      extendedResources: [],
      extendedResourcesKnown: true,
    },
    expect.objectContaining({ nodes: 1, freeCpuMillicores: 15_000n, freePods: 9 }),
  ]);
});

test("leaves out nodes that take no new pods, and has no negative numbers on an overcommitted node", () => {
  const nodes = [node("a", "1"), node("b", "1", { ready: "False" }), node("c", "1", { unschedulable: true })];
  expect(nodeShapes(nodes, sumDemand([pod("a", "3")]))).toMatchObject([{ nodes: 1, freeCpuMillicores: 0n }]);
});

test("is bounded and loses no node", () => {
  const nodes = Array.from({ length: 40 }, (_, index) => node(`n${index}`, String(index + 1)));
  const shapes = nodeShapes(nodes, sumDemand([]));
  expect(shapes).toHaveLength(16);
  expect(shapes.reduce((sum, shape) => sum + shape.nodes, 0)).toBe(40);
  expect(shapes.at(-1)).toMatchObject({ nodes: 25, largestFreeCpuMillicores: 40_000n });
});

describe("extended resources", () => {
  const withGpus = (name: string, gpus: number): NodeFacts => {
    const { status, ...rest } = node(name, "4");
    return { ...rest, status: { ...status, allocatable: { ...status?.allocatable, "nvidia.com/gpu": gpus } } };
  };
  const withRequests = (nodeName: string, requests: Readonly<Record<string, string | number>>): PodFacts => ({
    spec: { nodeName, containers: [{ resources: { requests } }, { resources: { requests } }] },
  });

  test("distinguish sizes, and are reduced by the pods of their own node", () => {
    const nodes = [withGpus("a", 4), withGpus("b", 4), node("c", "4")];
    const demand = sumDemand([withRequests("a", { "nvidia.com/gpu": "1" }), withRequests("c", { cpu: "1" })]);
    expect(nodeShapes(nodes, demand).map(({ nodes: count, extendedResources }) => [count, extendedResources])).toEqual([
      [2, [{ name: "nvidia.com/gpu", free: 6n, largestFree: 4n }]],
      [1, []],
    ]);
  });

  test("are bounded, and the shape says that some are missing", () => {
    const allocatable = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`example.com/r${index}`, 1]));
    const { status, ...rest } = node("a", "4");
    const [shape] = nodeShapes([{ ...rest, status: { ...status, allocatable } }], sumDemand([]));
    expect(shape?.extendedResources).toHaveLength(64);
    expect(shape?.extendedResourcesKnown).toBe(false);
  });
});
