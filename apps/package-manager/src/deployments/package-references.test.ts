import { Fault } from "@oaas/foundation";
import type { PackageName } from "@oaas/models";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentFixture,
  KEY,
  memoryFixtureStore,
  deploymentFor,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-fixture.ts";
import { PackageRegistry } from "../registry/package-registry.ts";

const SHOP = "shop" as PackageName;

/** Deployments with the real registry, on one store. */
async function withRegistry(
  seed: number,
  work: (fixture: DeploymentFixture, manager: ManagerUnderTest, registry: PackageRegistry) => Promise<void>,
): Promise<void> {
  const fixture = new DeploymentFixture(await memoryFixtureStore(seed), ["a", "b"]);
  const store = await fixture.at.connect();
  let manager: ManagerUnderTest | undefined;
  const registry = new PackageRegistry({
    store,
    ambient: fixture.at.ambient,
    deployments: {
      keysOf: async (name) => manager?.service.keysOf(name) ?? [],
      removeAll: async (name, call) => manager?.service.removeAll(name, call) ?? "deleted",
      schedule: async () => undefined,
      revisionsInUse: () => new Set(),
    },
  });
  try {
    await registry.start();
    manager = await fixture.manager({ packages: registry, forgetPackage: (name) => registry.forget(name) });
    await registry.register(fixture.package, CALL);
    await work(fixture, manager, registry);
  } finally {
    await registry.close();
    await fixture.dispose();
  }
}

const settled = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (thrown: unknown) => Fault.from(thrown).kind,
  );

describe("a package and its deployments", () => {
  test("is kept while it has deployments, and deleted with them by cascade", async () => {
    await withRegistry(1, async (fixture, { service }, registry) => {
      await fixture.drive(service.apply({ deployment: deploymentFor(["a", "b"]) }, CALL, {}));
      await expect(fixture.drive(registry.remove(SHOP, CALL))).rejects.toMatchObject({ kind: "failed-precondition" });
      fixture.clusters.down.add("b");
      expect(await fixture.drive(registry.remove(SHOP, CALL, { cascade: true }))).toBe("accepted");
      expect(await registry.get(SHOP)).toBeDefined();
      fixture.clusters.down.clear();
      await fixture.advance(1_000);
      const [manager] = [await fixture.manager({ packages: registry })];
      await fixture.drive(manager.drift.sweep());
      await fixture.advance(10_000);
      await expect(registry.get(SHOP)).rejects.toMatchObject({ kind: "not-found" });
      expect(fixture.clusters.inventory).toEqual([]);
    });
  });

  test("stay consistent: no deployment exists without its package", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.array(fc.constantFrom("apply", "remove", "delete", "turn"), { maxLength: 8 }),
        async (seed, acts) => {
          await withRegistry(seed, async (fixture, { service }, registry) => {
            const answers: Promise<string>[] = [];
            for (const act of acts) {
              if (act === "apply") answers.push(settled(service.apply({ deployment: deploymentFor(["a"]) }, CALL, {})));
              else if (act === "remove") answers.push(settled(registry.remove(SHOP, CALL)));
              else if (act === "delete") answers.push(settled(service.remove(KEY, CALL, {})));
              else for (let turn = 0; turn < 7; turn += 1) await Promise.resolve();
            }
            await fixture.drive(Promise.all(answers));
            await fixture.advance(5_000);
            const isDeployed = (await service.keysOf(SHOP)).length > 0;
            const isThere = await settled(Promise.resolve(registry.get(SHOP)));
            if (isDeployed) expect(isThere).toBe("done");
          });
        },
      ),
      { numRuns: 60 },
    );
  });
});
