import { create } from "@bufbuild/protobuf";
import { DeploymentUnitSchema } from "@oaas/contracts/grpc";
import { sleep } from "@oaas/foundation";
import type { ClusterName, DeploymentKey, UnitId } from "@oaas/models";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentWorld,
  KEY,
  memoryWorldStore,
  wishFor,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-world.ts";
import { lostAnswer } from "../../test/fakes/mortal-store.ts";
import { unitIdOf } from "../planner/unit-id.ts";

const A = "a" as ClusterName;
const UNIT = unitIdOf(KEY, A);

let world: DeploymentWorld;
let manager: ManagerUnderTest;
beforeEach(async () => {
  world = new DeploymentWorld(await memoryWorldStore(), ["a", "b"]);
  manager = await world.manager();
  await world.drive(manager.service.apply({ deployment: wishFor(["a", "b"]) }, CALL, {}));
  world.clusters.calls.length = 0;
});
afterEach(() => world.dispose());

const sweep = async () => {
  const found = await world.drive(manager.keeper.sweep());
  await world.quiet(manager);
  return found;
};
const unitsIn = (cluster: ClusterName) => world.clusters.units.get(cluster)!;
const foreign = (id: string, managedBy?: string) =>
  create(DeploymentUnitSchema, { id, deploymentKey: "lost", ...(managedBy === undefined ? {} : { managedBy }) });
/** A unit that a deployment left behind, or that reached its cluster after that had ended. */
const strayOf = (cluster: ClusterName, key: DeploymentKey = KEY) => unitsIn(cluster).get(unitIdOf(key, cluster))!;

