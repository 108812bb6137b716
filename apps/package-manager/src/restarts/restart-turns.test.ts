import type { ClusterName } from "@oaas/models";
import { ConsistencyModel } from "@oaas/models";
import { NOOP_LOGGER, NOOP_METER } from "@oaas/observability";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentFixture,
  deploymentFor,
  KEY,
  memoryFixtureStore,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-fixture.ts";
import { inputOf, stateOf } from "../planner/testing/plan-inputs.ts";
import { RuntimeView } from "../status/runtime-view.ts";
import { openTurns } from "../stores/turn-store.ts";
import { RestartTurns } from "./restart-turns.ts";
import { turnMetrics } from "./turn-metrics.ts";

const NAMES = ["a", "b", "c"];
const MINUTE_MS = 60_000;

/** A process with its own view of the clusters. */
interface Turner {
  readonly manager: ManagerUnderTest;
  readonly turns: RestartTurns;
  readonly view: RuntimeView;
}

let fixture: DeploymentFixture;
let turners: Turner[] = [];
let audited: string[] = [];

async function turner(): Promise<Turner> {
  const manager = await fixture.manager();
  const { ambient } = fixture.at;
  const view = new RuntimeView(ambient.clock);
  const turns = new RestartTurns({
    store: manager.hooked,
    view: manager.parts.view,
    runtimes: view,
    gateway: manager.gateway,
    planOf: (key, record) => manager.service.planOf(key, record),
    pauses: manager.parts.pauses,
    freezes: manager.parts.freezes,
    audit: {
      begin: async ({ by, action, target }) => {
        audited.push(`${by} ${action} ${target}`);
        return () => undefined;
      },
    },
    metrics: turnMetrics(NOOP_METER),
    ambient,
    logger: NOOP_LOGGER,
    leaseMs: 10_000,
  });
  const one = { manager, turns, view };
  turners.push(one);
  return one;
}

/** What the watch of every process brings. */
async function report(): Promise<void> {
  for (const { view, turns, manager } of turners) {
    if (manager.isDead) continue;
    for (const name of NAMES as ClusterName[]) {
      if (fixture.clusters.down.has(name)) {
        view.markLost(name, `${name} does not answer`);
        continue;
      }
      view.apply(name, { type: "syncing" }, "live");
      for await (const unit of fixture.clusters.runtimes(name))
        view.apply(name, { type: "changed", report: unit }, "live");
      view.apply(name, { type: "synced" }, "live");
    }
    turns.notify();
  }
}

/** Lets time pass; restarts take five seconds. */
async function advance(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5_000) {
    await report();
    await fixture.advance(2_500);
    fixture.clusters.stores.finishRestarts();
    await report();
    await fixture.advance(2_500);
  }
}

const storedTurns = async () => (await openTurns(await fixture.at.connect()).list({ limit: 10 })).records;

beforeEach(async () => {
  turners = [];
  audited = [];
  fixture = new DeploymentFixture(await memoryFixtureStore(), NAMES);
  fixture.package = inputOf({
    definition: { stateSpec: stateOf({ consistencyModel: ConsistencyModel.strong }) },
  }).package;
  NAMES.forEach((name, index) => fixture.clusters.stores.add(name, [index + 1]));
  const { manager } = await turner();
  await fixture.drive(manager.service.apply({ deployment: deploymentFor(NAMES) }, CALL, {}));
  await fixture.advance(1_000);
});

afterEach(async () => {
  for (const { turns, manager } of turners) if (!manager.isDead) await fixture.drive(turns.close());
  await fixture.dispose();
});

function current(): Turner {
  const alive = turners.find(({ manager }) => !manager.isDead);
  if (alive === undefined) throw new TypeError("every process is dead");
  return alive;
}

