import {
  ConsistencyModel,
  ReplanMode,
  type ClassDeployment,
  type ClusterName,
  type DeploymentKey,
  type DrainProgress,
} from "@oaas/models";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  CALL,
  DeploymentFixture,
  KEY,
  deploymentFor,
  memoryFixtureStore,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-fixture.ts";
import { inputOf, stateOf } from "../planner/testing/plan-inputs.ts";
import { readDrainProgress } from "./drain-progress.ts";

const A = "a" as ClusterName;
const SECOND = "second" as DeploymentKey;

let fixture: DeploymentFixture;
let manager: ManagerUnderTest;
beforeEach(async () => {
  fixture = new DeploymentFixture(await memoryFixtureStore(), ["a", "b"]);
  fixture.package = inputOf().package;
  manager = await fixture.manager();
  manager.replanner.start();
  manager.drift.start();
});
afterEach(async () => {
  await fixture.drive(Promise.all([manager.replanner.close(), manager.drift.close()]));
  await fixture.dispose();
});

async function deploy(more: Partial<ClassDeployment> = {}, clusters: readonly string[] = []): Promise<void> {
  const deployment = deploymentFor(clusters, { allowBestEffort: false, ...more });
  await fixture.drive(manager.service.apply({ deployment }, CALL, {}));
  await fixture.advance(1_000);
}

async function drain(at = 1, allowsStateLoss = false): Promise<void> {
  const request = { by: "ann", at: new Date(at).toISOString() };
  fixture.clusters.cordons.set("a", { ...request, drain: { ...request, allowsStateLoss } });
  manager.replanner.notify();
  await fixture.advance(5_000);
}

const progress = (): Promise<DrainProgress> =>
  readDrainProgress({ ...manager.parts, replans: manager.replans, clusters: fixture.clusters }, A);
const countIn = (cluster: string): number => fixture.clusters.units.get(cluster as ClusterName)!.size;

test("moves every deployment, whatever its mode is, and ends", async () => {
  await deploy({ replan: ReplanMode.off });
  await deploy({ key: SECOND });
  await drain();
  await fixture.advance(30_000);
  expect([countIn("a"), countIn("b")]).toEqual([0, 2]);
  expect(await progress()).toMatchObject({ state: "drained", remaining: [], requestedBy: "ann" });
  expect(await manager.service.revision(KEY, 2)).toMatchObject({
    author: "package-manager/drain",
    reason: expect.stringMatching(/^drain of a by ann: /),
  });
});

test("moves one deployment at a time, and keeps a unit until its replacement is available", async () => {
  await deploy();
  await deploy({ key: SECOND });
  fixture.clusters.stuck.add("b");
  await drain();
  expect([countIn("a"), countIn("b")]).toEqual([2, 1]);
  expect((await progress()).remaining.map(({ state }) => state).toSorted()).toEqual(["moving", "waiting"]);
  fixture.clusters.stuck.delete("b");
  await fixture.advance(60_000);
  expect([countIn("a"), countIn("b")]).toEqual([0, 2]);
});

test("continues after a restart of the package manager", async () => {
  await deploy();
  await deploy({ key: SECOND });
  fixture.clusters.stuck.add("b");
  await drain();
  await manager.kill();
  fixture.clusters.stuck.delete("b");
  manager = await fixture.manager();
  manager.replanner.start();
  await fixture.advance(120_000);
  expect([countIn("a"), countIn("b")]).toEqual([0, 2]);
});

test("stops when the cluster is uncordoned", async () => {
  await deploy();
  await deploy({ key: SECOND });
  fixture.clusters.stuck.add("b");
  await drain();
  fixture.clusters.cordons.clear();
  fixture.clusters.stuck.delete("b");
  await fixture.advance(120_000);
  expect(countIn("a")).toBe(1);
  expect(await progress()).toMatchObject({ state: "none", remaining: [] });
});

test("restores the old place when the replacement does not become available, and tries again when asked", async () => {
  await deploy();
  fixture.clusters.stuck.add("b");
  await drain();
  await fixture.advance(120_000);
  expect([countIn("a"), countIn("b")]).toEqual([1, 0]);
  expect(await progress()).toMatchObject({
    state: "blocked",
    remaining: [{ message: expect.stringContaining("did not become available") }],
  });
  const { revision } = (await manager.service.record(KEY))!;
  await fixture.advance(600_000);
  expect((await manager.service.record(KEY))!.revision).toBe(revision);
  fixture.clusters.stuck.delete("b");
  await drain(2);
  await fixture.advance(60_000);
  expect([countIn("a"), countIn("b")]).toEqual([0, 1]);
});

test.each<{ name: string; more?: Partial<ClassDeployment>; clusters?: string[]; down?: string; why: string }>([
  { name: "that names the cluster", clusters: ["a"], why: "change target_clusters" },
  { name: "without another cluster", down: "b", why: "no cluster is usable" },
])("reports a deployment $name as blocked", async ({ more = {}, clusters = [], down, why }) => {
  await deploy(more, clusters);
  if (down !== undefined) fixture.clusters.down.add(down);
  await drain();
  const { state, remaining } = await progress();
  expect(state).toBe("blocked");
  expect(remaining[0]?.message).toContain(why);
  expect(countIn("a")).toBe(1);
});

test("moves stored objects only when the request allows it", async () => {
  const definition = { stateSpec: stateOf({ consistencyModel: ConsistencyModel.none }) };
  fixture.package = inputOf({ definition }).package;
  await deploy();
  await drain();
  expect(await progress()).toMatchObject({
    state: "blocked",
    remaining: [{ message: expect.stringContaining("allow_state_loss") }],
  });
  await drain(2, true);
  await fixture.advance(30_000);
  expect([countIn("a"), countIn("b")]).toEqual([0, 1]);
});