describe("what clusters report, against what is wanted", () => {
  test("as wanted: noted once, then nothing is written and nothing sent", async () => {
    expect(await sweep()).toEqual({
      unreachable: [],
      repaired: [],
      removed: [],
      suspected: [],
      unaccounted: [],
      foreign: 0,
    });
    expect((await manager.service.get(KEY)).value.condition).toBe("running");
    const { commits } = manager.hooked;
    await sweep();
    expect(manager.hooked.commits).toBe(commits);
    expect(world.clusters.calls).toEqual([]);
  });

  test("missing: sent again, there and nowhere else", async () => {
    unitsIn(A).clear();
    expect((await sweep()).repaired).toEqual([KEY]);
    expect(world.clusters.calls).toMatchObject([{ op: "deploy", cluster: "a" }]);
    expect(manager.service.operation(KEY)).toMatchObject({ kind: "repair", state: "succeeded" });
  });

  test("changed: put right", async () => {
    const digest = unitsIn(A).get(UNIT)!.digest!;
    unitsIn(A).set(UNIT, { ...unitsIn(A).get(UNIT)!, digest: "tampered" });
    expect((await sweep()).repaired).toEqual([KEY]);
    expect(unitsIn(A).get(UNIT)!.digest).toBe(digest);
  });

  test("edited in the cluster, so that only its generation tells: put right, once, and then nothing is done", async () => {
    await sweep();
    const { classKey } = unitsIn(A).get(UNIT)!;
    world.clusters.edit(A, UNIT, { classKey: "Edited" });
    expect((await sweep()).repaired).toEqual([KEY]);
    expect(unitsIn(A).get(UNIT)!.classKey).toBe(classKey);
    await sweep();
    const { commits } = manager.hooked;
    expect((await sweep()).repaired).toEqual([]);
    expect(manager.hooked.commits).toBe(commits);
    expect(world.clusters.calls).toMatchObject([{ op: "deploy", cluster: "a" }]);
  });

  test("of others: told and left alone", async () => {
    unitsIn(A).set("theirs" as UnitId, foreign("theirs", "somebody-else"));
    unitsIn(A).set("nobodys" as UnitId, foreign("nobodys"));
    for (let look = 0; look < 3; look += 1) expect(await sweep()).toMatchObject({ removed: [], foreign: 2 });
    expect([...unitsIn(A).keys()].sort()).toEqual(["nobodys", UNIT, "theirs"].sort());
  });

  test("of ours, and late: what reached a cluster after its deployment was gone is removed at the second look", async () => {
    const late = strayOf(A);
    await world.drive(manager.service.remove(KEY, CALL, {}));
    unitsIn(A).set(UNIT, late);
    expect(await sweep()).toMatchObject({ removed: [], suspected: [UNIT], unaccounted: [] });
    expect(await sweep()).toMatchObject({ removed: [UNIT], suspected: [], unaccounted: [] });
    expect(world.clusters.inventory).toEqual([]);
  });

  test("of ours, and late: what reached a cluster that its deployment has left meanwhile is removed too", async () => {
    const late = strayOf(A);
    await world.drive(manager.service.apply({ deployment: wishFor(["b"]) }, CALL, {}));
    unitsIn(A).set(UNIT, late);
    await sweep();
    expect(await sweep()).toMatchObject({ removed: [UNIT], unaccounted: [] });
  });

  test("one cluster under two names: nothing that runs is taken away under the other, and it is told", async () => {
    await world.drive(manager.service.apply({ deployment: wishFor(["a"]) }, CALL, {}));
    world.clusters.calls.length = 0;
    world.clusters.units.set("b" as ClusterName, unitsIn(A));
    for (let looks = 0; looks < 3; looks += 1) expect(await sweep()).toMatchObject({ removed: [], suspected: [] });
    expect(world.clusters.calls).toEqual([]);
    expect(manager.keeper.unaccounted).toMatchObject([{ cluster: "b", home: "a", unitId: UNIT }]);
    await world.drive(manager.service.remove(KEY, CALL, {}));
    await sweep();
    expect([unitsIn(A).size, manager.keeper.unaccounted]).toEqual([0, []]);
  });

  test("what is removed as surplus is what was seen, not what took its place meanwhile", async () => {
    const late = strayOf(A);
    await world.drive(manager.service.remove(KEY, CALL, {}));
    unitsIn(A).set(UNIT, late);
    await sweep();
    manager.onCall = async ({ op }, effect) => {
      if (op === "remove") unitsIn(A).set(UNIT, { ...late, revision: late.revision! + 1n });
      effect();
    };
    expect(await sweep()).toMatchObject({ removed: [], suspected: [UNIT] });
    expect(unitsIn(A).size).toBe(1);
  });

  test("what is remembered of deployments that ended is forgotten when it cannot matter any more", async () => {
    await world.drive(manager.service.remove(KEY, CALL, {}));
    const remembered = () => manager.parts.deployments.ended.lastUnitRevision(KEY);
    world.clusters.down.add("b");
    await world.pass(2 * 60 * 60_000);
    await sweep();
    expect(await remembered(), "a cluster is away").toBeDefined();
    world.clusters.down.clear();
    await sweep();
    expect(await remembered()).toBeUndefined();
  });

  test("nothing is done while a saga is at it", async () => {
    manager.onCall = async (_, effect) => sleep(world.at.ambient.timers, 5_000).then(effect);
    world.publish();
    const update = manager.service.apply({ deployment: wishFor(["a", "b"]) }, CALL, {});
    await world.pass(1_000);
    unitsIn(A).clear();
    expect((await world.drive(manager.keeper.sweep())).repaired).toEqual([]);
    await world.drive(update);
    expect(world.clusters.calls).toHaveLength(2);
  });

  test("a cluster that is away is asked nothing, and its units are not taken for lost", async () => {
    world.clusters.down.add("a");
    expect(await sweep()).toMatchObject({ unreachable: ["a"], repaired: [] });
    expect(world.clusters.calls).toEqual([]);
  });
});

