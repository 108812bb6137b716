import type { ClassDeployment, ClusterName, DeploymentKey } from "@oaas/models";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  CALL,
  deploymentFor,
  DeploymentFixture,
  KEY,
  memoryFixtureStore,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-fixture.ts";
import { inputOf, STRONG_STATE } from "../planner/testing/plan-inputs.ts";

const SECOND = "second" as DeploymentKey;

let fixture: DeploymentFixture;
let manager: ManagerUnderTest;
beforeEach(async () => {
  fixture = new DeploymentFixture(await memoryFixtureStore(), ["a", "b"]);
  fixture.package = inputOf({ definition: { stateSpec: STRONG_STATE } }).package;
  manager = await fixture.manager();
});
afterEach(() => fixture.dispose());

const request = (key: DeploymentKey, more: Partial<ClassDeployment> = {}, clusters = ["a"]) => ({
  deployment: deploymentFor(clusters, { key, ...more }),
});
const apply = (key: DeploymentKey, more: Partial<ClassDeployment> = {}, clusters = ["a"]) =>
  fixture.drive(manager.service.apply(request(key, more, clusters), CALL, {}));
const collectionsOf = async (key: DeploymentKey, { parts }: ManagerUnderTest = manager) =>
  (await parts.deployments.get(key))?.record.collections;
const withCollections = (...collections: string[]) => ({ odgm: { collections, nodeIds: {} } });
const claims = async () => (await (await fixture.at.connect()).range({ prefix: "c/collection-claims" })).entries.length;

test("a second deployment of a class gets a collection of its own, and keeps it", async () => {
  await apply(KEY);
  await apply(SECOND);
  expect(await collectionsOf(KEY)).toEqual(["shop.Order"]);
  expect(await collectionsOf(SECOND)).toEqual(["shop.Order.second"]);
  await fixture.drive(manager.service.remove(KEY, CALL, {}));
  fixture.publish();
  await apply(SECOND);
  expect(await collectionsOf(SECOND)).toEqual(["shop.Order.second"]);
});

test.each([1, 2])("of deployments that are created at once by %i processes, each gets its own", async (processes) => {
  const managers = processes === 1 ? [manager, manager] : [manager, await fixture.manager()];
  const keys = [KEY, SECOND, "third" as DeploymentKey, "fourth" as DeploymentKey];
  const started = keys.map((key, index) => managers[index % 2]!.service.apply(request(key), CALL, {}));
  await fixture.drive(Promise.all(started));
  const all = await Promise.all(keys.map((key) => collectionsOf(key)));
  expect(new Set(all.flat()).size).toBe(keys.length);
  expect(all.flat()).toContain("shop.Order");
  expect(await claims()).toBe(keys.length);
});

test("refuses a stated collection that another deployment uses, with the fix", async () => {
  await apply(KEY, withCollections("orders"));
  await expect(apply(SECOND, withCollections("orders"))).rejects.toMatchObject({
    kind: "invalid-argument",
    message: expect.stringMatching(
      /\$\.odgm\.collections.*used by deployment orders.*odgm\.collections: \[orders\.second\]/,
    ),
  });
  expect(await manager.service.list({})).toMatchObject({ total: 1 });
});

test("does not compare deployments in different networks", async () => {
  fixture.clusters.networks = "apart";
  await apply(KEY, {}, ["a"]);
  await apply(SECOND, {}, ["b"]);
  expect([await collectionsOf(KEY), await collectionsOf(SECOND)]).toEqual([["shop.Order"], ["shop.Order"]]);
});

test("a deletion frees the collection", async () => {
  await apply(KEY);
  await fixture.drive(manager.service.remove(KEY, CALL, {}));
  expect(await claims()).toBe(0);
  await apply(SECOND);
  expect(await collectionsOf(SECOND)).toEqual(["shop.Order"]);
});

test("a permitted rename frees the old collection and claims the new one", async () => {
  await apply(KEY);
  const odgm = { ...withCollections("renamed").odgm, allowLayoutChange: true };
  await apply(KEY, { odgm });
  await apply(SECOND);
  expect(await collectionsOf(SECOND)).toEqual(["shop.Order"]);
  await expect(apply("third" as DeploymentKey, withCollections("renamed"))).rejects.toMatchObject({
    kind: "invalid-argument",
  });
});

