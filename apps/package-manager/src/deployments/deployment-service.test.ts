import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentWorld,
  KEY,
  memoryWorldStore,
  wishFor,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-world.ts";

let world: DeploymentWorld;
let manager: ManagerUnderTest;
beforeEach(async () => {
  world = new DeploymentWorld(await memoryWorldStore(), ["a", "b", "c"]);
  manager = await world.manager();
});
afterEach(() => world.dispose());

const apply = (clusters: readonly string[], more = {}) =>
  world.drive(manager.service.apply({ deployment: wishFor(clusters, more) }, CALL, {}));

describe("deployments", () => {
  test("created, unchanged, updated, deleted: each cluster hears what it must and nothing else", async () => {
    expect(await apply(["a", "b"])).toMatchObject({ id: "orders", status: "created" });
    expect(world.clusters.calls.map(({ op, cluster }) => `${op} ${cluster}`).sort()).toEqual(["deploy a", "deploy b"]);
    expect(await apply(["a", "b"])).toMatchObject({ status: "unchanged" });
    expect(world.clusters.calls).toHaveLength(2);
    expect(await apply(["b", "c"])).toMatchObject({ status: "updated" });
    expect([...world.clusters.units].map(([name, units]) => `${name}:${units.size}`)).toEqual(["a:0", "b:1", "c:1"]);
    const removed = await world.drive(manager.service.remove(KEY, CALL, {}));
    expect(removed).toMatchObject({ status: "deleted", pending: [] });
    expect([...removed.deleted].sort()).toEqual(["b", "c"]);
    expect(world.clusters.inventory).toEqual([]);
    await expect(manager.service.get(KEY)).rejects.toMatchObject({ kind: "not-found" });
  });
});
