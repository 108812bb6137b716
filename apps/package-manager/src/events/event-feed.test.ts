import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterName } from "@oaas/models";
import { Collection } from "@oaas/storage";
import { openMemoryStore } from "@oaas/storage/memory";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { CLUSTERS, type StoredCluster } from "../stores/cluster-store.ts";
import type { HealthReading } from "../ports.ts";
import { RuntimeView } from "../status/runtime-view.ts";
import { reportOf } from "../status/testing/reports.ts";
import type { EventTopic, FeedEvent } from "../use-cases.ts";
import { LogEventFeed } from "./event-feed.ts";
import { formatEventId, parseEventId } from "./event-id.ts";
import { EventLog } from "./event-log.ts";
import { observeEvents } from "./observed-events.ts";
import { StoredEvents, storedTopic } from "./stored-events.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const { clock, ...ambient } = virtualAmbient(1);
const at = "2026-01-01T00:00:00.000Z";

/** Follows in the background and keeps what it was told. */
function follow(log: EventLog, query: { topic?: EventTopic; key?: string; lastEventId?: string } = {}) {
  const stop = new AbortController();
  const events: FeedEvent[] = [];
  const done = (async () => {
    for await (const event of new LogEventFeed(log, clock).follow({ ...query, signal: stop.signal }))
      events.push(event);
  })();
  const close = async (): Promise<void> => {
    stop.abort();
    await done;
  };
  open.push({ close });
  return { events, close, told: () => events.map(({ type, topic, key }) => `${topic} ${key} ${type}`) };
}

const tell = (log: EventLog, key: string, topic: EventTopic = "deployment", revision?: number): void =>
  log.append({ topic, key, at, type: "changed", ...(revision === undefined ? {} : { revision }) });

const settle = () => ambient.time.advance(0);

