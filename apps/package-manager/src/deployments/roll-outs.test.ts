import { failedPrecondition, sleep, unavailable } from "@oaas/foundation";
import { RolloutFailure, RolloutGate, RolloutStrategy, type ClusterName, type Rollout } from "@oaas/models";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentFixture,
  KEY,
  memoryFixtureStore,
  deploymentFor,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-fixture.ts";
import type { Acknowledgement } from "../use-cases.ts";

const ROLLING: Rollout = {
  strategy: RolloutStrategy.rolling,
  maxParallel: 1,
  gate: RolloutGate.available,
  onFailure: RolloutFailure.stop,
};
const WITH_ROLL_BACK = { rollout: { ...ROLLING, onFailure: RolloutFailure.rollBack } };

let fixture: DeploymentFixture;
let manager: ManagerUnderTest;
beforeEach(async () => {
  fixture = new DeploymentFixture(await memoryFixtureStore(), ["a", "b", "c"]);
  manager = await fixture.manager({ waitMs: 1_000 });
});
afterEach(() => fixture.dispose());

const request = (more: Parameters<typeof deploymentFor>[1] = {}) => ({
  deployment: deploymentFor(["a", "b", "c"], more),
});
const begin = (more: Parameters<typeof deploymentFor>[1] = {}): Promise<Acknowledgement> =>
  manager.service.apply(request(more), CALL, {});
const apply = (more: Parameters<typeof deploymentFor>[1] = {}): Promise<Acknowledgement> => fixture.drive(begin(more));
const removeIn = (cluster: string) =>
  fixture.drive(manager.service.remove(KEY, CALL, { cluster: cluster as ClusterName }));
const deployedTo = (): string =>
  fixture.clusters.calls
    .filter(({ op }) => op === "deploy")
    .map(({ cluster }) => cluster)
    .join(" ");
const entry = (revision: number) => manager.service.revision(KEY, revision);

describe("a rolling roll-out", () => {
  test("follows the cluster order of its plan", async () => {
    await apply();
    fixture.publish();
    fixture.clusters.stuck.add("a");
    const update = begin({ rollout: ROLLING });
    await fixture.advance(2_000);
    await fixture.drive(manager.service.cancel(KEY, CALL));
    await fixture.drive(update);
    await fixture.untilIdle(manager);
    fixture.clusters.stuck.clear();
    fixture.clusters.calls.length = 0;
    await apply({ rollout: ROLLING });
    await fixture.untilIdle(manager);
    expect(deployedTo()).toBe("a b c");
  });

  test("keeps its gate when the deployment is deleted in one cluster, without delaying the deletion", async () => {
    await apply();
    fixture.publish();
    fixture.clusters.stuck.add("a");
    const update = begin({ rollout: ROLLING });
    await fixture.advance(500);
    fixture.clusters.calls.length = 0;
    expect(await removeIn("c")).toMatchObject({ status: "deleted", deleted: ["c"], pending: [] });
    await fixture.drive(update);
    await fixture.advance(20_000);
    expect(deployedTo(), "a is not available, so that b has to wait").toBe("a");
    fixture.clusters.stuck.clear();
    await fixture.untilIdle(manager);
    expect(deployedTo()).toBe("a b");
    await fixture.assertConverged(manager);
    expect(await entry(3)).toMatchObject({
      outcome: "running",
      clusters: { a: "accepted", b: "accepted", c: "removed" },
    });
  });

  test("stops at a closed gate after a deletion in one cluster and does not restore the unit", async () => {
    await apply();
    fixture.publish();
    fixture.clusters.stuck.add("a");
    const update = begin(WITH_ROLL_BACK);
    await fixture.advance(500);
    await removeIn("c");
    await fixture.drive(update);
    await fixture.untilIdle(manager);
    await fixture.drive(manager.drift.sweep());
    expect([...fixture.clusters.units].map(([name, { size }]) => `${name}${size}`)).toEqual(["a1", "b1", "c0"]);
    expect(await entry(3)).toMatchObject({ outcome: "failed", clusters: { b: "not started", c: "removed" } });
  });
});

describe("a rolling roll-out of a new class", () => {
  test.each([
    { why: "one cluster after the other", more: {}, sent: "a" },
    {
      why: "all clusters of a state store together, because one has no quorum",
      more: { addons: ["odgm"] },
      sent: "a b c",
    },
  ])("starts $why", async ({ more, sent }) => {
    fixture.clusters.stuck.add("a").add("b").add("c");
    const first = begin({ rollout: ROLLING, ...more });
    await fixture.advance(2_000);
    expect(deployedTo()).toBe(sent);
    fixture.clusters.stuck.clear();
    await fixture.drive(first);
    await fixture.untilIdle(manager);
    fixture.publish();
    fixture.clusters.stuck.add("a");
    fixture.clusters.calls.length = 0;
    const update = begin({ rollout: ROLLING, ...more });
    await fixture.advance(2_000);
    expect(deployedTo(), "an update goes one by one").toBe("a");
    fixture.clusters.stuck.clear();
    await fixture.drive(update);
  });
});