describe("a class with members in three clusters", () => {
  test("restarts one node at a time, with an audit entry for each turn", async () => {
    const { stores } = fixture.clusters;
    current().turns.start();
    stores.outdate();
    await advance(2 * MINUTE_MS);
    expect(stores.restarts.map(({ cluster }) => cluster)).toEqual(NAMES);
    expect(stores.mostAtOnce).toBe(1);
    expect(stores.outdated).toBe(0);
    expect(await storedTurns()).toEqual([]);
    expect(audited).toEqual(Array(3).fill("package-manager/restart-turns grantRestart deployment/orders"));
  });

  test("is neither written nor called while no node waits", async () => {
    const { turns, manager } = current();
    turns.start();
    await advance(MINUTE_MS);
    const { commits } = manager.hooked;
    const calls = fixture.clusters.calls.length;
    await advance(10 * MINUTE_MS);
    expect(manager.hooked.commits).toBe(commits);
    expect(fixture.clusters.calls).toHaveLength(calls);
  });

  test("restarts no node while a cluster cannot be read", async () => {
    const { clusters } = fixture;
    current().turns.start();
    clusters.stores.outdate();
    clusters.down.add("c");
    await advance(2 * MINUTE_MS);
    expect(clusters.stores.restarts).toEqual([]);
    clusters.down.delete("c");
    await advance(2 * MINUTE_MS);
    expect(clusters.stores.outdated).toBe(0);
  });

  test("waits for the cluster that has the turn and vanished", async () => {
    const { clusters } = fixture;
    current().turns.start();
    clusters.stores.isStuck = true;
    clusters.stores.outdate();
    await advance(30_000);
    clusters.down.add("a");
    clusters.stores.isStuck = false;
    await advance(5 * MINUTE_MS);
    expect(clusters.stores.restarts).toHaveLength(1);
    expect(await storedTurns()).toMatchObject([{ record: { cluster: "a", nodeId: 1 } }]);
    clusters.down.delete("a");
    await advance(2 * MINUTE_MS);
    expect(clusters.stores.outdated).toBe(0);
    expect(clusters.stores.mostAtOnce).toBe(1);
  });

  test("restores two nodes that lack the same shard, one after the other", async () => {
    const { stores } = fixture.clusters;
    current().turns.start();
    for (const [name, nodeId] of [["a", 1] as const, ["b", 2] as const]) {
      stores.part(name).nodes[0]!.missing = [{ nodeId, collection: "shop.Order", partition: 0 }];
    }
    for (const name of NAMES) stores.part(name).writable = false;
    await advance(30_000);
    for (const name of NAMES) stores.part(name).writable = true;
    await advance(MINUTE_MS);
    expect(stores.restarts.map(({ cluster }) => cluster)).toEqual(["a", "b"]);
    expect(stores.mostAtOnce).toBe(1);
  });

  test("has no turn while it is paused", async () => {
    const { turns, manager } = current();
    turns.start();
    const until = new Date(fixture.at.ambient.clock.now() + 5 * MINUTE_MS).toISOString();
    await fixture.drive(manager.parts.pauses.start());
    await fixture.drive(manager.parts.pauses.pause(KEY, { until }, CALL));
    fixture.clusters.stores.outdate();
    await advance(4 * MINUTE_MS);
    expect(fixture.clusters.stores.restarts).toEqual([]);
    await advance(4 * MINUTE_MS);
    expect(fixture.clusters.stores.outdated).toBe(0);
    await fixture.drive(manager.parts.pauses.close());
  });

  test("that is deleted leaves no turn", async () => {
    const { turns, manager } = current();
    turns.start();
    fixture.clusters.stores.isStuck = true;
    fixture.clusters.stores.outdate();
    await advance(30_000);
    expect(await storedTurns()).toHaveLength(1);
    await fixture.drive(manager.service.remove(KEY, CALL, {}));
    await advance(MINUTE_MS);
    expect(await storedTurns()).toEqual([]);
    expect(fixture.clusters.stores.restarts).toHaveLength(1);
  });

  test("is restarted by one of two processes at a time", async () => {
    await turner();
    for (const { turns } of turners) turns.start();
    fixture.clusters.stores.outdate();
    await advance(3 * MINUTE_MS);
    expect(fixture.clusters.stores.restarts).toHaveLength(3);
    expect(fixture.clusters.stores.mostAtOnce).toBe(1);
  });
});

describe("calls that are lost or repeated", () => {
  const effects = {
    "is lost": async () => Promise.reject(new Error("the request was lost")),
    "has its response lost": async (effect: () => void) => {
      effect();
      throw new Error("the response was lost");
    },
    "arrives twice": async (effect: () => void) => {
      effect();
      effect();
    },
  };
  test.each(Object.entries(effects))("every other call %s", async (_, wrap) => {
    const { turns, manager } = current();
    let calls = 0;
    manager.onCall = async (call, effect) => {
      if (call.op === "grant" && (calls += 1) % 2 === 1) return wrap(effect);
      effect();
    };
    turns.start();
    fixture.clusters.stores.outdate();
    await advance(4 * MINUTE_MS);
    expect(calls).toBeGreaterThan(0);
    expect(fixture.clusters.stores.restarts).toHaveLength(3);
    expect(fixture.clusters.stores.mostAtOnce).toBe(1);
  });
});

describe("a process that dies", () => {
  /** Writes of a sequence of three turns, and calls. */
  const points = [
    ...Array.from({ length: 12 }, (_, nth) => ({ at: "write", nth: nth + 1 })),
    ...Array.from({ length: 6 }, (_, nth) => ({ at: "call", nth: nth + 1 })),
  ].flatMap((point) => [
    { ...point, moment: "before" },
    { ...point, moment: "after" },
  ]);

  test.each(points)(
    "$moment $at $nth leaves one turn, which the next process continues",
    async ({ at, nth, moment }) => {
      const { stores } = fixture.clusters;
      const { turns, manager } = current();
      turns.start();
      await advance(10_000);
      const first = manager.hooked.commits;
      let calls = 0;
      const die = async <T>(effect: () => Promise<T> | T): Promise<T> => {
        if (moment === "after") await effect();
        await manager.kill();
        return new Promise<T>(() => undefined);
      };
      manager.onCommit = async (count, commit) => (at === "write" && count === first + nth ? die(commit) : commit());
      manager.onCall = async ({ op }, effect) => {
        if (op === "grant" && at === "call" && (calls += 1) === nth) return die(effect);
        effect();
      };
      stores.outdate();
      await advance(MINUTE_MS);
      expect(manager.isDead, "the point is reached").toBe(true);
      const next = await turner();
      next.turns.start();
      await advance(3 * MINUTE_MS);
      expect(stores.outdated).toBe(0);
      expect(stores.restarts.map(({ cluster }) => cluster)).toEqual(NAMES);
      expect(stores.mostAtOnce).toBe(1);
      expect(await storedTurns()).toEqual([]);
    },
  );
});
