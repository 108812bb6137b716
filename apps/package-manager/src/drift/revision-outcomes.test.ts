import type { ClusterName, RevisionOutcome } from "@oaas/models";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentFixture,
  deploymentFor,
  KEY,
  memoryFixtureStore,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-fixture.ts";

let fixture: DeploymentFixture;
let manager: ManagerUnderTest;
beforeEach(async () => {
  fixture = new DeploymentFixture(await memoryFixtureStore(), ["a", "b"]);
  manager = await fixture.manager();
});
afterEach(() => fixture.dispose());

const apply = () => fixture.drive(manager.service.apply({ deployment: deploymentFor(["a", "b"]) }, CALL, {}));
const update = () => {
  fixture.publish();
  return apply();
};
const sweep = async (): Promise<void> => {
  await fixture.drive(manager.drift.sweep());
  await fixture.untilIdle(manager);
};
const outcomes = async (): Promise<readonly RevisionOutcome[]> =>
  (await manager.service.revisions(KEY, {})).items.map(({ outcome }) => outcome);
const condition = async () => (await manager.service.get(KEY)).value.condition;
const fail = (failure: "degraded" | "down", ...clusters: readonly string[]): void => {
  for (const cluster of clusters) fixture.clusters.failing.set(cluster as ClusterName, failure);
};

describe("the outcome of a revision", () => {
  test("is accepted until its clusters report, then running with the time", async () => {
    await apply();
    expect(await outcomes()).toEqual(["accepted"]);
    expect((await manager.service.revision(KEY, 1)).outcomeAt).toBeUndefined();
    await sweep();
    expect(await outcomes()).toEqual(["running"]);
    expect((await manager.service.revision(KEY, 1)).outcomeAt).toMatch(/^\d{4}-.*Z$/);
  });

  test("is degraded while the earlier revision serves, and running after a rollback", async () => {
    await apply();
    await sweep();
    fail("degraded", "a", "b");
    await update();
    await sweep();
    expect(await outcomes()).toEqual(["degraded", "running"]);
    expect(await condition()).toBe("degraded");
    fixture.clusters.failing.clear();
    await fixture.drive(manager.service.rollBack(KEY, 1, CALL, {}));
    await sweep();
    expect(await outcomes()).toEqual(["running", "degraded", "running"]);
    expect(await condition()).toBe("running");
  });

  test("is degraded when one of two clusters is down, and failed when both are", async () => {
    fail("down", "a");
    await apply();
    await sweep();
    expect(await outcomes()).toEqual(["degraded"]);
    fail("down", "b");
    await sweep();
    expect(await outcomes()).toEqual(["failed"]);
  });

  test("becomes running when a failed revision recovers, and later faults do not change it", async () => {
    fail("down", "a", "b");
    await apply();
    await sweep();
    expect(await outcomes()).toEqual(["failed"]);
    fixture.clusters.failing.clear();
    await sweep();
    expect(await outcomes()).toEqual(["running"]);
    const { outcomeAt } = await manager.service.revision(KEY, 1);
    await fixture.advance(1_000);
    fail("down", "a", "b");
    await sweep();
    expect(await condition()).toBe("down");
    expect(await manager.service.revision(KEY, 1)).toMatchObject({ outcome: "running", outcomeAt });
  });

  test("is superseded when a newer revision comes before the first report", async () => {
    await apply();
    await update();
    expect(await outcomes()).toEqual(["accepted", "superseded"]);
  });

  test("survives a restart, and nothing is written when nothing changed", async () => {
    fail("degraded", "a", "b");
    await apply();
    await sweep();
    const before = await manager.service.revision(KEY, 1);
    await fixture.drive(manager.close());
    manager = await fixture.manager();
    await sweep();
    const { commits } = manager.hooked;
    await sweep();
    expect(manager.hooked.commits).toBe(commits);
    expect(await manager.service.revision(KEY, 1)).toEqual(before);
    expect(before.outcome).toBe("degraded");
  });
});
