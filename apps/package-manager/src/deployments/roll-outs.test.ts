import { failedPrecondition, sleep, unavailable } from "@oaas/foundation";
import { RolloutFailure, RolloutGate, RolloutStrategy, type ClusterName, type Rollout } from "@oaas/models";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentWorld,
  KEY,
  memoryWorldStore,
  wishFor,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-world.ts";
import type { Acknowledgement } from "../use-cases.ts";

const ROLLING: Rollout = {
  strategy: RolloutStrategy.rolling,
  maxParallel: 1,
  gate: RolloutGate.available,
  onFailure: RolloutFailure.stop,
};
const WITH_ROLL_BACK = { rollout: { ...ROLLING, onFailure: RolloutFailure.rollBack } };

let world: DeploymentWorld;
let manager: ManagerUnderTest;
beforeEach(async () => {
  world = new DeploymentWorld(await memoryWorldStore(), ["a", "b", "c"]);
  manager = await world.manager({ waitMs: 1_000 });
});
afterEach(() => world.dispose());

const wish = (more: Parameters<typeof wishFor>[1] = {}) => ({ deployment: wishFor(["a", "b", "c"], more) });
const begin = (more: Parameters<typeof wishFor>[1] = {}): Promise<Acknowledgement> =>
  manager.service.apply(wish(more), CALL, {});
const apply = (more: Parameters<typeof wishFor>[1] = {}): Promise<Acknowledgement> => world.drive(begin(more));
const removeIn = (cluster: string) =>
  world.drive(manager.service.remove(KEY, CALL, { cluster: cluster as ClusterName }));
const deployedTo = (): string =>
  world.clusters.calls
    .filter(({ op }) => op === "deploy")
    .map(({ cluster }) => cluster)
    .join(" ");
const entry = (revision: number) => manager.service.revision(KEY, revision);

describe("a rolling roll-out", () => {
  test("goes through the clusters in the order of its plan, whatever became of those before it", async () => {
    await apply();
    world.publish();
    world.clusters.stuck.add("a");
    const update = begin({ rollout: ROLLING });
    await world.pass(2_000);
    await world.drive(manager.service.cancel(KEY, CALL));
    await world.drive(update);
    await world.quiet(manager);
    world.clusters.stuck.clear();
    world.clusters.calls.length = 0;
    await apply({ rollout: ROLLING });
    await world.quiet(manager);
    expect(deployedTo()).toBe("a b c");
  });

  test("its gate holds also when it is taken out of a cluster meanwhile, which does not wait for it", async () => {
    await apply();
    world.publish();
    world.clusters.stuck.add("a");
    const update = begin({ rollout: ROLLING });
    await world.pass(500);
    world.clusters.calls.length = 0;
    expect(await removeIn("c")).toMatchObject({ status: "deleted", deleted: ["c"], pending: [] });
    await world.drive(update);
    await world.pass(20_000);
    expect(deployedTo(), "a is not available, so that b has to wait").toBe("a");
    world.clusters.stuck.clear();
    await world.quiet(manager);
    expect(deployedTo()).toBe("a b");
    await world.assertConverged(manager);
    expect(await entry(3)).toMatchObject({
      outcome: "succeeded",
      clusters: { a: "accepted", b: "accepted", c: "removed" },
    });
  });

  test("taken out of a cluster meanwhile, it stops at a gate that is not passed, and nothing comes back", async () => {
    await apply();
    world.publish();
    world.clusters.stuck.add("a");
    const update = begin(WITH_ROLL_BACK);
    await world.pass(500);
    await removeIn("c");
    await world.drive(update);
    await world.quiet(manager);
    await world.drive(manager.keeper.sweep());
    expect([...world.clusters.units].map(([name, { size }]) => `${name}${size}`)).toEqual(["a1", "b1", "c0"]);
    expect(await entry(3)).toMatchObject({ outcome: "failed", clusters: { b: "not started", c: "removed" } });
  });
});

