import type { ClusterName, DeploymentKey } from "@oaas/models";
import type { Entry } from "@oaas/storage";
import { openMemoryStore } from "@oaas/storage/memory";
import { sweepSize } from "@oaas/testkit";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentWorld,
  KEY,
  memoryWorldStore,
  wishFor,
  type ManagerUnderTest,
  type WorldStore,
} from "../../test/fakes/deployment-world.ts";
import { unitIdOf } from "../planner/unit-id.ts";
import { placementEntries } from "../records/deployment-record.ts";
import { unaccountedWarnings } from "../records/unaccounted-unit.ts";

const A = "a" as ClusterName;
const B = "b" as ClusterName;
const LATER = "later" as DeploymentKey;

/** What a backup holds: everything but what belongs to processes that live. */
async function backUp(at: WorldStore): Promise<readonly Entry[]> {
  const store = await at.connect();
  const { entries } = await store.range({ prefix: "", limit: 10_000 });
  await store.close();
  return entries.filter(({ lease }) => lease === undefined);
}

let world: DeploymentWorld;
let manager: ManagerUnderTest;
let closeRestored: () => Promise<void>;
beforeEach(async () => {
  world = new DeploymentWorld(await memoryWorldStore(), ["a", "b"]);
  manager = await world.manager();
  closeRestored = async () => undefined;
  await deploy(["a"]);
});
afterEach(async () => {
  await world.dispose();
  await closeRestored();
});

const deploy = (clusters: readonly string[], key: DeploymentKey = KEY, by = manager) =>
  world.drive(by.service.apply({ deployment: wishFor(clusters, { key }) }, CALL, {}));
const remove = (key: DeploymentKey) => world.drive(manager.service.remove(key, CALL, {}));
const sweep = async () => {
  const found = await world.drive(manager.keeper.sweep());
  await world.quiet(manager);
  return found;
};
const unitsOf = (cluster: ClusterName) => [...world.clusters.units.get(cluster)!.keys()];

/** The manager dies, and another one starts on the backup, at the same clusters and a later time. */
async function restore(backup: readonly Entry[]): Promise<void> {
  await world.drive(manager.close());
  manager.isDead = true;
  await world.pass(1_000);
  const store = openMemoryStore({ ambient: world.at.ambient });
  const client = store.connect();
  for (const { key, value } of backup) await client.commit({ writes: [{ op: "put", key, value }] });
  const restored = new DeploymentWorld({ ...world.at, connect: async () => store.connect() }, ["a", "b"]);
  for (const [cluster, units] of world.clusters.units) restored.clusters.units.set(cluster, units);
  for (const [unit, generation] of world.clusters.generations) restored.clusters.generations.set(unit, generation);
  closeRestored = () => store.close();
  world = restored;
  manager = await world.manager();
}

