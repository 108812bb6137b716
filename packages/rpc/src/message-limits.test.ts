import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  DeployRequestSchema,
  DeploymentUnitSchema,
  FindingSchema,
  InvokeFunctionRequestSchema,
} from "@oaas/contracts/grpc";
import fc from "fast-check";
import { expect, test } from "vitest";
import { findMessageProblem } from "./message-limits.ts";

const LIMITS = { nodes: 20, depth: 4 };

function unitBytes(unit: Parameters<typeof create<typeof DeploymentUnitSchema>>[1]): Uint8Array {
  return toBinary(DeployRequestSchema, create(DeployRequestSchema, { deploymentUnit: unit }));
}

test.each([
  { case: "small", unit: { id: "a", functions: [{ functionKey: "f" }] }, problem: undefined },
  {
    case: "many messages",
    unit: { functions: Array.from({ length: 21 }, () => ({})) },
    problem: "has more than 20 values",
  },
  {
    case: "many entries of a map",
    unit: {
      functions: [{ config: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`k${index}`, "v"])) }],
    },
    problem: "has more than 20 values",
  },
  {
    case: "packed numbers in messages of a map",
    unit: { odgmConfig: { envNodeIds: { a: { ids: Array.from({ length: 21 }, () => 1n) } } } },
    problem: "has more than 20 values",
  },
  {
    case: "a long text",
    unit: { id: "a".repeat(100_000) },
    problem: undefined,
  },
  { case: "a text above the limit", unit: { id: "a".repeat(262_145) }, problem: "is longer than 262144 bytes" },
  {
    case: "a value of a map above the limit",
    unit: { functions: [{ config: { k: "a".repeat(262_145) } }] },
    problem: "is longer than 262144 bytes",
  },
])("measures before decoding: $case", ({ unit, problem }) => {
  expect(findMessageProblem(DeployRequestSchema, unitBytes(unit), LIMITS)?.message).toBe(problem);
});

test("leaves the length of bytes to the limit of the message", () => {
  const request = create(InvokeFunctionRequestSchema, { body: new Uint8Array(1_000_000) });
  const bytes = toBinary(InvokeFunctionRequestSchema, request);
  expect(findMessageProblem(InvokeFunctionRequestSchema, bytes)).toBeUndefined();
});

test("refuses messages nested too deeply", () => {
  let finding = create(FindingSchema, {});
  for (let level = 0; level < 6; level += 1) finding = create(FindingSchema, { causes: [finding] });
  expect(findMessageProblem(FindingSchema, toBinary(FindingSchema, finding), LIMITS)?.message).toMatch(
    /nested too deeply: more than 4 levels/,
  );
});

test("leaves invalid encodings to the decoder and never throws", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const problem = findMessageProblem(DeployRequestSchema, bytes);
      expect(problem).toBeUndefined();
    }),
  );
});

test("accepts every message within the limits", () => {
  const unit = create(DeploymentUnitSchema, {
    id: "a",
    functions: Array.from({ length: 128 }, (_, index) => ({ functionKey: `f${index}`, config: { A: "1", B: "2" } })),
  });
  const bytes = toBinary(DeploymentUnitSchema, unit);
  expect(findMessageProblem(DeploymentUnitSchema, bytes)).toBeUndefined();
  expect(fromBinary(DeploymentUnitSchema, bytes).functions).toHaveLength(128);
});
