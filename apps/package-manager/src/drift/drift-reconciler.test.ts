import { create } from "@bufbuild/protobuf";
import { DeploymentUnitSchema } from "@oaas/contracts/grpc";
import { sleep } from "@oaas/foundation";
import type { ClusterName, DeploymentKey, UnitId } from "@oaas/models";
import { createRecordingLogger } from "@oaas/observability/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentFixture,
  KEY,
  memoryFixtureStore,
  deploymentFor,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-fixture.ts";
import { lostResponse } from "../../test/fakes/hooked-store.ts";
import { unitIdOf } from "../planner/unit-id.ts";

const A = "a" as ClusterName;
const UNIT = unitIdOf(KEY, A);

let fixture: DeploymentFixture;
let manager: ManagerUnderTest;
beforeEach(async () => {
  fixture = new DeploymentFixture(await memoryFixtureStore(), ["a", "b"]);
  manager = await fixture.manager();
  await fixture.drive(manager.service.apply({ deployment: deploymentFor(["a", "b"]) }, CALL, {}));
  fixture.clusters.calls.length = 0;
});
afterEach(() => fixture.dispose());

const sweep = async () => {
  const found = await fixture.drive(manager.drift.sweep());
  await fixture.untilIdle(manager);
  return found;
};
const unitsIn = (cluster: ClusterName) => fixture.clusters.units.get(cluster)!;
const foreign = (id: string, managedBy?: string) =>
  create(DeploymentUnitSchema, { id, deploymentKey: "lost", ...(managedBy === undefined ? {} : { managedBy }) });
/** A unit that reached its cluster after its deployment had left or ended. */
const strayOf = (cluster: ClusterName, key: DeploymentKey = KEY) => unitsIn(cluster).get(unitIdOf(key, cluster))!;

const putText = async (key: string, value: string): Promise<void> => {
  const store = await fixture.at.connect();
  expect(await store.get(key), `${key} exists`).toBeDefined();
  await store.commit({ writes: [{ op: "put", key, value }] });
};