describe("after an older backup was restored", () => {
  test("what was deployed since runs on, is told of, and is ours again when it is applied again", async () => {
    const backup = await backUp(world.at);
    await world.pass(1_000);
    await deploy(["a", "b"], LATER);
    await restore(backup);
    for (let look = 0; look < 3; look += 1) {
      expect(await sweep()).toMatchObject({
        removed: [],
        unaccounted: [
          { cluster: "a", deploymentKey: LATER },
          { cluster: "b", deploymentKey: LATER },
        ],
      });
    }
    expect(unaccountedWarnings(manager.keeper.unaccounted)).toEqual([
      expect.stringContaining('"later" in a, b. They keep running: apply'),
    ]);
    await deploy(["b"], LATER);
    await sweep();
    await sweep();
    expect(unitsOf(A), "where it is not wanted any more, it goes").toEqual([unitIdOf(KEY, A)]);
    expect(unitsOf(B)).toEqual([unitIdOf(LATER, B)]);
    expect(manager.keeper.unaccounted).toEqual([]);
    await remove(LATER);
    expect(unitsOf(B)).toEqual([]);
  });

  test("what is the same, and was only sent again since, is as it should be", async () => {
    await sweep();
    const backup = await backUp(world.at);
    await world.pass(1_000);
    await deploy(["a", "b"]);
    await world.drive(manager.service.rollBack(KEY, 1, CALL, {}));
    await restore(backup);
    expect(await sweep()).toMatchObject({ repaired: [], unaccounted: [] });
    expect((await manager.service.get(KEY)).value.condition).toBe("running");
  });

  test("also what is newer than a deletion that was done after the restore", async () => {
    const backup = await backUp(world.at);
    await world.pass(1_000);
    await deploy(["b"], LATER);
    await restore(backup);
    await world.pass(1_000);
    await remove(KEY);
    await sweep();
    expect(await sweep()).toMatchObject({ removed: [], unaccounted: [{ cluster: "b", deploymentKey: LATER }] });
  });

  test("a deployment that was deleted before the backup and made anew after it is not taken for a late unit", async () => {
    await remove(KEY);
    const backup = await backUp(world.at);
    await world.pass(1_000);
    await deploy(["b"]);
    await restore(backup);
    await sweep();
    expect(await sweep()).toMatchObject({ removed: [], unaccounted: [{ cluster: "b", deploymentKey: KEY }] });
  });

  test("a cluster that a deployment was extended to since keeps its unit, until somebody says what is wanted", async () => {
    const backup = await backUp(world.at);
    await world.pass(1_000);
    await deploy(["a", "b"]);
    await restore(backup);
    await sweep();
    expect(await sweep()).toMatchObject({ removed: [], unaccounted: [{ cluster: "b", deploymentKey: KEY }] });
    await deploy(["a"]);
    await sweep();
    expect(await sweep()).toMatchObject({ unaccounted: [], removed: [unitIdOf(KEY, B)] });
  });

  test("what is not wanted any more can be deleted, although the store has lost it", async () => {
    const backup = await backUp(world.at);
    await world.pass(1_000);
    await deploy(["a", "b"], LATER);
    await restore(backup);
    await sweep();
    expect(await remove(LATER)).toMatchObject({ status: "deleted", deleted: ["a", "b"] });
    expect([unitsOf(A), unitsOf(B)]).toEqual([[unitIdOf(KEY, A)], []]);
    await sweep();
    expect(manager.keeper.unaccounted).toEqual([]);
    await expect(remove(LATER)).rejects.toMatchObject({ detail: { kind: "not-found" } });
  });

  test("also in one cluster, but not while another would lose what the store does not know of", async () => {
    const backup = await backUp(world.at);
    await world.pass(1_000);
    await deploy(["a", "b"]);
    await deploy(["a", "b"], LATER);
    await restore(backup);
    await sweep();
    const removeIn = (key: DeploymentKey, cluster: ClusterName) =>
      world.drive(manager.service.remove(key, CALL, { cluster }));
    expect(await removeIn(KEY, B)).toMatchObject({ deleted: ["b"] });
    await expect(removeIn(LATER, B)).rejects.toThrow("also runs in a, which the store does not record");
    await sweep();
    await sweep();
    expect([unitsOf(A).length, unitsOf(B)]).toEqual([2, [unitIdOf(LATER, B)]]);
  });

  test("and where a cluster is away, it is finished when that is back", async () => {
    const backup = await backUp(world.at);
    await world.pass(1_000);
    await deploy(["b"], LATER);
    await restore(backup);
    await sweep();
    world.clusters.down.add(B);
    const inB = manager.service.remove(LATER, CALL, { cluster: B });
    expect(await world.drive(inB)).toMatchObject({ status: "accepted", pending: ["b"] });
    world.clusters.down.clear();
    await sweep();
    expect(unitsOf(B)).toEqual([]);
  });

  test("a deployment that was changed since says so, and takes its cluster back when its wish is applied again", async () => {
    const backup = await backUp(world.at);
    const before = world.clusters.inventory;
    await world.pass(1_000);
    world.publish();
    await deploy(["a"]);
    await restore(backup);
    await sweep();
    expect((await manager.service.record(KEY))?.summary.lastError).toContain("is older than");
    expect((await deploy(["a"])).status).toBe("unchanged");
    expect(world.clusters.inventory).toEqual(before);
    expect((await manager.service.record(KEY))?.placements[A]).toMatchObject({ accepted: true });
  });

  test("units of a cluster that is away stay listed, and every process of the installation lists them", async () => {
    const backup = await backUp(world.at);
    await world.pass(1_000);
    await deploy(["b"], LATER);
    await restore(backup);
    manager.keeper.start();
    await world.pass(1_000);
    world.clusters.down.add("b");
    const other = await world.manager();
    other.keeper.start();
    await world.pass(70_000);
    for (const { keeper } of [manager, other]) expect(keeper.unaccounted).toMatchObject([{ cluster: "b" }]);
    await world.drive(Promise.all([manager.keeper.close(), other.keeper.close()]));
  });
});

const key = fc.constantFrom("x", "y", "z") as fc.Arbitrary<DeploymentKey>;
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("deploy"), key, to: fc.subarray(["a", "b"], { minLength: 1 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete"), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("publish") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lose"), cluster: fc.constantFrom("a", "b") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("find") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("keep") }) },
);
type Step = { do: string; key?: DeploymentKey; to?: string[]; cluster?: string };

async function happen({ do: what, key: name = KEY, to = [], cluster = "" }: Step): Promise<void> {
  if (what === "deploy") await deploy(to, name).catch(() => undefined);
  if (what === "delete") await remove(name).catch(() => undefined);
  if (what === "publish") world.publish();
  if (what === "lose") world.clusters.down.add(cluster);
  if (what === "find") world.clusters.down.clear();
  if (what === "keep") await sweep();
  await world.pass(500);
}

/** Units that somebody wants and that are there, as `cluster/unitId`, by deployment. */
function running(): Map<string, string> {
  const units = [...manager.parts.view.all()].flatMap(({ id, record }) =>
    placementEntries(record).flatMap(([cluster, { unitId, state, accepted }]) =>
      state === "wanted" && accepted ? [[`${cluster}/${unitId}`, id] as const] : [],
    ),
  );
  return new Map(units);
}

test("whatever was done before and since the backup: no unit that ran is removed, also when all that is known is deleted", async () => {
  const histories = fc.array(step, { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(histories, histories, async (before, since) => {
      await world.dispose();
      world = new DeploymentWorld(await memoryWorldStore(), ["a", "b"]);
      manager = await world.manager();
      for (const each of before) await happen(each);
      const backup = await backUp(world.at);
      for (const each of since) await happen(each);
      await world.quiet(manager);
      const ran = running();
      const { package: published, packageRevision } = world;
      await restore(backup);
      Object.assign(world, { package: published, packageRevision });
      for (let look = 0; look < 4; look += 1) await sweep();
      const there = () => new Set(world.clusters.inventory.map((unit) => unit.split("@", 1)[0]));
      expect([...ran.keys()].filter((unit) => !there().has(unit))).toEqual([]);
      const known = new Set<string>([...manager.parts.view.all()].map(({ id }) => id));
      for (const id of known) await remove(id as DeploymentKey);
      for (let look = 0; look < 4; look += 1) await sweep();
      expect([...ran].filter(([unit, id]) => !known.has(id) && !there().has(unit))).toEqual([]);
      await closeRestored();
    }),
    { numRuns: sweepSize(60, 3_000), seed: 16 },
  );
}, 600_000);
