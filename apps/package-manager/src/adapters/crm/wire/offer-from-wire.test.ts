import { create } from "@bufbuild/protobuf";
import { CrmEnvHealthSchema } from "@oaas/contracts/grpc";
import { expect, test } from "vitest";
import { offerFromWire } from "./offer-from-wire.ts";

const SHAPE = {
  nodes: 2,
  allocatableCpuMillicores: 4000n,
  allocatableMemoryBytes: 8n,
  freeCpuMillicores: 5000n,
  freeMemoryBytes: 12n,
  freePods: 30,
  largestFreeCpuMillicores: 3000n,
  largestFreeMemoryBytes: 7n,
};

test("reads what a cluster offers", () => {
  const wire = create(CrmEnvHealthSchema, {
    apiFeatures: ["render"],
    capabilities: ["odgm"],
    templates: ["dev"],
    environments: ["edge"],
    labels: { zone: "a" },
    capacity: { shapes: [SHAPE] },
  });
  expect(offerFromWire(wire)).toEqual({
    capabilities: ["odgm"],
    templates: ["dev"],
    environments: ["edge"],
    labels: { zone: "a" },
    shapes: [
      {
        nodes: 2,
        freeCpuMillicores: 5000,
        freeMemoryBytes: 12,
        freePods: 30,
        largestFreeCpuMillicores: 3000,
        largestFreeMemoryBytes: 7,
      },
    ],
  });
});

test("knows nothing of a peer without API features, and no room without shapes", () => {
  expect(offerFromWire(create(CrmEnvHealthSchema, { templates: ["dev"] }))).toBeUndefined();
  expect(offerFromWire(create(CrmEnvHealthSchema, { apiFeatures: ["watch"], capacity: {} }))).not.toHaveProperty(
    "shapes",
  );
});

test("reads extended resources only if all of them are listed", () => {
  const extendedResources = [{ name: "nvidia.com/gpu", free: 3n, largestFree: 2n }];
  const shapesOf = (extendedResourcesKnown: boolean) =>
    offerFromWire(
      create(CrmEnvHealthSchema, {
        apiFeatures: ["render"],
        capacity: { shapes: [{ ...SHAPE, extendedResources, extendedResourcesKnown }] },
      }),
    )?.shapes?.map(({ extended }) => extended);
  expect(shapesOf(true)).toEqual([{ "nvidia.com/gpu": { free: 3, largestFree: 2 } }]);
  expect(shapesOf(false)).toEqual([undefined]);
});

test("is bounded", () => {
  const shapes = Array.from({ length: 500 }, () => SHAPE);
  const templates = Array.from({ length: 5_000 }, (_, index) => `t${index}`);
  const offer = offerFromWire(create(CrmEnvHealthSchema, { apiFeatures: ["watch"], templates, capacity: { shapes } }));
  expect([offer?.templates.length, offer?.shapes?.length]).toEqual([1_000, 64]);
});
