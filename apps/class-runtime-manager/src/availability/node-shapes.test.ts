import { expect, test } from "vitest";
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