describe("reported units compared with the desired state", () => {
  test("match: recorded once, then nothing is written or sent", async () => {
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
    expect(fixture.clusters.calls).toEqual([]);
  });

  test("missing: sent again to that cluster only", async () => {
    unitsIn(A).clear();
    expect((await sweep()).repaired).toEqual([KEY]);
    expect(fixture.clusters.calls).toMatchObject([{ op: "deploy", cluster: "a" }]);
    expect(manager.service.operation(KEY)).toMatchObject({ kind: "repair", state: "succeeded" });
  });

  test("a correction is recorded with what was found, how often and how long it took, and is reported", async () => {
    const reported: unknown[] = [];
    fixture.driftOptions = { onDrift: (key, cluster, { message }) => reported.push([key, cluster, message]) };
    await fixture.drive(manager.close());
    manager = await fixture.manager();
    const driftOf = async () => (await manager.service.record(KEY))?.placements[A]?.drift;
    expect(await driftOf()).toBeUndefined();
    unitsIn(A).clear();
    await sweep();
    expect(await driftOf()).toMatchObject({
      kind: "ClassRuntime",
      name: UNIT,
      fields: [{ path: "", was: "missing", now: "sent" }],
      durationMs: expect.any(Number),
      count: 1,
    });
    expect(reported).toEqual([[KEY, "a", `ClassRuntime ${UNIT}: the object was missing, is sent again.`]]);

    await sweep();
    fixture.clusters.edit(A, UNIT, { classKey: "Edited" });
    await sweep();
    expect(await driftOf()).toMatchObject({
      fields: [{ path: ".spec", was: expect.stringMatching(/^edited \(generation \d+\)$/) }],
      count: 2,
    });
    expect(reported).toHaveLength(2);
  });

  test("one unreadable saga: logged, and all other deployments are repaired", async () => {
    const others = Array.from({ length: 3 }, (_, at) => `other-${at}` as DeploymentKey);
    for (const key of others) {
      await fixture.drive(manager.service.apply({ deployment: deploymentFor(["a"], { key }) }, CALL, {}));
    }
    const logs = createRecordingLogger();
    fixture.driftOptions = { logger: logs.log };
    await fixture.drive(manager.close());
    manager = await fixture.manager();
    await putText(`c/sagas/deployment/${KEY}`, "{}");
    unitsIn(A).clear();
    const { repaired } = await fixture.drive(manager.drift.sweep());
    expect(repaired.toSorted()).toEqual(others);
    const { fields } = logs.only("repair deployment failed");
    expect(fields).toMatchObject({ deployment_id: KEY });
    expect(JSON.stringify(fields)).toContain("OAAS_STORE_VALUE_INVALID");
  });

  test("an unreadable deployment: its units are left alone, and surplus units of others are removed", async () => {
    const late = strayOf(A);
    const other = "other" as DeploymentKey;
    await fixture.drive(manager.service.apply({ deployment: deploymentFor(["a"], { key: other }) }, CALL, {}));
    await fixture.drive(manager.service.remove(KEY, CALL, {}));
    unitsIn(A).set(UNIT, late);
    await putText(`c/deployments/${other}`, "{}");
    await fixture.advance(1_000);
    expect(await fixture.drive(manager.drift.sweep())).toMatchObject({ removed: [], suspected: [UNIT] });
    expect(await fixture.drive(manager.drift.sweep())).toMatchObject({ removed: [UNIT], unaccounted: [] });
    expect([...unitsIn(A).keys()]).toEqual([unitIdOf(other, A)]);
  });

  test("changed: repaired", async () => {
    const digest = unitsIn(A).get(UNIT)!.digest!;
    unitsIn(A).set(UNIT, { ...unitsIn(A).get(UNIT)!, digest: "tampered" });
    expect((await sweep()).repaired).toEqual([KEY]);
    expect(unitsIn(A).get(UNIT)!.digest).toBe(digest);
  });

  test("edited in the cluster, visible only by generation: repaired once", async () => {
    await sweep();
    const { classKey } = unitsIn(A).get(UNIT)!;
    fixture.clusters.edit(A, UNIT, { classKey: "Edited" });
    expect((await sweep()).repaired).toEqual([KEY]);
    expect(unitsIn(A).get(UNIT)!.classKey).toBe(classKey);
    await sweep();
    const { commits } = manager.hooked;
    expect((await sweep()).repaired).toEqual([]);
    expect(manager.hooked.commits).toBe(commits);
    expect(fixture.clusters.calls).toMatchObject([{ op: "deploy", cluster: "a" }]);
  });

  test("of other owners: counted and left alone", async () => {
    unitsIn(A).set("theirs" as UnitId, foreign("theirs", "another-owner"));
    unitsIn(A).set("nobodys" as UnitId, foreign("nobodys"));
    for (let round = 0; round < 3; round += 1) expect(await sweep()).toMatchObject({ removed: [], foreign: 2 });
    expect([...unitsIn(A).keys()].sort()).toEqual(["nobodys", UNIT, "theirs"].sort());
  });

  test("late after the deletion of their deployment: removed by the second sweep", async () => {
    const late = strayOf(A);
    await fixture.drive(manager.service.remove(KEY, CALL, {}));
    unitsIn(A).set(UNIT, late);
    expect(await sweep()).toMatchObject({ removed: [], suspected: [UNIT], unaccounted: [] });
    expect(await sweep()).toMatchObject({ removed: [UNIT], suspected: [], unaccounted: [] });
    expect(fixture.clusters.inventory).toEqual([]);
  });

  test("late in a cluster that the deployment has left: removed", async () => {
    const late = strayOf(A);
    await fixture.drive(manager.service.apply({ deployment: deploymentFor(["b"]) }, CALL, {}));
    unitsIn(A).set(UNIT, late);
    await sweep();
    expect(await sweep()).toMatchObject({ removed: [UNIT], unaccounted: [] });
  });

  test("in one cluster under two names: reported and never removed", async () => {
    await fixture.drive(manager.service.apply({ deployment: deploymentFor(["a"]) }, CALL, {}));
    fixture.clusters.calls.length = 0;
    fixture.clusters.units.set("b" as ClusterName, unitsIn(A));
    for (let round = 0; round < 3; round += 1) expect(await sweep()).toMatchObject({ removed: [], suspected: [] });
    expect(fixture.clusters.calls).toEqual([]);
    expect(manager.drift.unaccounted).toMatchObject([{ cluster: "b", home: "a", unitId: UNIT }]);
    await fixture.drive(manager.service.remove(KEY, CALL, {}));
    await sweep();
    expect([unitsIn(A).size, manager.drift.unaccounted]).toEqual([0, []]);
  });

  test("surplus: only the reported revision is removed, not a newer one", async () => {
    const late = strayOf(A);
    await fixture.drive(manager.service.remove(KEY, CALL, {}));
    unitsIn(A).set(UNIT, late);
    await sweep();
    manager.onCall = async ({ op }, effect) => {
      if (op === "remove") unitsIn(A).set(UNIT, { ...late, revision: late.revision! + 1n });
      effect();
    };
    expect(await sweep()).toMatchObject({ removed: [], suspected: [UNIT] });
    expect(unitsIn(A).size).toBe(1);
  });

  test("drops the records of ended deployments after their retention time", async () => {
    await fixture.drive(manager.service.remove(KEY, CALL, {}));
    const remembered = () => manager.parts.deployments.ended.lastUnitRevision(KEY);
    fixture.clusters.down.add("b");
    await fixture.advance(2 * 60 * 60_000);
    await sweep();
    expect(await remembered(), "a cluster is unreachable").toBeDefined();
    fixture.clusters.down.clear();
    await sweep();
    expect(await remembered()).toBeUndefined();
  });

  test("does nothing while a saga is running", async () => {
    manager.onCall = async (_, effect) => sleep(fixture.at.ambient.timers, 5_000).then(effect);
    fixture.publish();
    const update = manager.service.apply({ deployment: deploymentFor(["a", "b"]) }, CALL, {});
    await fixture.advance(1_000);
    unitsIn(A).clear();
    expect((await fixture.drive(manager.drift.sweep())).repaired).toEqual([]);
    await fixture.drive(update);
    expect(fixture.clusters.calls).toHaveLength(2);
  });

  test("does not query an unreachable cluster or treat its units as missing", async () => {
    fixture.clusters.down.add("a");
    expect(await sweep()).toMatchObject({ unreachable: ["a"], repaired: [] });
    expect(fixture.clusters.calls).toEqual([]);
  });
});

