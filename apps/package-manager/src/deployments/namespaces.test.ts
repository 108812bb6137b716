import type { ClusterName, DeploymentKey } from "@oaas/models";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  CALL,
  deploymentFor,
  DeploymentFixture,
  KEY,
  memoryFixtureStore,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-fixture.ts";
import { unitIdOf } from "../planner/unit-id.ts";

const A = "a" as ClusterName;
const B = "b" as ClusterName;
const UNIT = `a/${unitIdOf(KEY, A)}`;

let fixture: DeploymentFixture;
let manager: ManagerUnderTest;
beforeEach(async () => {
  fixture = new DeploymentFixture(await memoryFixtureStore(), ["a", "b"]);
  manager = await fixture.manager({ waitMs: 1_000 });
});
afterEach(() => fixture.dispose());

type More = Parameters<typeof deploymentFor>[1];
const apply = (more: More = {}, clusters: readonly string[] = ["a"]) =>
  fixture.drive(manager.service.apply({ deployment: deploymentFor(clusters, more) }, CALL, {}));
const remove = (key: DeploymentKey = KEY) => fixture.drive(manager.service.remove(key, CALL, {}));
const sweep = async () => {
  const found = await fixture.drive(manager.drift.sweep());
  await fixture.untilIdle(manager);
  return found;
};
const namespacesOf = async () => (await manager.service.get(KEY)).value.summary?.namespaces;

test("sends units to the stated namespace, and records it", async () => {
  await apply({ namespace: "shop" });
  expect(fixture.clusters.namespaces.get(UNIT)).toBe("shop");
  expect(await namespacesOf()).toEqual(["shop"]);
  expect((await apply({ namespace: "shop" })).status).toBe("unchanged");
});

test("a unit stays where it is when the deployment states no namespace any more", async () => {
  await apply({ namespace: "shop" });
  await apply({ nfr: { minThroughputRps: 5 } }, ["a", "b"]);
  expect(fixture.clusters.namespaces.get(UNIT)).toBe("shop");
  expect(fixture.clusters.namespaces.get(`b/${unitIdOf(KEY, B)}`)).toBe("default");
  expect(await namespacesOf()).toEqual(["default", "shop"]);
  await fixture.drive(manager.service.rollBack(KEY, 1, CALL, {}));
  expect(await namespacesOf()).toEqual(["shop"]);
});

test("refuses a move, and allows another namespace after the deletion", async () => {
  await apply({ namespace: "shop" });
  await expect(apply({ namespace: "bank" })).rejects.toMatchObject({
    violations: [{ path: "$.namespace", fix: expect.stringContaining("new key") as string }],
  });
  await remove();
  expect(fixture.clusters.inventory).toEqual([]);
  fixture.clusters.namespaces.clear();
  await apply({ namespace: "bank" });
  expect(fixture.clusters.namespaces.get(UNIT)).toBe("bank");
});

test("a unit that is still to be removed keeps its namespace", async () => {
  await apply({ namespace: "shop" });
  fixture.clusters.down.add("a");
  await remove();
  fixture.clusters.down.clear();
  await expect(apply({ namespace: "bank" })).rejects.toMatchObject({ violations: [{ path: "$.namespace" }] });
  await sweep();
  expect(fixture.clusters.inventory).toEqual([]);
});

test("a roll-out that is undone restores the unit in its namespace", async () => {
  await apply({ namespace: "shop" });
  await apply({ namespace: "shop", nfr: { minThroughputRps: 5 } });
  await fixture.drive(manager.service.rollBack(KEY, 1, CALL, {}));
  await sweep();
  expect(fixture.clusters.namespaces.get(UNIT)).toBe("shop");
  expect(fixture.clusters.inventory).toHaveLength(1);
});

test("the unit of another owner with the same id in another namespace is neither drift nor surplus", async () => {
  await apply({ namespace: "shop" });
  await sweep();
  const own = await fixture.clusters.unit(A, unitIdOf(KEY, A));
  fixture.clusters.foreign.set(A, [{ ...own!, namespace: "bank", managedBy: "other", digest: "other" }]);
  const calls = fixture.clusters.calls.length;
  for (const round of [1, 2]) expect([round, await sweep()]).toMatchObject([round, { repaired: [], foreign: 1 }]);
  manager.drift.observe(A, { type: "removed", unitId: own!.unitId, namespace: "bank" });
  manager.drift.observe(A, {
    type: "changed",
    report: { ...own!, namespace: "bank", managedBy: "other", digest: "other" },
  });
  await fixture.advance(2_000);
  expect(fixture.clusters.calls).toHaveLength(calls);
});

test("an own unit that was left in another namespace is removed there", async () => {
  await apply({ namespace: "shop" });
  const own = await fixture.clusters.unit(A, unitIdOf(KEY, A));
  fixture.clusters.foreign.set(A, [{ ...own!, namespace: "old", revision: 1 }]);
  await sweep();
  expect((await sweep()).removed).toEqual([own!.unitId]);
  expect(fixture.clusters.inventory, "the unit in its namespace stays").toHaveLength(1);
});
