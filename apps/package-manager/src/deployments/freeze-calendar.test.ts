import { isFault } from "@oaas/foundation";
import { ReplanMode, type ClusterName, type FreezeWindowName, type FreezeWindowSpec } from "@oaas/models";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentFixture,
  KEY,
  deploymentFor,
  memoryFixtureStore,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-fixture.ts";
import { inputOf } from "../planner/testing/plan-inputs.ts";
import { readDrainProgress } from "../replanning/drain-progress.ts";

const MINUTE_MS = 60_000;
const WINDOW = "year-end" as FreezeWindowName;
const [A, B] = ["a", "b"] as ClusterName[] as [ClusterName, ClusterName];

let fixture: DeploymentFixture;
let manager: ManagerUnderTest;
beforeEach(async () => {
  fixture = new DeploymentFixture(await memoryFixtureStore(), ["a", "b"]);
  fixture.package = inputOf().package;
  manager = await fixture.manager();
  manager.parts.freezes.onChange(() => manager.replanner.notify());
  manager.replanner.start();
  manager.drift.start();
});
afterEach(async () => {
  await fixture.drive(Promise.all([manager.replanner.close(), manager.drift.close()]));
  await fixture.dispose();
});

const apply = (clusters: readonly string[] = [], replan: ReplanMode = ReplanMode.auto, on = manager) =>
  fixture.drive(
    on.service.apply({ deployment: deploymentFor(clusters, { allowBestEffort: false, replan }) }, CALL, {}),
  );
async function deploy(clusters: readonly string[] = []): Promise<void> {
  await apply(clusters);
  await fixture.advance(1_000);
}
const soon = (minutes: number): string => new Date(fixture.at.ambient.clock.now() + minutes * MINUTE_MS).toISOString();
const freeze = (minutes: number, clusters: readonly ClusterName[] = [], inMinutes = 0) =>
  set({ clusters, start: soon(inMinutes), end: soon(inMinutes + minutes), reason: "year end" });
const set = (spec: FreezeWindowSpec, name = WINDOW) => fixture.drive(manager.parts.freezes.set(name, spec, CALL));
const clusters = () => [...fixture.clusters.units].flatMap(([name, units]) => (units.size > 0 ? [name] : []));
const isFrozen = (thrown: unknown): boolean =>
  isFault(thrown, "failed-precondition") &&
  thrown.code === "OAAS_DEPLOYMENT_HELD" &&
  /freeze window "year-end" \(year end\) of .* until .*: wait, or an admin deletes the window/.test(thrown.message);

describe("a freeze window of the platform", () => {
  test("refuses revisions, rollbacks and deletions until it ends", async () => {
    await deploy();
    await freeze(10);
    fixture.publish();
    await expect(apply()).rejects.toSatisfy(isFrozen);
    await expect(fixture.drive(manager.service.rollBack(KEY, 1, CALL, {}))).resolves.toMatchObject({
      status: "unchanged",
    });
    await expect(fixture.drive(manager.service.remove(KEY, CALL, {}))).rejects.toSatisfy(isFrozen);
    await expect(fixture.drive(manager.service.removeAll(deploymentFor([]).packageName!, CALL))).rejects.toSatisfy(
      isFrozen,
    );
    await fixture.advance(11 * MINUTE_MS);
    expect(await apply()).toMatchObject({ status: "updated" });
  });

  test("refuses a rollback to an earlier revision", async () => {
    await deploy();
    fixture.publish();
    await deploy();
    await freeze(10);
    await expect(fixture.drive(manager.service.rollBack(KEY, 1, CALL, {}))).rejects.toSatisfy(isFrozen);
  });

  test("refuses new deployments", async () => {
    await freeze(10);
    await expect(apply()).rejects.toSatisfy(isFrozen);
    expect(fixture.clusters.inventory).toEqual([]);
  });

  test("accepts what changes nothing", async () => {
    await deploy();
    await freeze(10);
    expect(await apply()).toMatchObject({ status: "unchanged" });
  });

  test("that begins later refuses nothing before", async () => {
    await deploy();
    await freeze(10, [], 5);
    fixture.publish();
    expect(await apply()).toMatchObject({ status: "updated" });
    await fixture.advance(6 * MINUTE_MS);
    fixture.publish();
    await expect(apply()).rejects.toSatisfy(isFrozen);
  });

  test("ends when it is deleted", async () => {
    await deploy();
    await freeze(10);
    await fixture.drive(manager.parts.freezes.delete(WINDOW));
    fixture.publish();
    expect(await apply()).toMatchObject({ status: "updated" });
  });

  test("holds in another process at once, and after a restart", async () => {
    await deploy();
    const other = await fixture.manager();
    await freeze(10);
    fixture.publish();
    await expect(apply([], ReplanMode.auto, other)).rejects.toSatisfy(isFrozen);
    const restarted = await fixture.manager();
    expect(restarted.parts.freezes.list()).toMatchObject([{ name: WINDOW, active: true, by: "ann" }]);
  });

  test("does not delay recovery: a lost cluster is left, and a removed unit is sent again", async () => {
    await deploy();
    await freeze(60);
    fixture.clusters.units.get(A)!.clear();
    await fixture.advance(2 * MINUTE_MS);
    expect(clusters()).toEqual(["a"]);
    fixture.clusters.down.add("a");
    manager.replanner.notify();
    await fixture.advance(10 * MINUTE_MS);
    expect(fixture.clusters.units.get(B)!.size).toBe(1);
  });

  test("blocks a drain until it ends", async () => {
    await deploy();
    await freeze(10);
    const request = { by: "ann", at: "2026-01-01T00:00:00Z" };
    fixture.clusters.cordons.set("a", { ...request, drain: { ...request, allowsStateLoss: false } });
    manager.replanner.notify();
    await fixture.advance(5_000);
    const progress = await readDrainProgress(
      { ...manager.parts, replans: manager.replans, clusters: fixture.clusters },
      A,
    );
    expect(progress).toMatchObject({ state: "blocked", remaining: [{ message: expect.stringContaining("year-end") }] });
    await fixture.advance(12 * MINUTE_MS);
    expect(clusters()).toEqual(["b"]);
  });

  test("is in plans", async () => {
    await deploy();
    await freeze(10);
    const preview = await fixture.drive(manager.service.plan({ deployment: deploymentFor([]) }, CALL));
    expect(preview.freezes).toMatchObject([{ window: WINDOW, clusters: ["a"], reason: "year end" }]);
  });
});