describe("what the history and the caller are told", () => {
  test("who cancelled it", async () => {
    await apply();
    manager = await world.manager();
    manager.onCall = async (_, effect) => sleep(world.at.ambient.timers, 3_000).then(effect);
    world.publish();
    const update = begin();
    await world.pass(200);
    await world.drive(manager.service.cancel(KEY, { ...CALL, caller: "eve" }));
    await expect(world.drive(update)).rejects.toMatchObject({
      kind: "cancelled",
      message: `the operation on deployment "${KEY}" was cancelled by eve`,
    });
    expect((await entry(2)).clusters["*"]).toBe("cancelled by eve");
  });

  test("why it was undone, and where that could not be done yet", async () => {
    manager = await world.manager({ waitMs: 600_000 });
    await apply();
    const before = world.clusters.inventory;
    world.publish();
    world.clusters.stuck.add("b");
    const sent = new Map<string, number>();
    manager.onCall = async ({ op, cluster }, effect) => {
      const count = (sent.get(cluster) ?? 0) + 1;
      sent.set(cluster, count);
      // The second time is the undoing.
      if (op === "deploy" && cluster === "a" && count > 1) throw unavailable("a", "a is away");
      if (op === "deploy" && cluster === "b" && count > 1) throw failedPrecondition("b", "b has enough");
      effect();
    };
    await expect(apply(WITH_ROLL_BACK)).rejects.toMatchObject({
      kind: "partial-failure",
      message: expect.stringMatching(
        /^deployment "orders" was undone because it failed; not restored yet in a: a is away; b: b has enough; failed before: .* did not become/,
      ),
    });
    expect(await entry(2)).toMatchObject({
      outcome: "compensated",
      clusters: {
        a: "not restored yet: a is away",
        b: expect.stringMatching(/^not restored yet: b has enough; failed before: .* did not become available in b/),
        c: "not started",
      },
    });
    manager.onCall = async (_, effect) => effect();
    world.clusters.stuck.clear();
    await world.drive(manager.service.rollBack(KEY, 1, CALL, {}));
    expect(world.clusters.inventory).toEqual(before);
  });

  test("that it is still wanted where it failed for now, and not where it was refused", async () => {
    for (const name of ["a", "b", "c"]) world.clusters.refusing.add(name);
    await expect(apply()).rejects.toMatchObject({ message: expect.not.stringMatching(/will be retried/) });
    world.clusters.refusing.clear();
    for (const name of ["a", "b", "c"]) world.clusters.down.add(name);
    await expect(apply()).rejects.toMatchObject({
      message: expect.stringMatching(
        /does not answer; the deployment will be retried until it succeeds; delete it or roll back to stop/,
      ),
    });
  });

  test("what is written is accepted, also when the store goes away while the caller waits", async () => {
    await apply();
    manager.onCall = async (_, effect) => sleep(world.at.ambient.timers, 5_000).then(effect);
    const { deployments } = manager.parts;
    const read = deployments.get.bind(deployments);
    for (const ask of [
      () => manager.service.apply({ deployment: wishFor(["a"]) }, CALL, {}),
      () => manager.service.remove(KEY, CALL, {}),
    ]) {
      const asked: Promise<unknown> = ask();
      await world.pass(200);
      deployments.get = () => Promise.reject(unavailable("the store", "it is gone"));
      expect(await world.drive(asked)).toMatchObject({ status: "accepted" });
      deployments.get = read;
    }
  });

  test("who deleted it, for as long as something is left of it", async () => {
    await apply();
    world.clusters.down.add("b");
    await world.drive(manager.service.remove(KEY, { ...CALL, caller: "bob", reason: "not used" }, {}));
    expect((await entry(1)).clusters).toMatchObject({ b: "accepted", "*": "deleted by bob: not used" });
    await world.drive(manager.service.remove(KEY, { ...CALL, caller: "eve" }, {}));
    expect((await entry(1)).clusters["*"], "it was asked for before").toBe("deleted by bob: not used");
  });

  test("a wish that was missing somewhere has succeeded when that is made up for", async () => {
    manager = await world.manager({ waitMs: 600_000 });
    world.clusters.stuck.add("b");
    await expect(apply({ rollout: ROLLING })).rejects.toMatchObject({ kind: "partial-failure" });
    expect(await entry(1)).toMatchObject({ outcome: "failed", clusters: { a: "accepted", c: "not started" } });
    world.clusters.stuck.clear();
    expect(await apply({ rollout: ROLLING })).toMatchObject({ status: "unchanged" });
    const all = { a: "accepted", b: "accepted", c: "accepted" };
    expect(await entry(1), "asked for again").toMatchObject({ outcome: "succeeded", clusters: all });

    world.publish();
    world.clusters.down.add("c");
    await apply();
    expect(await entry(2)).toMatchObject({
      outcome: "failed",
      clusters: { c: expect.stringMatching(/^not accepted/) },
    });
    await world.assertConverged(manager);
    expect(await entry(2), "repaired").toMatchObject({ outcome: "succeeded", clusters: all });
  });
});

