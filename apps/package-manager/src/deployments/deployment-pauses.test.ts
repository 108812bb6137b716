import { isFault } from "@oaas/foundation";
import { ReplanMode, type ClusterName } from "@oaas/models";
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

const MINUTE_MS = 60_000;

let fixture: DeploymentFixture;
let manager: ManagerUnderTest;
beforeEach(async () => {
  fixture = new DeploymentFixture(await memoryFixtureStore(), ["a", "b"]);
  fixture.package = inputOf().package;
  manager = await fixture.manager();
  manager.parts.pauses.onChange(() => manager.replanner.notify());
  manager.replanner.start();
  manager.drift.start();
  await apply();
  await fixture.advance(1_000);
});
afterEach(async () => {
  await fixture.drive(Promise.all([manager.replanner.close(), manager.drift.close()]));
  await fixture.dispose();
});

const apply = (replan: ReplanMode = ReplanMode.auto) =>
  fixture.drive(manager.service.apply({ deployment: deploymentFor([], { allowBestEffort: false, replan }) }, CALL, {}));
const pause = (minutes: number) =>
  fixture.drive(manager.parts.pauses.pause(KEY, { durationSeconds: minutes * 60 }, CALL));
const clusters = () => [...fixture.clusters.units].flatMap(([name, units]) => (units.size > 0 ? [name] : []));
const isRefused = (thrown: unknown): boolean =>
  isFault(thrown, "failed-precondition") && thrown.message.includes("paused by ann until ");

describe("while a deployment is paused", () => {
  test("new revisions and rollbacks are refused, until the pause ends by itself", async () => {
    await pause(10);
    fixture.publish();
    await expect(apply()).rejects.toSatisfy(isRefused);
    await expect(fixture.drive(manager.service.rollBack(KEY, 1, CALL, {}))).rejects.toSatisfy(isRefused);
    await fixture.advance(11 * MINUTE_MS);
    expect(await apply()).toMatchObject({ status: "updated" });
  });

  test("resume ends it", async () => {
    await pause(10);
    await fixture.drive(manager.parts.pauses.resume(KEY));
    fixture.publish();
    expect(await apply()).toMatchObject({ status: "updated" });
  });

  test("another process refuses at once", async () => {
    const other = await fixture.manager();
    await pause(10);
    fixture.publish();
    const request = { deployment: deploymentFor([], { allowBestEffort: false }) };
    await expect(fixture.drive(other.service.apply(request, CALL, {}))).rejects.toSatisfy(isRefused);
  });

  test("plans show it", async () => {
    await pause(10);
    const preview = await fixture.drive(manager.service.plan({ deployment: deploymentFor([]) }, CALL));
    expect(preview.pause).toMatchObject({ by: "ann", reason: "because" });
  });

  test("a lost cluster is left only after the pause", async () => {
    await pause(20);
    fixture.clusters.down.add("a");
    manager.replanner.notify();
    await fixture.advance(15 * MINUTE_MS);
    expect(clusters()).toEqual(["a"]);
    await fixture.advance(10 * MINUTE_MS);
    expect(clusters()).toEqual(["a", "b"]);
  });

  test("a removed unit is sent again only after the pause", async () => {
    await pause(10);
    fixture.clusters.units.get("a" as ClusterName)!.clear();
    await fixture.advance(5 * MINUTE_MS);
    expect(clusters()).toEqual([]);
    await fixture.advance(7 * MINUTE_MS);
    expect(clusters()).toEqual(["a"]);
  });

  test("a deletion is accepted, and ends the pause", async () => {
    await pause(10);
    await fixture.drive(manager.service.remove(KEY, CALL, {}));
    await fixture.advance(1_000);
    expect(clusters()).toEqual([]);
    expect(await apply()).toMatchObject({ status: "created" });
  });
});

test.each<{ name: string; request: object }>([
  { name: "without an end", request: {} },
  { name: "with two ends", request: { until: "2100-01-01T00:00:00Z", durationSeconds: 1 } },
  { name: "of more than 90 days", request: { until: "1970-06-01T00:00:00Z" } },
  { name: "with an end in the past", request: { until: "1970-01-01T00:00:00Z" } },
])("a pause $name is rejected", async ({ request }) => {
  await expect(manager.parts.pauses.pause(KEY, request, CALL)).rejects.toSatisfy((thrown) =>
    isFault(thrown, "invalid-argument"),
  );
});

test("a pause of an unknown deployment is rejected", async () => {
  await expect(manager.parts.pauses.pause("x" as typeof KEY, { durationSeconds: 1 }, CALL)).rejects.toSatisfy(
    (thrown) => isFault(thrown, "not-found"),
  );
});