describe("a freeze window of a cluster", () => {
  test("refuses changes there, and none elsewhere", async () => {
    await deploy(["a", "b"]);
    await freeze(10, [B]);
    fixture.publish();
    await expect(apply(["a", "b"])).rejects.toSatisfy(isFrozen);
    await expect(apply(["a"])).rejects.toSatisfy(isFrozen);
    await expect(fixture.drive(manager.service.remove(KEY, CALL, { cluster: B }))).rejects.toSatisfy(isFrozen);
    expect(await fixture.drive(manager.service.remove(KEY, CALL, { cluster: A }))).toMatchObject({ status: "deleted" });
  });

  test("keeps new units out while another cluster can take them", async () => {
    await freeze(10, [A]);
    await deploy();
    expect(clusters()).toEqual(["b"]);
  });

  test("is the reason of a refusal when the deployment names the cluster", async () => {
    await freeze(10, [A]);
    await expect(apply(["a"])).rejects.toSatisfy(
      (thrown) =>
        isFault(thrown, "failed-precondition") &&
        thrown.message.includes('a (frozen by window "year-end" until ') &&
        thrown.message.includes("wait until the freeze window ends"),
    );
  });
});

describe("a window is rejected", () => {
  const path = (field: string) => (thrown: unknown) =>
    isFault(thrown, "invalid-argument") && thrown.detail.violations.some((each) => each.path === `$.${field}`);

  test.each<{ name: string; spec: FreezeWindowSpec; field: string }>([
    {
      name: "that has ended",
      spec: { clusters: [], start: "1969-01-01T00:00:00Z", end: "1969-02-01T00:00:00Z" },
      field: "end",
    },
    {
      name: "that never occurs",
      spec: { clusters: [], schedule: "0 0 30 2 *", durationSeconds: 60 },
      field: "schedule",
    },
    {
      name: "of an unknown cluster",
      spec: { clusters: ["nowhere" as ClusterName], schedule: "0 0 * * *", durationSeconds: 60 },
      field: "clusters[0]",
    },
  ])("$name", async ({ spec, field }) => {
    await expect(set(spec)).rejects.toSatisfy(path(field));
  });

  test("with an invalid name", async () => {
    const spec = { clusters: [], schedule: "0 0 * * *", durationSeconds: 60 };
    await expect(set(spec, "Year End" as FreezeWindowName)).rejects.toSatisfy(path("name"));
  });

  test("beyond the most that are kept", async () => {
    const spec = { clusters: [], schedule: "0 0 * * *", durationSeconds: 60 };
    for (let index = 0; index < 100; index += 1) await set(spec, `w-${index}` as FreezeWindowName);
    await expect(set(spec)).rejects.toSatisfy((thrown) => isFault(thrown, "failed-precondition"));
    await expect(set(spec, "w-0" as FreezeWindowName)).resolves.toMatchObject({ name: "w-0" });
  });

  test("when an unknown one is deleted or read", async () => {
    await expect(fixture.drive(manager.parts.freezes.delete(WINDOW))).rejects.toSatisfy((thrown) =>
      isFault(thrown, "not-found"),
    );
    expect(() => manager.parts.freezes.get(WINDOW)).toThrow("not found");
  });
});
