import { packageFromWire } from "@oaas/contracts/rest";
import { Fault } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { Package } from "@oaas/models";
import { openMemoryStore } from "@oaas/storage/memory";
import { sweepSize } from "@oaas/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PackageRegistry } from "./package-registry.ts";

const call = { caller: "ann", correlationId: "c-1" };

/** Packages with few names and contents, valid and invalid, so that they collide, depend on each other and form cycles. */
const packages = fc
  .record({
    name: fc.constantFrom("a", "b", "c"),
    version: fc.constantFrom("1", "2"),
    dependencies: fc.subarray(["a", "b", "missing"]),
    bound: fc.constantFrom("echo", "echo", "echo", "missing"),
    tags: fc.subarray(["x", "y"]),
  })
  .map(({ bound, tags, ...rest }): Package => {
    const read = packageFromWire({
      ...rest,
      classes: [{ key: "C", function_bindings: [{ name: "f", function_key: bound, access_modifier: "PUBLIC" }] }],
      functions: [{ key: "echo", provision_config: { container_image: "ghcr.io/oaas/echo:1" } }],
      metadata: { tags },
    });
    if (!read.ok) throw new Error(JSON.stringify(read.error));
    return read.value;
  });

const steps = fc.array(
  fc.record({
    input: packages,
    isUpdate: fc.boolean(),
    target: fc.constantFrom("own", "own", "own", "a"),
    condition: fc.constantFrom("nothing", "nothing", "now", "stale"),
  }),
  { minLength: 1, maxLength: 12 },
);

test("a preview matches the write that follows, fails like it, and writes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const ambient = virtualAmbient(1);
      const store = openMemoryStore({ ambient });
      const deployments = {
        keysOf: async () => [],
        removeAll: async () => "deleted" as const,
        schedule: async () => {},
        revisionsInUse: () => new Set<number>(),
      };
      const registry = new PackageRegistry({ store, ambient, deployments });
      await registry.start();
      for (const { input, isUpdate, target, condition } of all) {
        const name = target === "own" ? input.name : (target as typeof input.name);
        const known = await Promise.resolve(registry.get(name)).catch(() => undefined);
        const ifVersion = condition === "now" ? known?.version : condition === "stale" ? 0 : undefined;
        const how = ifVersion === undefined ? {} : { ifVersion: { oneOf: [ifVersion] } };
        const before = await store.revision();
        const foretold = await outcomeOf(registry.preview(input, isUpdate ? { ...how, name } : {}));
        expect(await store.revision(), "nothing is written").toBe(before);
        const done = await outcomeOf(
          isUpdate ? Promise.resolve(registry.update(name, input, call, how)) : registry.register(input, call, {}),
        );
        expect(foretold.refused).toEqual(done.refused);
        expect(foretold.value?.status).toBe(done.value?.status);
        if (done.value === undefined || foretold.value === undefined) continue;
        const { value, version } = await registry.get(input.name);
        expect(foretold.value.revision).toBe(value.revision);
        const { changes } = await registry.diff(input.name);
        if (foretold.value.status === "updated") expect(foretold.value.changes).toEqual(changes);
        if (foretold.value.status === "unchanged") expect(foretold.value).toMatchObject({ changes: [], version });
      }
      await registry.close();
      await store.close();
    }),
    { numRuns: sweepSize(60, 3000) },
  );
});

async function outcomeOf<T>(work: Promise<T>): Promise<{ readonly value?: T; readonly refused?: object }> {
  try {
    return { value: await work };
  } catch (thrown) {
    const { message, code, detail } = Fault.from(thrown);
    return { refused: { message, code, detail } };
  }
}