describe("taken out of a cluster that is away", () => {
  test("asking again makes no new wish, and the history tells when it is done", async () => {
    await apply();
    world.clusters.down.add("c");
    expect(await removeIn("c")).toMatchObject({ status: "accepted", pending: ["c"] });
    expect(await removeIn("c")).toMatchObject({ status: "accepted", pending: ["c"] });
    expect((await manager.service.revisions(KEY, {})).total).toBe(2);
    expect((await entry(2)).clusters["c"]).toMatch(/^not removed yet/);
    world.clusters.down.clear();
    expect(await removeIn("c")).toMatchObject({ status: "deleted", deleted: ["c"] });
    expect((await entry(2)).clusters).toEqual({ c: "removed" });
  });

  test("what an undone wish left there is told, and removed when it can be", async () => {
    manager = await world.manager({ rollBackOnPartial: true });
    world.clusters.down.add("c");
    await expect(apply()).rejects.toMatchObject({ kind: "partial-failure" });
    expect(await removeIn("c")).toMatchObject({ status: "accepted", pending: ["c"] });
    world.clusters.down.clear();
    expect(await removeIn("c")).toMatchObject({ status: "deleted", deleted: ["c"] });
    expect(await removeIn("c")).toMatchObject({
      status: "deleted",
      deleted: [],
      message: expect.stringMatching(/is not in c/),
    });
  });

  test("while it is being deleted everywhere: where it is not, there is nothing to delete, and unknown names are refused", async () => {
    await apply();
    world.clusters.down.add("c");
    await world.drive(manager.service.remove(KEY, CALL, {}));
    expect(await removeIn("b")).toMatchObject({
      status: "deleted",
      deleted: [],
      message: expect.stringMatching(/is not in b/),
    });
    await expect(removeIn("nowhere")).rejects.toMatchObject({ kind: "invalid-argument" });
    expect(await removeIn("c")).toMatchObject({ status: "accepted", pending: ["c"] });
  });

  test("what else is to be removed elsewhere is nothing that the caller asked about", async () => {
    await apply();
    world.clusters.down.add("c");
    await removeIn("c");
    expect(await removeIn("b")).toMatchObject({ status: "deleted", deleted: ["b"], pending: [] });
  });
});

test("back to what was taken out of a cluster that is not known any more: that one is not needed", async () => {
  const needed: (readonly string[])[] = [];
  manager = await world.manager({
    clusterReferences: {
      stageReference: async (names) => {
        needed.push(names);
        return { writes: [] };
      },
    },
  });
  await apply();
  await removeIn("c");
  await world.drive(manager.service.apply({ deployment: wishFor(["a"]) }, CALL, {}));
  await world.drive(manager.service.rollBack(KEY, 2, CALL, {}));
  expect(needed.at(-1)).toEqual(["a", "b"]);
});
