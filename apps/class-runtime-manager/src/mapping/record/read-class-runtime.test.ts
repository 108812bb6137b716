import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readClassRuntime, readDeploymentRecord } from "./read-class-runtime.ts";

const objectOf = (kind: string, spec: unknown): object => ({
  apiVersion: "oaas.io/v1alpha1",
  kind,
  metadata: { name: "order" },
  spec,
});

describe("reports every invalid field", () => {
  test.each([
    {
      case: "a quantity and an image",
      read: readClassRuntime(
        objectOf("ClassRuntime", {
          functions: [{ function_key: "f", provision_config: { container_image: "NO", cpu_request: "lots" } }],
        }),
      ),
      paths: [
        "$.spec.functions[0].provision_config.container_image",
        "$.spec.functions[0].provision_config.cpu_request",
      ],
    },
    { case: "empty placeholder", read: readClassRuntime(objectOf("ClassRuntime", {})), paths: ["$.spec.functions"] },
    {
      case: "a record with both forms of its function",
      read: readDeploymentRecord(
        objectOf("DeploymentRecord", {
          function: {},
          function_containers: [{ function_key: "f", container_image: "f" }],
        }),
      ),
      paths: ["$.spec.function"],
    },
    {
      case: "a valid record without an image in this cluster",
      read: readDeploymentRecord(objectOf("DeploymentRecord", { function: {} })),
      paths: ["$.spec.function.image"],
    },
  ])("$case", ({ read, paths }) => {
    expect(read.ok ? [] : read.error.map(({ path }) => path)).toEqual(paths);
  });

  test("applies defaults, and accepts nulls and status", () => {
    const object = {
      ...objectOf("DeploymentRecord", { function: { image: "f" }, addons: null }),
      status: { phase: "available", function_container_status: [] },
    };
    expect(readDeploymentRecord(object)).toMatchObject({
      ok: true,
      value: {
        kind: "ClassRuntime",
        spec: { functions: [{ provision_config: { port: 8080 } }] },
        status: { phase: "available" },
      },
    });
  });
});

test("parses or rejects any input, and never throws", () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (whole, spec) => {
      for (const object of [whole, objectOf("ClassRuntime", spec), objectOf("DeploymentRecord", spec)]) {
        for (const read of [readClassRuntime(object), readDeploymentRecord(object)]) {
          if (!read.ok) expect(read.error.length).toBeGreaterThan(0);
        }
      }
    }),
    { numRuns: 200 },
  );
});