describe("following events", () => {
  it("from now on, by topic and key", async () => {
    const log = new EventLog("e1");
    tell(log, "before");
    const all = follow(log);
    const some = follow(log, { topic: "deployment", key: "a" });
    await settle();
    tell(log, "a");
    tell(log, "b");
    tell(log, "a", "package");
    await settle();
    expect(all.told()).toEqual(["deployment a changed", "deployment b changed", "package a changed"]);
    expect(some.told()).toEqual(["deployment a changed"]);
  });

  it("the object of an event is made when the first follower is told, once for all of them", async () => {
    const log = new EventLog("e1");
    let made = 0;
    const append = (key: string): void =>
      log.append({ topic: "package", key, at, type: "changed", objectOf: () => ({ key, made: (made += 1) }) });
    append("nobody");
    expect(made).toBe(0);
    const followers = [follow(log), follow(log, { key: "a" }), follow(log, { key: "b" })];
    await settle();
    append("a");
    await settle();
    expect(followers.map(({ events }) => events.map(({ object }) => object))).toEqual([
      [{ key: "a", made: 1 }],
      [{ key: "a", made: 1 }],
      [],
    ]);
    expect(followers[0]?.events[0]).not.toHaveProperty("objectOf");
  });

  const resumptions: {
    name: string;
    id: (log: EventLog) => string;
    topic?: EventTopic;
    told: string[];
    why: string;
  }[] = [
    { name: "the same process", id: () => "5.e1.1", told: ["b", "c"], why: "the log has it all" },
    { name: "nothing missed", id: () => "7.e1.3", told: [], why: "it was up to date" },
    {
      name: "another process, stored topic",
      id: () => "5.e0.900",
      topic: "deployment",
      told: ["b", "c"],
      why: "by revision",
    },
    {
      name: "another process, nothing missed",
      id: () => "7.e0.900",
      topic: "deployment",
      told: [],
      why: "by revision",
    },
    { name: "another process, all topics", id: () => "5.e0.900", told: ["5 resync"], why: "what was observed is lost" },
    {
      name: "another process, observed topic",
      id: () => "5.e0.900",
      topic: "class-runtime",
      told: ["1 resync"],
      why: "what was observed is lost",
    },
    { name: "older than the log", id: () => "2.e0.1", topic: "deployment", told: ["1 resync"], why: "out of reach" },
    { name: "from the future", id: () => "9.e1.99", topic: "deployment", told: ["1 resync"], why: "none of ours" },
    { name: "nonsense", id: () => "🙂", topic: "deployment", told: ["1 resync"], why: "none of ours" },
  ];
  it.each(resumptions)("again, $name: $why", async ({ id, topic, told }) => {
    const log = new EventLog("e1");
    log.startFrom(4);
    tell(log, "a", "deployment", 5);
    tell(log, "b", "deployment", 6);
    tell(log, "c", "deployment", 7);
    const follower = follow(log, { lastEventId: id(log), ...(topic === undefined ? {} : { topic }) });
    await settle();
    const resyncs = follower.events.filter(({ type }) => type === "resync").length;
    expect(resyncs > 0 ? [`${resyncs} resync`] : follower.events.map(({ key }) => key)).toEqual(told);
    tell(log, "d", topic ?? "deployment");
    await settle();
    expect(follower.events.at(-1)?.key).toBe("d");
  });

  it("again, by the very id it was given, whatever the process is called", async () => {
    const log = new EventLog("0F8FAD5B-d9cb-469f-a165-70867728950e");
    const before = follow(log);
    await settle();
    tell(log, "a");
    tell(log, "b");
    await settle();
    const after = follow(log, { lastEventId: before.events[0]!.id });
    await settle();
    expect(after.told()).toEqual(["deployment b changed"]);
  });

  it("a follower that is too slow is told to read anew, and goes on from there", async () => {
    const log = new EventLog("e1", { events: 4 });
    const stop = new AbortController();
    const reader = new LogEventFeed(log, clock).follow({ topic: "deployment", signal: stop.signal });
    const first = reader.next();
    tell(log, "0");
    expect((await first).value).toMatchObject({ key: "0" });
    for (let n = 1; n <= 20; n += 1) tell(log, String(n));
    expect((await reader.next()).value).toMatchObject({ type: "resync", topic: "deployment" });
    const last = reader.next();
    tell(log, "21");
    expect((await last).value).toMatchObject({ key: "21" });
    stop.abort();
  });

  it("what is kept is bounded by number and by size", () => {
    const log = new EventLog("e1", { events: 100, bytes: 10_000 });
    for (let n = 0; n < 1_000; n += 1) log.append({ topic: "package", type: "changed", key: "p", at, bytes: 1_000 });
    expect(log.since(log.head - 10)).toHaveLength(10);
    expect(log.since(log.head - 13)).toBeUndefined();
    for (let n = 0; n < 1_000; n += 1) log.append({ topic: "package", type: "changed", key: "p", at, bytes: 1 });
    expect(log.since(log.head - 100)).toHaveLength(100);
    expect(log.since(log.head - 126)).toBeUndefined();
    log.append({ topic: "package", type: "changed", key: "huge", at, bytes: 1_000_000 });
    expect(log.since(log.head)).toEqual([]);
  });

  it("whoever comes back with any id it was given misses nothing, however the log was cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("event", "leave", "break"), { maxLength: 60 }),
        fc.integer({ min: 1, max: 8 }),
        async (acts, most) => {
          const log = new EventLog("e1", { events: most });
          const known = new Set<string>();
          let lastEventId: string | undefined;
          let reader = follow(log, {});
          const take = (events: readonly FeedEvent[]): void => {
            for (const event of events) {
              lastEventId = event.id;
              // To read anew is to know everything there is.
              if (event.type === "resync") for (let n = 1; n <= written; n += 1) known.add(String(n));
              else known.add(event.key);
            }
          };
          let written = 0;
          await settle();
          for (const act of acts) {
            if (act === "event") tell(log, String((written += 1)));
            else if (act === "break") {
              written += 1;
              log.reset(0);
            } else {
              await settle();
              take(reader.events);
              await reader.close();
              reader = follow(log, lastEventId === undefined ? {} : { lastEventId });
              if (lastEventId === undefined) for (let n = 1; n <= written; n += 1) known.add(String(n));
            }
          }
          await settle();
          take(reader.events);
          await reader.close();
          for (let n = 1; n <= written; n += 1) expect(known.has(String(n))).toBe(true);
        },
      ),
    );
  });

  it("ids come back as they were, and nothing else is one", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.stringMatching(/^[0-9a-z]{1,32}$/), (revision, sequence, epoch) => {
        expect(parseEventId(formatEventId({ revision, epoch, sequence }))).toEqual({ revision, epoch, sequence });
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        const position = parseEventId(text);
        expect(position === undefined || formatEventId(position).length <= text.length).toBe(true);
      }),
    );
  });
});

