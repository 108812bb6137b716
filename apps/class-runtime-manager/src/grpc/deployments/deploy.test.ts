import { create } from "@bufbuild/protobuf";
import { DeployRequestSchema } from "@oaas/contracts/grpc";
import { Fault, KeyedQueue, ok } from "@oaas/foundation";
import type { CorrelationId } from "@oaas/observability";
import fc from "fast-check";
import { expect, test } from "vitest";
import { deploy } from "./deploy.ts";
import { MemoryClasses } from "../../classes/testing/memory-classes.ts";

const text = fc.oneof(
  fc.string({ maxLength: 90 }),
  fc.constantFrom("", "a", "A.b", "lots", "100m", "registry.test/f:1", "../x", "\u0000", "x".repeat(300)),
);
const small = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
const definedRecord = (members: object) =>
  fc.record(members as Record<string, fc.Arbitrary<unknown>>).map((record) => {
    const entries = Object.entries(record).filter(([, value]) => value !== undefined);
    return Object.fromEntries(entries);
  });

const nfr = definedRecord({
  maxLatencyMs: optional(small),
  availability: optional(fc.double()),
  cpuUtilizationTarget: optional(fc.double()),
  consistency: optional(fc.nat(9)),
});

const unit = definedRecord({
  id: text,
  packageName: text,
  classKey: text,
  functions: fc.array(
    definedRecord({
      functionKey: text,
      functionType: optional(fc.nat(9)),
      nfrRequirements: optional(nfr),
      config: fc.dictionary(text, text, { maxKeys: 3 }),
      provisionConfig: optional(
        definedRecord({
          containerImage: optional(text),
          wasmModuleUrl: optional(text),
          port: optional(small),
          cpuRequest: optional(text),
          memoryLimit: optional(text),
          minScale: optional(small),
          maxScale: optional(small),
        }),
      ),
    }),
    { maxLength: 3 },
  ),
  functionBindings: fc.array(definedRecord({ name: text, functionKey: text, accessModifier: optional(text) }), {
    maxLength: 2,
  }),
  createdAt: optional(
    definedRecord({
      seconds: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      nanos: fc.integer({ min: -5, max: 2 ** 31 - 1 }),
    }),
  ),
  odgmConfig: optional(
    definedRecord({
      collections: fc.array(text, { maxLength: 3 }),
      partitionCount: optional(small),
      shardType: optional(text),
      odgmNodeId: optional(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
    }),
  ),
  selectedTemplate: optional(text),
  revision: optional(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
  state: optional(definedRecord({ consistencyModel: fc.nat(9), shape: fc.nat(9), storageRequest: optional(text) })),
  enforcement: optional(definedRecord({ mode: fc.nat(9), dimensions: fc.array(fc.nat(9), { maxLength: 3 }) })),
  nfrRequirements: optional(nfr),
  deploymentKey: optional(text),
});

test("any unit is accepted, or rejected with violations and without a write", async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(unit, optional(text), async (deploymentUnit, namespace) => {
      const classes = new MemoryClasses();
      const request = create(DeployRequestSchema, {
        deploymentUnit,
        ...(namespace === undefined ? {} : { namespace }),
      });
      const call = { signal: new AbortController().signal, correlationId: "c" as CorrelationId } as never;
      const result: unknown = await deploy(request, call, {
        namespaces: { served: ["shop"], fallback: "shop" },
        store: classes,
        directory: classes,
        leadership: { isLeading: true, leader: undefined },
        check: { canServe: () => ok(undefined) },
        queue: new KeyedQueue(),
        profile: "dev",
      }).catch((thrown: unknown) => thrown);
      if (!(result instanceof Error)) {
        accepted += 1;
        expect(classes.writes).toHaveLength(1);
        return;
      }
      const fault = Fault.from(result);
      expect(["invalid-argument", "failed-precondition"], fault.message).toContain(fault.kind);
      expect(fault.kind === "failed-precondition" || fault.violations.length > 0).toBe(true);
      expect(classes.writes).toEqual([]);
    }),
    { numRuns: 500, examples: [[{ id: "a", classKey: "B", state: {} }, undefined]] },
  );
  expect(accepted).toBeGreaterThan(0);
});
