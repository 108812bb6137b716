import { sleep } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentFixture,
  KEY,
  memoryFixtureStore,
  deploymentFor,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-fixture.ts";
import { HealthDirectory } from "../clusters/health-directory.ts";

const A = "a" as ClusterName;
/** Longer than every test, so that the sweep cannot do the work. */
const NEVER_MS = 10 * 60 * 60_000;

let fixture: DeploymentFixture;
let manager: ManagerUnderTest;
let directory: HealthDirectory;
beforeEach(async () => {
  fixture = new DeploymentFixture(await memoryFixtureStore(), ["a", "b"]);
  const { clusters, at } = fixture;
  directory = new HealthDirectory({
    ambient: at.ambient,
    roster: { entries: () => clusters.list(), entry: (name) => clusters.get(name), onChange: () => () => undefined },
    source: { health: (cluster) => clusters.health(cluster), breaker: () => "closed" },
    ttlMs: 15_000,
    intervalMs: 60_000,
  });
  fixture.driftOptions = {
    clusters: directory,
    checkHealth: (cluster) => directory.check(cluster),
    intervalMs: NEVER_MS,
  };
  manager = await fixture.manager();
  directory.onReading((reading, before) => {
    if (before?.error !== undefined && reading.error === undefined) manager.drift.clusterReturned(reading.cluster);
  });
  directory.start();
  manager.drift.start();
  await fixture.drive(manager.service.apply({ deployment: deploymentFor(["a", "b"]) }, CALL, {}));
  await fixture.advance(5_000);
  fixture.clusters.calls.length = 0;
});
afterEach(async () => {
  directory.close();
  await fixture.drive(manager.drift.close());
  await fixture.dispose();
});

const unitCount = () => fixture.clusters.units.get(A)!.size;
const remove = () => fixture.drive(manager.service.remove(KEY, CALL, {}));

describe("pending work runs when the cluster returns:", () => {
  test("a deletion, when only the deletion noticed the outage", async () => {
    fixture.clusters.down.add(A);
    expect((await remove()).pending).toEqual(["a"]);
    await fixture.advance(300_000);
    expect(unitCount()).toBe(1);
    fixture.clusters.down.delete(A);
    await fixture.advance(6_000);
    expect(unitCount()).toBe(0);
    expect(await manager.parts.deployments.get(KEY)).toBeUndefined();
  });

  test("a change", async () => {
    fixture.clusters.down.add(A);
    fixture.publish();
    await fixture
      .drive(manager.service.apply({ deployment: deploymentFor(["a", "b"]) }, CALL, {}))
      .catch(() => undefined);
    await fixture.advance(120_000);
    const before = fixture.clusters.inventory;
    fixture.clusters.down.delete(A);
    await fixture.advance(6_000);
    expect(fixture.clusters.inventory).not.toEqual(before);
    expect((await manager.service.record(KEY))?.placements[A]).toMatchObject({ accepted: true });
  });

  test("work that failed during a short outage, at once", async () => {
    let failures = 3;
    manager.onCall = async ({ cluster }, effect) => {
      if (cluster === A && failures-- > 0) {
        fixture.clusters.down.add(A);
        effect();
        queueMicrotask(() => fixture.clusters.down.delete(A));
      } else effect();
    };
    expect((await remove()).pending).toEqual(["a"]);
    await fixture.advance(1_000);
    expect(unitCount()).toBe(0);
  });

  test("work that was still failing when the cluster returned", async () => {
    manager.onCall = async ({ cluster }, effect) => {
      if (cluster === A) {
        fixture.clusters.down.add(A);
        effect();
        await sleep(fixture.at.ambient.timers, 4_000);
        fixture.clusters.down.delete(A);
      } else effect();
    };
    const removing = remove();
    await directory.check(A);
    expect((await removing).pending).toEqual(["a"]);
    manager.onCall = async (_, effect) => effect();
    await fixture.advance(6_000);
    expect(unitCount()).toBe(0);
  });

  test("work in one cluster while another one is slow", async () => {
    fixture.clusters.down.add(A);
    await remove();
    const listed = fixture.clusters.runtimes.bind(fixture.clusters);
    fixture.clusters.runtimes = async function* (cluster) {
      if (cluster !== A) await sleep(fixture.at.ambient.timers, NEVER_MS);
      yield* listed(cluster);
    };
    fixture.clusters.down.delete(A);
    await fixture.advance(6_000);
    expect(unitCount()).toBe(0);
  });
});

test("limits retries in a cluster that answers but fails", async () => {
  let tries = 0;
  manager.onCall = async ({ cluster }, effect) => {
    if (cluster === A) {
      tries += 1;
      fixture.clusters.down.add(A);
      effect();
      queueMicrotask(() => fixture.clusters.down.delete(A));
    } else effect();
  };
  await remove();
  await fixture.advance(600_000);
  expect(tries, "the deletion, and once more").toBe(2 * 3);
});
