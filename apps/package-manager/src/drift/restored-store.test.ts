import type { ClusterName, DeploymentKey } from "@oaas/models";
import type { Entry } from "@oaas/storage";
import { openMemoryStore } from "@oaas/storage/memory";
import { sweepSize } from "@oaas/testkit";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentFixture,
  KEY,
  memoryFixtureStore,
  deploymentFor,
  type ManagerUnderTest,
  type FixtureStore,
} from "../../test/fakes/deployment-fixture.ts";
import { unitIdOf } from "../planner/unit-id.ts";
import { placementEntries } from "../records/deployment-record.ts";
import { unaccountedWarnings } from "../records/unaccounted-unit.ts";

const A = "a" as ClusterName;
const B = "b" as ClusterName;
const LATER = "later" as DeploymentKey;

/** The content of a backup: everything except the keys of live processes. */
async function backUp(at: FixtureStore): Promise<readonly Entry[]> {
  const store = await at.connect();
  const { entries } = await store.range({ prefix: "", limit: 10_000 });
  await store.close();
  return entries.filter(({ lease }) => lease === undefined);
}

let fixture: DeploymentFixture;
let manager: ManagerUnderTest;
let closeRestored: () => Promise<void>;
beforeEach(async () => {
  fixture = new DeploymentFixture(await memoryFixtureStore(), ["a", "b"]);
  manager = await fixture.manager();
  closeRestored = async () => undefined;
  await deploy(["a"]);
});
afterEach(async () => {
  await fixture.dispose();
  await closeRestored();
});

const deploy = (clusters: readonly string[], key: DeploymentKey = KEY, by = manager) =>
  fixture.drive(by.service.apply({ deployment: deploymentFor(clusters, { key }) }, CALL, {}));
const remove = (key: DeploymentKey) => fixture.drive(manager.service.remove(key, CALL, {}));
const sweep = async () => {
  const found = await fixture.drive(manager.drift.sweep());
  await fixture.untilIdle(manager);
  return found;
};
const unitsOf = (cluster: ClusterName) => [...fixture.clusters.units.get(cluster)!.keys()];

/** Kills the manager and starts another one on the backup later, with the same clusters. */
async function restore(backup: readonly Entry[]): Promise<void> {
  await fixture.drive(manager.close());
  manager.isDead = true;
  await fixture.advance(1_000);
  const store = openMemoryStore({ ambient: fixture.at.ambient });
  const client = store.connect();
  for (const { key, value } of backup) await client.commit({ writes: [{ op: "put", key, value }] });
  const restored = new DeploymentFixture({ ...fixture.at, connect: async () => store.connect() }, ["a", "b"]);
  for (const [cluster, units] of fixture.clusters.units) restored.clusters.units.set(cluster, units);
  for (const [unit, namespace] of fixture.clusters.namespaces) restored.clusters.namespaces.set(unit, namespace);
  for (const [unit, generation] of fixture.clusters.generations) restored.clusters.generations.set(unit, generation);
  closeRestored = () => store.close();
  fixture = restored;
  manager = await fixture.manager();
}

