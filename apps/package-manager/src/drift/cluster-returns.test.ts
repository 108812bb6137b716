import { sleep } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentWorld,
  KEY,
  memoryWorldStore,
  wishFor,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-world.ts";
import { HealthDirectory } from "../clusters/health-directory.ts";

const A = "a" as ClusterName;
/** Far beyond every test: whatever happens was not found by the look at everything. */
const NEVER_MS = 10 * 60 * 60_000;

let world: DeploymentWorld;
let manager: ManagerUnderTest;
let directory: HealthDirectory;
beforeEach(async () => {
  world = new DeploymentWorld(await memoryWorldStore(), ["a", "b"]);
  const { clusters, at } = world;
  directory = new HealthDirectory({
    ambient: at.ambient,
    roster: { entries: () => clusters.list(), entry: (name) => clusters.get(name), onChange: () => () => undefined },
    source: { health: (cluster) => clusters.health(cluster), breaker: () => "closed" },
    ttlMs: 15_000,
    intervalMs: 60_000,
  });
  world.keeperOptions = {
    clusters: directory,
    checkHealth: (cluster) => directory.check(cluster),
    intervalMs: NEVER_MS,
  };
  manager = await world.manager();
  directory.onReading((reading, before) => {
    if (before?.error !== undefined && reading.error === undefined) manager.keeper.clusterReturned(reading.cluster);
  });
  directory.start();
  manager.keeper.start();
  await world.drive(manager.service.apply({ deployment: wishFor(["a", "b"]) }, CALL, {}));
  await world.pass(5_000);
  world.clusters.calls.length = 0;
});
afterEach(async () => {
  directory.close();
  await world.drive(manager.keeper.close());
  await world.dispose();
});

const there = () => world.clusters.units.get(A)!.size;
const remove = () => world.drive(manager.service.remove(KEY, CALL, {}));

describe("what waits for a cluster is done when it is back", () => {
  test("a deletion, although nobody had noticed that the cluster was away but the deletion itself", async () => {
    world.clusters.down.add(A);
    expect((await remove()).pending).toEqual(["a"]);
    await world.pass(300_000);
    expect(there()).toBe(1);
    world.clusters.down.delete(A);
    await world.pass(6_000);
    expect(there()).toBe(0);
    expect(await manager.parts.deployments.get(KEY)).toBeUndefined();
  });

  test("a change", async () => {
    world.clusters.down.add(A);
    world.publish();
    await world.drive(manager.service.apply({ deployment: wishFor(["a", "b"]) }, CALL, {})).catch(() => undefined);
    await world.pass(120_000);
    const before = world.clusters.inventory;
    world.clusters.down.delete(A);
    await world.pass(6_000);
    expect(world.clusters.inventory).not.toEqual(before);
    expect((await manager.service.record(KEY))?.placements[A]).toMatchObject({ accepted: true });
  });

  test("work that failed in a moment of absence, at once", async () => {
    let failures = 3;
    manager.onCall = async ({ cluster }, effect) => {
      if (cluster === A && failures-- > 0) {
        world.clusters.down.add(A);
        effect();
        queueMicrotask(() => world.clusters.down.delete(A));
      } else effect();
    };
    expect((await remove()).pending).toEqual(["a"]);
    await world.pass(1_000);
    expect(there()).toBe(0);
  });

  test("also when it came back while the work on it was still failing", async () => {
    manager.onCall = async ({ cluster }, effect) => {
      if (cluster === A) {
        world.clusters.down.add(A);
        effect();
        await sleep(world.at.ambient.timers, 4_000);
        world.clusters.down.delete(A);
      } else effect();
    };
    const removing = remove();
    await directory.check(A);
    expect((await removing).pending).toEqual(["a"]);
    manager.onCall = async (_, effect) => effect();
    await world.pass(6_000);
    expect(there()).toBe(0);
  });

  test("however long another cluster keeps everybody waiting who looks at it", async () => {
    world.clusters.down.add(A);
    await remove();
    const listed = world.clusters.runtimes.bind(world.clusters);
    world.clusters.runtimes = async function* (cluster) {
      if (cluster !== A) await sleep(world.at.ambient.timers, NEVER_MS);
      yield* listed(cluster);
    };
    world.clusters.down.delete(A);
    await world.pass(6_000);
    expect(there()).toBe(0);
  });
});

test("a cluster that answers and yet fails its work is not bothered without end", async () => {
  let tries = 0;
  manager.onCall = async ({ cluster }, effect) => {
    if (cluster === A) {
      tries += 1;
      world.clusters.down.add(A);
      effect();
      queueMicrotask(() => world.clusters.down.delete(A));
    } else effect();
  };
  await remove();
  await world.pass(600_000);
  expect(tries, "the deletion, and once more").toBe(2 * 3);
});
