import { sleep } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  CALL,
  DeploymentFixture,
  KEY,
  memoryFixtureStore,
  deploymentFor,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-fixture.ts";

const B = "b" as ClusterName;
const MOVED = "moved" as DeploymentKey;
const STAYS = "stays" as DeploymentKey;

let fixture: DeploymentFixture;
let manager: ManagerUnderTest;
beforeEach(async () => {
  fixture = new DeploymentFixture(await memoryFixtureStore(), ["a", "b"]);
  manager = await fixture.manager();
  for (const key of [KEY, MOVED, STAYS]) await apply(["a", "b"], key);
  fixture.clusters.down.add("b");
});
afterEach(() => fixture.dispose());

const apply = (clusters: readonly string[], key: DeploymentKey) =>
  fixture.drive(manager.service.apply({ deployment: deploymentFor(clusters, { key }) }, CALL, {}));
const giveUp = () => fixture.drive(manager.service.abandonRemovals(B));
const placesOf = async (key: DeploymentKey) => Object.keys(await manager.service.mappings(key));

test("abandons pending removals in an unreachable cluster without wanted units", async () => {
  await fixture.drive(manager.service.remove(KEY, CALL, {}));
  await apply(["a"], MOVED);
  expect(await giveUp(), "the cluster cannot be removed yet").toBe(0);
  expect([await placesOf(KEY), await placesOf(MOVED)]).toEqual([["b"], ["a", "b"]]);
  await fixture.drive(manager.service.remove(STAYS, CALL, { cluster: B }));
  expect(await giveUp()).toBe(3);
  await expect(manager.service.get(KEY)).rejects.toMatchObject({ kind: "not-found" });
  expect([await placesOf(MOVED), await placesOf(STAYS)]).toEqual([["a"], ["a"]]);
  expect(manager.service.keysIn(B)).toEqual([]);
  expect((await manager.service.get(MOVED)).value.summary).not.toHaveProperty("lastError");
});

test("removes the leftover units when the cluster is registered again", async () => {
  await fixture.drive(manager.service.remove(KEY, CALL, {}));
  for (const key of [MOVED, STAYS]) await apply(["a"], key);
  await giveUp();
  expect(fixture.clusters.units.get(B)?.size).toBe(3);
  await fixture.assertConverged(manager, { mayFindSurplus: true });
  expect(fixture.clusters.units.get(B)?.size).toBe(0);
});

test("abandons nothing while the cluster answers or a removal is running", async () => {
  for (const key of [MOVED, STAYS]) await apply(["a"], key);
  fixture.clusters.down.clear();
  await fixture.drive(manager.drift.sweep());
  await fixture.untilIdle(manager);
  manager.onCall = async (_, effect) => sleep(fixture.at.ambient.timers, 5_000).then(effect);
  const removal = manager.service.remove(KEY, CALL, {});
  await fixture.advance(200);
  expect(await giveUp()).toBe(0);
  fixture.clusters.down.add("b");
  expect(await giveUp()).toBe(0);
  await fixture.drive(removal);
  await fixture.untilIdle(manager);
  expect(await placesOf(KEY)).toEqual(["b"]);
});
