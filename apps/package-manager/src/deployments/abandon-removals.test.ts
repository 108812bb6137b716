import { sleep } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  CALL,
  DeploymentWorld,
  KEY,
  memoryWorldStore,
  wishFor,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-world.ts";

const B = "b" as ClusterName;
const MOVED = "moved" as DeploymentKey;
const STAYS = "stays" as DeploymentKey;

let world: DeploymentWorld;
let manager: ManagerUnderTest;
beforeEach(async () => {
  world = new DeploymentWorld(await memoryWorldStore(), ["a", "b"]);
  manager = await world.manager();
  for (const key of [KEY, MOVED, STAYS]) await apply(["a", "b"], key);
  world.clusters.down.add("b");
});
afterEach(() => world.dispose());

const apply = (clusters: readonly string[], key: DeploymentKey) =>
  world.drive(manager.service.apply({ deployment: wishFor(clusters, { key }) }, CALL, {}));
const giveUp = () => world.drive(manager.service.abandonRemovals(B));
const placesOf = async (key: DeploymentKey) => Object.keys(await manager.service.mappings(key));

test("what waits to be removed from a cluster that is gone is given up, once nothing is wanted there", async () => {
  await world.drive(manager.service.remove(KEY, CALL, {}));
  await apply(["a"], MOVED);
  expect(await giveUp(), "the cluster cannot be removed yet").toBe(0);
  expect([await placesOf(KEY), await placesOf(MOVED)]).toEqual([["b"], ["a", "b"]]);
  await world.drive(manager.service.remove(STAYS, CALL, { cluster: B }));
  expect(await giveUp()).toBe(3);
  await expect(manager.service.get(KEY)).rejects.toMatchObject({ kind: "not-found" });
  expect([await placesOf(MOVED), await placesOf(STAYS)]).toEqual([["a"], ["a"]]);
  expect(manager.service.keysIn(B)).toEqual([]);
  expect((await manager.service.get(MOVED)).value.summary).not.toHaveProperty("lastError");
});

test("what it has left is removed should it come back", async () => {
  await world.drive(manager.service.remove(KEY, CALL, {}));
  for (const key of [MOVED, STAYS]) await apply(["a"], key);
  await giveUp();
  expect(world.clusters.units.get(B)?.size).toBe(3);
  await world.assertConverged(manager, { mayFindSurplus: true });
  expect(world.clusters.units.get(B)?.size).toBe(0);
});

test("nothing is given up of a cluster that answers, nor what is being removed now", async () => {
  for (const key of [MOVED, STAYS]) await apply(["a"], key);
  world.clusters.down.clear();
  await world.drive(manager.keeper.sweep());
  await world.quiet(manager);
  manager.onCall = async (_, effect) => sleep(world.at.ambient.timers, 5_000).then(effect);
  const removal = manager.service.remove(KEY, CALL, {});
  await world.pass(200);
  expect(await giveUp()).toBe(0);
  world.clusters.down.add("b");
  expect(await giveUp()).toBe(0);
  await world.drive(removal);
  await world.quiet(manager);
  expect(await placesOf(KEY)).toEqual(["b"]);
});
