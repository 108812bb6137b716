import { cancelled, sleep } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { NOOP_LOGGER } from "@oaas/observability";
import { createRecordingMeter } from "@oaas/observability/testing";
import { expect, test } from "vitest";
import type { Grid } from "./grid.ts";
import { OdgmHealth } from "./odgm-health.ts";

/** State stores with scripted responses, checked every ten seconds on virtual time. */
function lab(names: readonly string[]) {
  const ambient = virtualAmbient(3);
  const meter = createRecordingMeter();
  const requests: string[] = [];
  const woken: string[] = [];
  const stores = new Map(names.map((name) => [name, { partitions: 1, objects: 0, mood: "answers" }]));
  let most = 0;
  let underWay = 0;
  const grids = (): Grid[] =>
    [...stores.keys()].map((name) => ({
      uid: name,
      key: { namespace: "shop", name },
      service: name,
      nodesService: name,
      port: 1,
      nodes: 1,
      isShared: false,
      collections: [{ name: "c", partitions: 1, replicas: 1 }],
      nodeOfShard: new Map(),
      lastReading:
        name === "restored" ? { healthy: true, checkedAt: "before", details: { collections_status: [] } } : undefined,
    }));
  const health = new OdgmHealth({
    ambient,
    meter,
    logger: NOOP_LOGGER,
    everyMs: 10_000,
    timeoutMs: 2_000,
    concurrency: 3,
    client: {
      query: async ({ uid }, signal) => {
        requests.push(uid);
        underWay += 1;
        most = Math.max(most, underWay);
        try {
          const { mood = "", partitions = 0, objects = 0 } = stores.get(uid) ?? {};
          await sleep(ambient.timers, mood === "hangs" ? 60_000 : 10, signal);
          if (mood === "is away") throw new Error("no such host");
          return [
            {
              address: "10.0.0.1:8080",
              shards: partitions === 0 ? [] : [{ collection: "c", partition: 0, shard: 1, objects }],
            },
          ];
        } finally {
          underWay -= 1;
        }
      },
    },
  });
  health.follow("class-runtime", grids);
  health.source("class-runtime")(({ name }) => woken.push(name));
  const term = new AbortController();
  const over = health.run(term.signal);
  const rounds = (count: number): Promise<void> => ambient.time.advance(count * 10_000 + count * 3_000);
  const end = async (): Promise<void> => {
    term.abort(cancelled());
    await over;
  };
  const store = (name: string) => stores.get(name) as { partitions: number; objects: number; mood: string };
  return { health, requests, woken, stores, store, rounds, end, meter, most: () => most };
}

test("enqueues a class when its reading changes, but not for object counts", async () => {
  const { health, woken, store, rounds, end } = lab(["a"]);
  expect(health.readingOf("a")).toBeUndefined();
  await rounds(1);
  expect(health.readingOf("a")?.healthy).toBe(true);
  expect(woken).toEqual(["a"]);
  store("a").objects = 500;
  await rounds(2);
  expect(woken).toEqual(["a"]);
  expect(health.readingOf("a")?.details?.collections_status?.[0]?.total_objects).toBe(500);
  store("a").partitions = 0;
  await rounds(1);
  expect(health.readingOf("a")).toMatchObject({ healthy: false, message: "serves 0 of 1 partitions of c" });
  expect(woken).toEqual(["a", "a"]);
  await end();
});

test.each(["is away", "hangs"])(
  "keeps the last answer of a store that %s for a while, then reports unknown, and polls it less often",
  async (mood) => {
    const { health, requests, woken, store, rounds, end, meter } = lab(["a"]);
    await rounds(1);
    store("a").mood = mood;
    await rounds(2);
    expect(health.readingOf("a")?.healthy).toBe(true);
    await rounds(3);
    expect(health.readingOf("a")).toBeUndefined();
    expect(woken).toEqual(["a", "a"]);
    const before = requests.length;
    await rounds(60);
    expect(requests.length - before).toBeLessThan(15);
    store("a").mood = "answers";
    await rounds(17);
    expect(health.readingOf("a")?.healthy).toBe(true);
    expect(meter.value("crm_odgm_readings_total", { outcome: "unhealthy" })).toBe(0);
    await end();
  },
);

test("uses the reading of the status before the first check", async () => {
  const { health, rounds, end } = lab(["restored"]);
  expect(health.readingOf("restored")?.checkedAt).toBe("before");
  await rounds(1);
  expect(health.readingOf("restored")?.checkedAt).not.toBe("before");
  await end();
});

test("limits concurrency; a hanging state store does not block others; removed ones are forgotten", async () => {
  const names = Array.from({ length: 20 }, (_, n) => `s${n}`);
  const { health, store, stores, rounds, end, most } = lab(names);
  store("s0").mood = "hangs";
  store("s1").mood = "hangs";
  await rounds(1);
  expect(names.slice(2).every((name) => health.readingOf(name)?.healthy)).toBe(true);
  expect(most()).toBe(3);
  stores.delete("s5");
  await rounds(1);
  expect(health.readingOf("s5")).toBeUndefined();
  await end();
});