/** A deployment as an earlier release stored it. */
async function forgetClaims(key: DeploymentKey): Promise<void> {
  const { deployments } = manager.parts.deployments;
  await fixture.drive(deployments.modify(key, ({ collections: _collections, claims: _claims, ...earlier }) => earlier));
  const store = await fixture.at.connect();
  const { entries } = await store.range({ prefix: "c/collection-claims" });
  await store.commit({ writes: entries.map(({ key: id }) => ({ op: "delete" as const, key: id })) });
  await fixture.advance(100);
}

test("deployments of an earlier release keep their collection, and get their claim with the next change", async () => {
  await apply(KEY);
  await forgetClaims(KEY);
  await apply(SECOND);
  expect(await collectionsOf(SECOND)).toEqual(["shop.Order.second"]);
  fixture.publish();
  await apply(KEY);
  expect(await collectionsOf(KEY)).toEqual(["shop.Order"]);
  expect(await claims()).toBe(2);
});

test("two deployments of an earlier release that share a collection are not broken, and both say so", async () => {
  fixture.clusters.networks = "apart";
  await apply(KEY, {}, ["a"]);
  await apply(SECOND, {}, ["b"]);
  await forgetClaims(KEY);
  await forgetClaims(SECOND);
  fixture.clusters.networks = "shared";
  fixture.publish();
  await apply(KEY, {}, ["a"]);
  await apply(SECOND, {}, ["b"]);
  expect([await collectionsOf(KEY), await collectionsOf(SECOND)]).toEqual([["shop.Order"], ["shop.Order"]]);
  const { plan } = await manager.service.plan(request(SECOND, {}, ["b"]), CALL);
  expect(plan.decisions.find(({ rule }) => rule.includes("shared objects"))?.outcome).toBe("shared with orders");
});

test("a rollback keeps the claims of its deployment", async () => {
  await apply(KEY);
  fixture.publish();
  await apply(KEY);
  await fixture.drive(manager.service.rollBack(KEY, 1, CALL, {}));
  expect(await collectionsOf(KEY)).toEqual(["shop.Order"]);
  expect(await claims()).toBe(1);
});

test("a class with objects is not removed from one of its clusters, unless its loss is allowed", async () => {
  const withLoss = { odgm: { collections: [], nodeIds: {}, allowLayoutChange: true } };
  await apply(KEY, {}, ["a", "b"]);
  const removal = () => fixture.drive(manager.service.remove(KEY, CALL, { cluster: "a" as ClusterName }));
  await expect(removal()).rejects.toMatchObject({
    kind: "failed-precondition",
    message: expect.stringMatching(/oaas state copy.*odgm\.allow_layout_change/),
  });
  await apply(KEY, withLoss, ["a", "b"]);
  await removal();
});

test("an image is updated whatever the clusters measure meanwhile, and no member moves", async () => {
  await apply(KEY, { nfr: { availability: 0.99 }, allowBestEffort: false }, ["a", "b"]);
  const before = (await manager.parts.deployments.plan(KEY, 1))?.odgm;
  for (const name of ["a", "b"]) fixture.clusters.availabilities.set(name, 0.2);
  fixture.publish();
  await apply(KEY, { nfr: { availability: 0.99 }, allowBestEffort: false }, ["a", "b"]);
  expect((await manager.parts.deployments.plan(KEY, 2))?.odgm).toEqual(before);
});

test("a rollback to other members is refused, with what loses its objects", async () => {
  await apply(KEY, {}, ["a"]);
  await apply(KEY, { odgm: { collections: [], nodeIds: {}, allowLayoutChange: true } }, ["b"]);
  await expect(fixture.drive(manager.service.rollBack(KEY, 1, CALL, {}))).rejects.toMatchObject({
    kind: "failed-precondition",
    message: expect.stringMatching(
      /all objects of the running class, because the clusters change from b to a.*oaas state copy/,
    ),
  });
});