describe("lists show reported changes soon:", () => {
  const condition = () => manager.service.list({}).then(({ items }) => items[0]?.condition);
  const tell = async (cluster: ClusterName) => {
    const unitId = unitIdOf(KEY, cluster);
    const report = (await fixture.clusters.unit(cluster, unitId))!;
    manager.lastReports.set(`${cluster}/${unitId}`, report);
    manager.drift.observe(cluster, { type: "changed", report });
  };

  test("changes reported before the operation ended", async () => {
    manager.drift.start();
    await fixture.advance(1_000);
    manager.onCall = async (call, effect) => {
      effect();
      await tell(call.cluster);
      await sleep(fixture.at.ambient.timers, 3_000);
    };
    fixture.publish();
    const update = manager.service.apply({ deployment: deploymentFor(["a", "b"]) }, CALL, {});
    await fixture.advance(2_000);
    expect(await condition()).toBe("deploying");
    await fixture.drive(update);
    await fixture.advance(500);
    expect(await condition()).toBe("running");
    expect(manager.service.operation(KEY)).toMatchObject({ kind: "deploy", state: "succeeded" });
    await fixture.drive(manager.drift.close());
  });

  test("not reports of an older unit", async () => {
    manager.drift.start();
    await fixture.advance(1_000);
    for (const cluster of [A, "b" as ClusterName]) await tell(cluster);
    fixture.publish();
    await fixture.drive(manager.service.apply({ deployment: deploymentFor(["a", "b"]) }, CALL, {}));
    const { commits } = manager.hooked;
    await fixture.advance(500);
    expect([await condition(), manager.hooked.commits - commits]).toEqual(["deploying", 0]);
    await fixture.drive(manager.drift.close());
  });

  test("changes during a sweep that waits for one cluster", async () => {
    const slow = Promise.withResolvers<void>();
    const reading = fixture.clusters.reading.bind(fixture.clusters);
    fixture.clusters.reading = async (cluster) => {
      await slow.promise;
      return reading(cluster);
    };
    manager.drift.start();
    await fixture.advance(1_000);
    for (const cluster of [A, "b" as ClusterName]) await tell(cluster);
    await fixture.advance(500);
    expect(await condition()).toBe("running");
    slow.resolve();
    await fixture.drive(manager.drift.close());
  });

  test("and continuous changes do not delay the sweep", async () => {
    manager.drift.start();
    await fixture.advance(1_000);
    unitsIn(A).clear();
    for (let second = 0; second < 70; second += 1) {
      fixture.clusters.stuck[second % 2 === 0 ? "add" : "delete"]("b");
      await tell("b" as ClusterName);
      await fixture.advance(1_000);
    }
    expect(unitsIn(A).size).toBe(1);
    await fixture.drive(manager.drift.close());
  });
});

test("retries a failing store with a delay", async () => {
  let commits = 0;
  manager.onCommit = () => {
    commits += 1;
    return Promise.reject(lostResponse());
  };
  manager.drift.start();
  await fixture.advance(31_000);
  expect(commits).toBeLessThan(10);
  manager.onCommit = undefined;
  unitsIn(A).clear();
  await fixture.advance(16_000);
  await fixture.untilIdle(manager);
  expect(unitsIn(A).size).toBe(1);
  manager.onCommit = () => Promise.reject(lostResponse());
  unitsIn(A).clear();
  await fixture.advance(70_000);
  manager.onCommit = undefined;
  await fixture.advance(70_000);
  expect(unitsIn(A).size, "trouble in the midst of its work does not end it").toBe(1);
  await fixture.drive(manager.drift.close());
});

test("sweeps on an interval and after a change, in one process only", async () => {
  const other = await fixture.manager();
  manager.drift.start();
  await fixture.advance(100);
  other.drift.start();
  await fixture.advance(1_000);
  unitsIn(A).clear();
  manager.drift.observe(A, { type: "removed", unitId: UNIT });
  await fixture.advance(1_000);
  expect(unitsIn(A).size).toBe(1);
  unitsIn(A).clear();
  await fixture.advance(61_000);
  expect(unitsIn(A).size).toBe(1);
  expect(fixture.clusters.calls).toHaveLength(2);
  await fixture.drive(Promise.all([manager.drift.close(), other.drift.close()]));
});
