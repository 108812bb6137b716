import { Fault } from "@oaas/foundation";
import type { PackageName } from "@oaas/models";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentWorld,
  KEY,
  memoryWorldStore,
  wishFor,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-world.ts";
import { PackageRegistry } from "../registry/package-registry.ts";

const SHOP = "shop" as PackageName;

/** Deployments with the real registry, on one store. */
async function withRegistry(
  seed: number,
  work: (world: DeploymentWorld, manager: ManagerUnderTest, registry: PackageRegistry) => Promise<void>,
): Promise<void> {
  const world = new DeploymentWorld(await memoryWorldStore(seed), ["a", "b"]);
  const store = await world.at.connect();
  let manager: ManagerUnderTest | undefined;
  const registry = new PackageRegistry({
    store,
    ambient: world.at.ambient,
    deployments: {
      keysOf: async (name) => manager?.service.keysOf(name) ?? [],
      removeAll: async (name, call) => manager?.service.removeAll(name, call) ?? "deleted",
      schedule: async () => undefined,
    },
  });
  try {
    await registry.start();
    manager = await world.manager({ packages: registry, forgetPackage: (name) => registry.forget(name) });
    await registry.register(world.package, CALL);
    await work(world, manager, registry);
  } finally {
    await registry.close();
    await world.dispose();
  }
}

const settled = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (thrown: unknown) => Fault.from(thrown).kind,
  );

describe("a package and its deployments", () => {
  test("is kept while it is deployed, and goes with its deployments when that is asked", async () => {
    await withRegistry(1, async (world, { service }, registry) => {
      await world.drive(service.apply({ deployment: wishFor(["a", "b"]) }, CALL, {}));
      await expect(world.drive(registry.remove(SHOP, CALL))).rejects.toMatchObject({ kind: "failed-precondition" });
      world.clusters.down.add("b");
      expect(await world.drive(registry.remove(SHOP, CALL, { cascade: true }))).toBe("accepted");
      expect(await registry.get(SHOP)).toBeDefined();
      world.clusters.down.clear();
      await world.pass(1_000);
      const [manager] = [await world.manager({ packages: registry })];
      await world.drive(manager.keeper.sweep());
      await world.pass(10_000);
      await expect(registry.get(SHOP)).rejects.toMatchObject({ kind: "not-found" });
      expect(world.clusters.inventory).toEqual([]);
    });
  });

  test("never part: whoever comes first, there is no deployment without its package", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.array(fc.constantFrom("apply", "remove", "delete", "turn"), { maxLength: 8 }),
        async (seed, acts) => {
          await withRegistry(seed, async (world, { service }, registry) => {
            const answers: Promise<string>[] = [];
            for (const act of acts) {
              if (act === "apply") answers.push(settled(service.apply({ deployment: wishFor(["a"]) }, CALL, {})));
              else if (act === "remove") answers.push(settled(registry.remove(SHOP, CALL)));
              else if (act === "delete") answers.push(settled(service.remove(KEY, CALL, {})));
              else for (let turn = 0; turn < 7; turn += 1) await Promise.resolve();
            }
            await world.drive(Promise.all(answers));
            await world.pass(5_000);
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