describe("lists show soon what clusters told", () => {
  const condition = () => manager.service.list({}).then(({ items }) => items[0]?.condition);
  const tell = async (cluster: ClusterName) => {
    const unitId = unitIdOf(KEY, cluster);
    const report = (await world.clusters.unit(cluster, unitId))!;
    manager.heard.set(`${cluster}/${unitId}`, report);
    manager.keeper.observe(cluster, { type: "changed", report });
  };

  test("also what was told before the operation ended", async () => {
    manager.keeper.start();
    await world.pass(1_000);
    manager.onCall = async (call, effect) => {
      effect();
      await tell(call.cluster);
      await sleep(world.at.ambient.timers, 3_000);
    };
    world.publish();
    const update = manager.service.apply({ deployment: wishFor(["a", "b"]) }, CALL, {});
    await world.pass(2_000);
    expect(await condition()).toBe("pending");
    await world.drive(update);
    await world.pass(500);
    expect(await condition()).toBe("running");
    expect(manager.service.operation(KEY)).toMatchObject({ kind: "deploy", state: "succeeded" });
    await world.drive(manager.keeper.close());
  });

  test("what was told of an older unit is not taken for news of the present one", async () => {
    manager.keeper.start();
    await world.pass(1_000);
    for (const cluster of [A, "b" as ClusterName]) await tell(cluster);
    world.publish();
    await world.drive(manager.service.apply({ deployment: wishFor(["a", "b"]) }, CALL, {}));
    const { commits } = manager.hooked;
    await world.pass(500);
    expect([await condition(), manager.hooked.commits - commits]).toEqual(["deploying", 0]);
    await world.drive(manager.keeper.close());
  });

  test("also while a look at all clusters waits for one of them", async () => {
    const asked = Promise.withResolvers<void>();
    const reading = world.clusters.reading.bind(world.clusters);
    world.clusters.reading = async (cluster) => {
      await asked.promise;
      return reading(cluster);
    };
    manager.keeper.start();
    await world.pass(1_000);
    for (const cluster of [A, "b" as ClusterName]) await tell(cluster);
    await world.pass(500);
    expect(await condition()).toBe("running");
    asked.resolve();
    await world.drive(manager.keeper.close());
  });

  test("and news without end do not put off the look at everything", async () => {
    manager.keeper.start();
    await world.pass(1_000);
    unitsIn(A).clear();
    for (let second = 0; second < 70; second += 1) {
      world.clusters.stuck[second % 2 === 0 ? "add" : "delete"]("b");
      await tell("b" as ClusterName);
      await world.pass(1_000);
    }
    expect(unitsIn(A).size).toBe(1);
    await world.drive(manager.keeper.close());
  });
});

test("a store in trouble is asked again after a while, not all the time", async () => {
  let commits = 0;
  manager.onCommit = () => {
    commits += 1;
    return Promise.reject(lostAnswer());
  };
  manager.keeper.start();
  await world.pass(31_000);
  expect(commits).toBeLessThan(10);
  manager.onCommit = undefined;
  unitsIn(A).clear();
  await world.pass(16_000);
  await world.quiet(manager);
  expect(unitsIn(A).size).toBe(1);
  manager.onCommit = () => Promise.reject(lostAnswer());
  unitsIn(A).clear();
  await world.pass(70_000);
  manager.onCommit = undefined;
  await world.pass(70_000);
  expect(unitsIn(A).size, "trouble in the midst of its work does not end it").toBe(1);
  await world.drive(manager.keeper.close());
});

test("looks by itself on an interval and soon after a change, and only one process does", async () => {
  const other = await world.manager();
  manager.keeper.start();
  await world.pass(100);
  other.keeper.start();
  await world.pass(1_000);
  unitsIn(A).clear();
  manager.keeper.observe(A, { type: "removed", unitId: UNIT });
  await world.pass(1_000);
  expect(unitsIn(A).size).toBe(1);
  unitsIn(A).clear();
  await world.pass(61_000);
  expect(unitsIn(A).size).toBe(1);
  expect(world.clusters.calls).toHaveLength(2);
  await world.drive(Promise.all([manager.keeper.close(), other.keeper.close()]));
});