describe("after an older backup is restored", () => {
  test("newer deployments keep running, are reported, and are managed again when applied", async () => {
    const backup = await backUp(fixture.at);
    await fixture.advance(1_000);
    await deploy(["a", "b"], LATER);
    await restore(backup);
    for (let round = 0; round < 3; round += 1) {
      expect(await sweep()).toMatchObject({
        removed: [],
        unaccounted: [
          { cluster: "a", deploymentKey: LATER },
          { cluster: "b", deploymentKey: LATER },
        ],
      });
    }
    expect(unaccountedWarnings(manager.drift.unaccounted)).toEqual([
      expect.stringContaining('"later" in a, b. They keep running: apply'),
    ]);
    await deploy(["b"], LATER);
    await sweep();
    await sweep();
    expect(unitsOf(A), "it is removed where it is no longer wanted").toEqual([unitIdOf(KEY, A)]);
    expect(unitsOf(B)).toEqual([unitIdOf(LATER, B)]);
    expect(manager.drift.unaccounted).toEqual([]);
    await remove(LATER);
    expect(unitsOf(B)).toEqual([]);
  });

  test("a unit with the same content and a newer revision is accepted", async () => {
    await sweep();
    const backup = await backUp(fixture.at);
    await fixture.advance(1_000);
    await deploy(["a", "b"]);
    await fixture.drive(manager.service.rollBack(KEY, 1, CALL, {}));
    await restore(backup);
    expect(await sweep()).toMatchObject({ repaired: [], unaccounted: [] });
    expect((await manager.service.get(KEY)).value.condition).toBe("running");
  });

  test("units newer than a deletion after the restore keep running", async () => {
    const backup = await backUp(fixture.at);
    await fixture.advance(1_000);
    await deploy(["b"], LATER);
    await restore(backup);
    await fixture.advance(1_000);
    await remove(KEY);
    await sweep();
    expect(await sweep()).toMatchObject({ removed: [], unaccounted: [{ cluster: "b", deploymentKey: LATER }] });
  });

  test("a deployment deleted before the backup and created again after it is not surplus", async () => {
    await remove(KEY);
    const backup = await backUp(fixture.at);
    await fixture.advance(1_000);
    await deploy(["b"]);
    await restore(backup);
    await sweep();
    expect(await sweep()).toMatchObject({ removed: [], unaccounted: [{ cluster: "b", deploymentKey: KEY }] });
  });

  test("a cluster added after the backup keeps its unit until the deployment is applied or deleted", async () => {
    const backup = await backUp(fixture.at);
    await fixture.advance(1_000);
    await deploy(["a", "b"]);
    await restore(backup);
    await sweep();
    expect(await sweep()).toMatchObject({ removed: [], unaccounted: [{ cluster: "b", deploymentKey: KEY }] });
    await deploy(["a"]);
    await sweep();
    expect(await sweep()).toMatchObject({ unaccounted: [], removed: [unitIdOf(KEY, B)] });
  });

  test("a lost deployment can be deleted", async () => {
    const backup = await backUp(fixture.at);
    await fixture.advance(1_000);
    await deploy(["a", "b"], LATER);
    await restore(backup);
    await sweep();
    expect(await remove(LATER)).toMatchObject({ status: "deleted", deleted: ["a", "b"] });
    expect([unitsOf(A), unitsOf(B)]).toEqual([[unitIdOf(KEY, A)], []]);
    await sweep();
    expect(manager.drift.unaccounted).toEqual([]);
    await expect(remove(LATER)).rejects.toMatchObject({ detail: { kind: "not-found" } });
  });

  test("a lost deployment can be deleted in one cluster, unless another runs unrecorded units", async () => {
    const backup = await backUp(fixture.at);
    await fixture.advance(1_000);
    await deploy(["a", "b"]);
    await deploy(["a", "b"], LATER);
    await restore(backup);
    await sweep();
    const removeIn = (key: DeploymentKey, cluster: ClusterName) =>
      fixture.drive(manager.service.remove(key, CALL, { cluster }));
    expect(await removeIn(KEY, B)).toMatchObject({ deleted: ["b"] });
    await expect(removeIn(LATER, B)).rejects.toThrow("also runs in a, which the store does not record");
    await sweep();
    await sweep();
    expect([unitsOf(A).length, unitsOf(B)]).toEqual([2, [unitIdOf(LATER, B)]]);
  });

  test("its deletion finishes when an unreachable cluster returns", async () => {
    const backup = await backUp(fixture.at);
    await fixture.advance(1_000);
    await deploy(["b"], LATER);
    await restore(backup);
    await sweep();
    fixture.clusters.down.add(B);
    const inB = manager.service.remove(LATER, CALL, { cluster: B });
    expect(await fixture.drive(inB)).toMatchObject({ status: "accepted", pending: ["b"] });
    fixture.clusters.down.clear();
    await sweep();
    expect(unitsOf(B)).toEqual([]);
  });

  test("a deployment changed after the backup is reported, and managed again when applied", async () => {
    const backup = await backUp(fixture.at);
    const before = fixture.clusters.inventory;
    await fixture.advance(1_000);
    fixture.publish();
    await deploy(["a"]);
    await restore(backup);
    await sweep();
    expect((await manager.service.record(KEY))?.summary.lastError).toContain("is older than");
    expect((await deploy(["a"])).status).toBe("unchanged");
    expect(fixture.clusters.inventory).toEqual(before);
    expect((await manager.service.record(KEY))?.placements[A]).toMatchObject({ accepted: true });
  });

  test("units of an unreachable cluster stay listed in every process", async () => {
    const backup = await backUp(fixture.at);
    await fixture.advance(1_000);
    await deploy(["b"], LATER);
    await restore(backup);
    manager.drift.start();
    await fixture.advance(1_000);
    fixture.clusters.down.add("b");
    const other = await fixture.manager();
    other.drift.start();
    await fixture.advance(70_000);
    for (const { drift } of [manager, other]) expect(drift.unaccounted).toMatchObject([{ cluster: "b" }]);
    await fixture.drive(Promise.all([manager.drift.close(), other.drift.close()]));
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
  if (what === "publish") fixture.publish();
  if (what === "lose") fixture.clusters.down.add(cluster);
  if (what === "find") fixture.clusters.down.clear();
  if (what === "keep") await sweep();
  await fixture.advance(500);
}

/** Running units that a deployment wants, as `cluster/unitId`, by deployment. */
function running(): Map<string, string> {
  const units = [...manager.parts.view.all()].flatMap(({ id, record }) =>
    placementEntries(record).flatMap(([cluster, { unitId, state, accepted }]) =>
      state === "wanted" && accepted ? [[`${cluster}/${unitId}`, id] as const] : [],
    ),
  );
  return new Map(units);
}

test("never removes a running unit, for any history before and after the backup", async () => {
  const histories = fc.array(step, { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(histories, histories, async (before, since) => {
      await fixture.dispose();
      fixture = new DeploymentFixture(await memoryFixtureStore(), ["a", "b"]);
      manager = await fixture.manager();
      for (const each of before) await happen(each);
      const backup = await backUp(fixture.at);
      for (const each of since) await happen(each);
      await fixture.untilIdle(manager);
      const ran = running();
      const { package: published, packageRevision } = fixture;
      await restore(backup);
      Object.assign(fixture, { package: published, packageRevision });
      for (let round = 0; round < 4; round += 1) await sweep();
      const present = () => new Set(fixture.clusters.inventory.map((unit) => unit.split("@", 1)[0]));
      expect([...ran.keys()].filter((unit) => !present().has(unit))).toEqual([]);
      const known = new Set<string>([...manager.parts.view.all()].map(({ id }) => id));
      for (const id of known) await remove(id as DeploymentKey);
      for (let round = 0; round < 4; round += 1) await sweep();
      expect([...ran].filter(([unit, id]) => !known.has(id) && !present().has(unit))).toEqual([]);
      await closeRestored();
    }),
    { numRuns: sweepSize(60, 3_000), seed: 16 },
  );
}, 600_000);