describe("what is stored", () => {
  function storeOf(backlog?: number, history?: number) {
    const around = { clock, ...ambient };
    const store = openMemoryStore({
      ambient: around,
      ...(history === undefined ? {} : { history: { maxRevisions: history, maxBytes: 1e9 } as never }),
    });
    const collection = new Collection<StoredCluster>(store, CLUSTERS);
    open.push(store);
    const begin = async (epoch: string) => {
      const log = new EventLog(epoch);
      const topic = storedTopic({
        topic: "deployment",
        collection,
        keyOf: (id) => (id === "hidden" ? undefined : id),
        objectOf: ({ record }) => record.addedBy,
      });
      const events = new StoredEvents({
        store,
        topics: [topic],
        log,
        ambient: around,
        ...(backlog === undefined ? {} : { backlog }),
      });
      await events.start();
      open.push(events);
      await settle();
      return { log, events };
    };
    const put = (name: string) =>
      collection.create(name, {
        registration: { name: name as ClusterName, url: "http://x", labels: {}, retryAttempts: 1 },
        addedBy: "ann",
        addedAt: at,
      });
    return { store, collection, begin, put };
  }

  it("is told whoever wrote it, with what it is now", async () => {
    const { begin, put, collection } = storeOf();
    const { log } = await begin("e1");
    const { events, told } = follow(log);
    await settle();
    const stored = await put("a");
    await put("hidden");
    const changed = await collection.update(stored, { ...stored.record, addedBy: "bob" });
    await collection.delete(changed);
    await settle();
    expect(told()).toEqual(["deployment a added", "deployment a changed", "deployment a removed"]);
    expect(events.map(({ object }) => object)).toEqual(["ann", "bob", undefined]);
  });

  it("is told on over a restart: by revision, from the backlog", async () => {
    const { begin, put } = storeOf();
    const first = await begin("e1");
    const before = follow(first.log, { topic: "deployment" });
    await settle();
    await put("a");
    await settle();
    await first.events.close();
    await put("b");
    const second = await begin("e2");
    const after = follow(second.log, { topic: "deployment", lastEventId: before.events.at(-1)!.id });
    await settle();
    // The last one may come twice, for its own id was given before it was all told.
    expect(after.told().filter((one) => one !== "deployment a added")).toEqual(["deployment b added"]);
  });

  it("beyond the backlog is a resync", async () => {
    const { begin, put } = storeOf(1);
    const first = await begin("e1");
    const before = follow(first.log, { topic: "deployment" });
    await settle();
    await put("a");
    await settle();
    await first.events.close();
    for (const name of ["b", "c", "d"]) await put(name);
    const second = await begin("e2");
    const after = follow(second.log, { topic: "deployment", lastEventId: before.events.at(-1)!.id });
    await settle();
    expect(after.events.map(({ type }) => type)).toEqual(["resync"]);
  });

  it("a store that compacted what was to be read makes everybody read anew", async () => {
    const { begin, put, store } = storeOf();
    for (const name of ["a", "b", "c"]) await put(name);
    await store.compact(await store.revision());
    const { log } = await begin("e1");
    const follower = follow(log, { topic: "deployment", lastEventId: "1.e0.1" });
    await ambient.time.advance(1_000);
    expect(follower.events[0]).toMatchObject({ type: "resync" });
    await put("d");
    await settle();
    expect(follower.events.at(-1)).toMatchObject({ key: "d", type: "added" });
  });
});

describe("what is observed", () => {
  it("class runtimes once their cluster is known, health as it changes, clusters as they come and go", async () => {
    const log = new EventLog("e1");
    const view = new RuntimeView(clock);
    const edge = "edge" as ClusterName;
    const readers: ((reading: HealthReading, before: HealthReading | undefined) => void)[] = [];
    const changes: ((name: ClusterName) => void)[] = [];
    const end = observeEvents({
      log,
      clock,
      view,
      readings: { onReading: (listener) => (readers.push(listener), () => undefined) },
      clusters: { get: () => undefined, onChange: (listener) => (changes.push(listener), () => undefined) },
    });
    const { told, events } = follow(log);
    await settle();
    view.apply(edge, { type: "syncing" }, "live");
    view.apply(edge, { type: "changed", report: reportOf("edge", "a") }, "live");
    view.apply(edge, { type: "synced" }, "live");
    view.apply(edge, { type: "changed", report: reportOf("edge", "a", { condition: "down" }) }, "live");
    view.apply(edge, { type: "removed", unitId: reportOf("edge", "a").unitId }, "live");
    const reading: HealthReading = { cluster: edge, health: { cluster: edge, status: "healthy" }, breaker: "closed" };
    readers[0]?.(reading, undefined);
    readers[0]?.(reading, reading);
    changes[0]?.(edge);
    end();
    view.apply(edge, { type: "changed", report: reportOf("edge", "b") }, "live");
    await settle();
    expect(told()).toEqual([
      "class-runtime edge resync",
      "class-runtime a changed",
      "class-runtime a removed",
      "cluster edge added",
      "cluster edge changed",
      "cluster edge removed",
    ]);
    expect(events[1]?.object).toMatchObject({ id: "a", cluster_name: "edge", status: { condition: "Down" } });
    expect(events[3]?.object).toMatchObject({ name: "edge", health: { status: "Healthy" } });
  });
});