test("undoes a change of the layout of a state store with the permission of that change", async () => {
  manager = await fixture.manager({ waitMs: 600_000 });
  const state = { addons: ["odgm"], nfr: {} };
  const odgm = { collections: [], nodeIds: {}, replicaCount: 3 };
  await apply({ ...state, odgm });
  fixture.clusters.stuck.add("b");
  const changed = { ...state, odgm: { ...odgm, replicaCount: 5, allowLayoutChange: true }, ...WITH_ROLL_BACK };
  await expect(apply(changed)).rejects.toMatchObject({ kind: "partial-failure" });
  const [unit] = fixture.clusters.units.get("a" as ClusterName)?.values() ?? [];
  expect(unit?.odgmConfig).toMatchObject({ replicaCount: 3, allowLayoutChange: true });
});

describe("history and response", () => {
  test("name the caller that cancelled", async () => {
    await apply();
    manager = await fixture.manager();
    manager.onCall = async (_, effect) => sleep(fixture.at.ambient.timers, 3_000).then(effect);
    fixture.publish();
    const update = begin();
    await fixture.advance(200);
    await fixture.drive(manager.service.cancel(KEY, { ...CALL, caller: "eve" }));
    await expect(fixture.drive(update)).rejects.toMatchObject({
      kind: "cancelled",
      message: `the operation on deployment "${KEY}" was cancelled by eve`,
    });
    expect((await entry(2)).clusters["*"]).toBe("cancelled by eve");
  });

  test("give the reason of an undo and the clusters where it is pending", async () => {
    manager = await fixture.manager({ waitMs: 600_000 });
    await apply();
    const before = fixture.clusters.inventory;
    fixture.publish();
    fixture.clusters.stuck.add("b");
    const sent = new Map<string, number>();
    manager.onCall = async ({ op, cluster }, effect) => {
      const count = (sent.get(cluster) ?? 0) + 1;
      sent.set(cluster, count);
      // The second call is the undo.
      if (op === "deploy" && cluster === "a" && count > 1) throw unavailable("a", "a is down");
      if (op === "deploy" && cluster === "b" && count > 1) throw failedPrecondition("b", "b has enough");
      effect();
    };
    await expect(apply(WITH_ROLL_BACK)).rejects.toMatchObject({
      kind: "partial-failure",
      message: expect.stringMatching(
        /^deployment "orders" was undone because it failed; not restored yet in a: a is down; b: b has enough; failed before: .* did not become/,
      ),
    });
    expect(await entry(2)).toMatchObject({
      outcome: "rolled-back",
      clusters: {
        a: "not restored yet: a is down",
        b: expect.stringMatching(/^not restored yet: b has enough; failed before: .* did not become available in b/),
        c: "not started",
      },
    });
    manager.onCall = async (_, effect) => effect();
    fixture.clusters.stuck.clear();
    await fixture.drive(manager.service.rollBack(KEY, 1, CALL, {}));
    expect(fixture.clusters.inventory).toEqual(before);
  });

  test("announce retries for transient failures only", async () => {
    for (const name of ["a", "b", "c"]) fixture.clusters.rejecting.add(name);
    await expect(apply()).rejects.toMatchObject({ message: expect.not.stringMatching(/will be retried/) });
    fixture.clusters.rejecting.clear();
    for (const name of ["a", "b", "c"]) fixture.clusters.down.add(name);
    await expect(apply()).rejects.toMatchObject({
      message: expect.stringMatching(
        /does not answer; the deployment will be retried until it succeeds; delete it or roll back to stop/,
      ),
    });
  });

  test("return accepted when the store fails after the commit", async () => {
    await apply();
    manager.onCall = async (_, effect) => sleep(fixture.at.ambient.timers, 5_000).then(effect);
    const { deployments } = manager.parts;
    const read = deployments.get.bind(deployments);
    for (const start of [
      () => manager.service.apply({ deployment: deploymentFor(["a"]) }, CALL, {}),
      () => manager.service.remove(KEY, CALL, {}),
    ]) {
      const started: Promise<unknown> = start();
      await fixture.advance(200);
      deployments.get = () => Promise.reject(unavailable("the store", "it is gone"));
      expect(await fixture.drive(started)).toMatchObject({ status: "accepted" });
      deployments.get = read;
    }
  });

  test("name the caller that deleted, until the last unit is removed", async () => {
    await apply();
    fixture.clusters.down.add("b");
    await fixture.drive(manager.service.remove(KEY, { ...CALL, caller: "bob", reason: "not used" }, {}));
    expect((await entry(1)).clusters).toMatchObject({ b: "accepted", "*": "deleted by bob: not used" });
    await fixture.drive(manager.service.remove(KEY, { ...CALL, caller: "eve" }, {}));
    expect((await entry(1)).clusters["*"], "it was requested before").toBe("deleted by bob: not used");
  });

  test("show the outcome when a missing unit is sent later", async () => {
    manager = await fixture.manager({ waitMs: 600_000 });
    fixture.clusters.stuck.add("b");
    await expect(apply({ rollout: ROLLING })).rejects.toMatchObject({ kind: "partial-failure" });
    expect(await entry(1)).toMatchObject({ outcome: "failed", clusters: { a: "accepted", c: "not started" } });
    fixture.clusters.stuck.clear();
    expect(await apply({ rollout: ROLLING })).toMatchObject({ status: "unchanged" });
    const all = { a: "accepted", b: "accepted", c: "accepted" };
    expect(await entry(1), "applied again").toMatchObject({ outcome: "accepted", clusters: all });

    fixture.publish();
    fixture.clusters.down.add("c");
    await apply();
    expect(await entry(2)).toMatchObject({
      outcome: "failed",
      clusters: { c: expect.stringMatching(/^not accepted/) },
    });
    await fixture.assertConverged(manager);
    expect(await entry(2), "repaired").toMatchObject({ outcome: "running", clusters: all });
  });
});

describe("deletion in an unreachable cluster", () => {
  test("creates no new revision on repetition, and the history shows the end", async () => {
    await apply();
    fixture.clusters.down.add("c");
    expect(await removeIn("c")).toMatchObject({ status: "accepted", pending: ["c"] });
    expect(await removeIn("c")).toMatchObject({ status: "accepted", pending: ["c"] });
    expect((await manager.service.revisions(KEY, {})).total).toBe(2);
    expect((await entry(2)).clusters["c"]).toMatch(/^not removed yet/);
    fixture.clusters.down.clear();
    expect(await removeIn("c")).toMatchObject({ status: "deleted", deleted: ["c"] });
    expect((await entry(2)).clusters).toEqual({ c: "removed" });
  });

  test("reports the leftover of an undone revision and removes it later", async () => {
    manager = await fixture.manager({ rollBackOnPartial: true });
    fixture.clusters.down.add("c");
    await expect(apply()).rejects.toMatchObject({ kind: "partial-failure" });
    expect(await removeIn("c")).toMatchObject({ status: "accepted", pending: ["c"] });
    fixture.clusters.down.clear();
    expect(await removeIn("c")).toMatchObject({ status: "deleted", deleted: ["c"] });
    expect(await removeIn("c")).toMatchObject({
      status: "deleted",
      deleted: [],
      message: expect.stringMatching(/is not in c/),
    });
  });

  test("has nothing to delete in other clusters and rejects unknown names during a full deletion", async () => {
    await apply();
    fixture.clusters.down.add("c");
    await fixture.drive(manager.service.remove(KEY, CALL, {}));
    expect(await removeIn("b")).toMatchObject({
      status: "deleted",
      deleted: [],
      message: expect.stringMatching(/is not in b/),
    });
    await expect(removeIn("nowhere")).rejects.toMatchObject({ kind: "invalid-argument" });
    expect(await removeIn("c")).toMatchObject({ status: "accepted", pending: ["c"] });
  });

  test("does not report pending removals in other clusters", async () => {
    await apply();
    fixture.clusters.down.add("c");
    await removeIn("c");
    expect(await removeIn("b")).toMatchObject({ status: "deleted", deleted: ["b"], pending: [] });
  });
});

test("rolls back to a revision that was withdrawn from an unregistered cluster", async () => {
  const needed: (readonly string[])[] = [];
  manager = await fixture.manager({
    clusterReferences: {
      stageReference: async (names) => {
        needed.push(names);
        return { writes: [] };
      },
    },
  });
  await apply();
  await removeIn("c");
  await fixture.drive(manager.service.apply({ deployment: deploymentFor(["a"]) }, CALL, {}));
  await fixture.drive(manager.service.rollBack(KEY, 2, CALL, {}));
  expect(needed.at(-1)).toEqual(["a", "b"]);
});
