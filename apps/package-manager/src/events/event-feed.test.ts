import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterName } from "@oaas/models";
import { createRecordingMeter } from "@oaas/observability/testing";
import { Collection } from "@oaas/storage";
import { openMemoryStore } from "@oaas/storage/memory";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { CLUSTERS, type StoredCluster } from "../stores/cluster-store.ts";
import type { HealthReading, UnitReport } from "../ports.ts";
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

/** Follows in the background and collects the events. */
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
  return { events, close, summaries: () => events.map(({ type, topic, key }) => `${topic} ${key} ${type}`) };
}

const append = (log: EventLog, key: string, topic: EventTopic = "deployment", revision?: number): void =>
  log.append({ topic, key, at, type: "changed", ...(revision === undefined ? {} : { revision }) });

const runPending = () => ambient.time.advance(0);

describe("LogEventFeed", () => {
  it("follows new events by topic and key", async () => {
    const log = new EventLog("e1");
    append(log, "before");
    const all = follow(log);
    const some = follow(log, { topic: "deployment", key: "a" });
    await runPending();
    append(log, "a");
    append(log, "b");
    append(log, "a", "package");
    await runPending();
    expect(all.summaries()).toEqual(["deployment a changed", "deployment b changed", "package a changed"]);
    expect(some.summaries()).toEqual(["deployment a changed"]);
  });

  it("creates the object of an event once, for its first follower", async () => {
    const log = new EventLog("e1");
    let made = 0;
    const append = (key: string): void =>
      log.append({ topic: "package", key, at, type: "changed", createObject: () => ({ key, made: (made += 1) }) });
    append("unread");
    expect(made).toBe(0);
    const followers = [follow(log), follow(log, { key: "a" }), follow(log, { key: "b" })];
    await runPending();
    append("a");
    await runPending();
    expect(followers.map(({ events }) => events.map(({ object }) => object))).toEqual([
      [{ key: "a", made: 1 }],
      [{ key: "a", made: 1 }],
      [],
    ]);
    expect(followers[0]?.events[0]).not.toHaveProperty("createObject");
  });

  const resumptions: {
    name: string;
    id: (log: EventLog) => string;
    topic?: EventTopic;
    expected: string[];
    why: string;
  }[] = [
    { name: "the same process", id: () => "5.e1.1", expected: ["b", "c"], why: "the log has all events" },
    { name: "no event was missed", id: () => "7.e1.3", expected: [], why: "it was up to date" },
    {
      name: "another process, stored topic",
      id: () => "5.e0.900",
      topic: "deployment",
      expected: ["b", "c"],
      why: "by revision",
    },
    {
      name: "another process, nothing missed",
      id: () => "7.e0.900",
      topic: "deployment",
      expected: [],
      why: "by revision",
    },
    {
      name: "another process, all topics",
      id: () => "5.e0.900",
      expected: ["5 resync"],
      why: "observed events are not stored",
    },
    {
      name: "another process, observed topic",
      id: () => "5.e0.900",
      topic: "class-runtime",
      expected: ["1 resync"],
      why: "observed events are not stored",
    },
    {
      name: "older than the log",
      id: () => "2.e0.1",
      topic: "deployment",
      expected: ["1 resync"],
      why: "the log does not reach back",
    },
    { name: "a future id", id: () => "9.e1.99", topic: "deployment", expected: ["1 resync"], why: "not a known id" },
    { name: "an invalid id", id: () => "🙂", topic: "deployment", expected: ["1 resync"], why: "not a known id" },
  ];
  it.each(resumptions)("resumes, $name: $why", async ({ id, topic, expected }) => {
    const log = new EventLog("e1");
    log.startFrom(4);
    append(log, "a", "deployment", 5);
    append(log, "b", "deployment", 6);
    append(log, "c", "deployment", 7);
    const follower = follow(log, { lastEventId: id(log), ...(topic === undefined ? {} : { topic }) });
    await runPending();
    const resyncs = follower.events.filter(({ type }) => type === "resync").length;
    expect(resyncs > 0 ? [`${resyncs} resync`] : follower.events.map(({ key }) => key)).toEqual(expected);
    append(log, "d", topic ?? "deployment");
    await runPending();
    expect(follower.events.at(-1)?.key).toBe("d");
  });

  it("resumes by a given id for any epoch", async () => {
    const log = new EventLog("0F8FAD5B-d9cb-469f-a165-70867728950e");
    const before = follow(log);
    await runPending();
    append(log, "a");
    append(log, "b");
    await runPending();
    const after = follow(log, { lastEventId: before.events[0]!.id });
    await runPending();
    expect(after.summaries()).toEqual(["deployment b changed"]);
  });

  it("sends a resync to a slow follower, which continues from there", async () => {
    const log = new EventLog("e1", { events: 4 });
    const stop = new AbortController();
    const reader = new LogEventFeed(log, clock).follow({ topic: "deployment", signal: stop.signal });
    const first = reader.next();
    append(log, "0");
    expect((await first).value).toMatchObject({ key: "0" });
    for (let n = 1; n <= 20; n += 1) append(log, String(n));
    expect((await reader.next()).value).toMatchObject({ type: "resync", topic: "deployment" });
    const last = reader.next();
    append(log, "21");
    expect((await last).value).toMatchObject({ key: "21" });
    stop.abort();
  });

  it("measures streams, delivered events, their lag, and resyncs", async () => {
    const meter = createRecordingMeter();
    const log = new EventLog("e1", { events: 4 });
    const stop = new AbortController();
    const reader = new LogEventFeed(log, clock, meter).follow({ topic: "deployment", signal: stop.signal });
    const first = reader.next();
    expect(meter.value("pm_event_subscribers")).toBe(1);
    const now = new Date(clock.now()).toISOString();
    log.append({ topic: "deployment", key: "a", at: now, type: "changed" });
    await first;
    await ambient.time.advance(2_000);
    for (let n = 0; n < 20; n += 1) log.append({ topic: "deployment", key: "a", at: now, type: "changed" });
    await reader.next();
    log.append({ topic: "deployment", key: "b", at: now, type: "changed" });
    await reader.next();
    expect(meter.value("pm_events_delivered_total", { topic: "deployment" })).toBe(3);
    expect(meter.value("pm_event_resyncs_total")).toBe(1);
    expect(meter.observations("pm_event_lag_seconds")).toEqual([0, 0, 2]);
    stop.abort();
    await reader.return(undefined);
    expect(meter.value("pm_event_subscribers")).toBe(0);
  });

  it("bounds the log by number and size", () => {
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

  it("loses no event when a follower resumes by any id, however the log was trimmed", async () => {
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
              // A resync makes the client read everything.
              if (event.type === "resync") for (let n = 1; n <= written; n += 1) known.add(String(n));
              else known.add(event.key);
            }
          };
          let written = 0;
          await runPending();
          for (const act of acts) {
            if (act === "event") append(log, String((written += 1)));
            else if (act === "break") {
              written += 1;
              log.reset(0);
            } else {
              await runPending();
              take(reader.events);
              await reader.close();
              reader = follow(log, lastEventId === undefined ? {} : { lastEventId });
              if (lastEventId === undefined) for (let n = 1; n <= written; n += 1) known.add(String(n));
            }
          }
          await runPending();
          take(reader.events);
          await reader.close();
          for (let n = 1; n <= written; n += 1) expect(known.has(String(n))).toBe(true);
        },
      ),
    );
  });

  it("parses its own ids and rejects others", () => {
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

describe("StoredEvents", () => {
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
        toObject: ({ record }) => record.addedBy,
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
      await runPending();
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

  it("appends changes of all writers with the current object", async () => {
    const { begin, put, collection } = storeOf();
    const { log } = await begin("e1");
    const { events, summaries } = follow(log);
    await runPending();
    const stored = await put("a");
    await put("hidden");
    const changed = await collection.update(stored, { ...stored.record, addedBy: "bob" });
    await collection.delete(changed);
    await runPending();
    expect(summaries()).toEqual(["deployment a added", "deployment a changed", "deployment a removed"]);
    expect(events.map(({ object }) => object)).toEqual(["ann", "bob", undefined]);
  });

  it("resumes after a restart by revision", async () => {
    const { begin, put } = storeOf();
    const first = await begin("e1");
    const before = follow(first.log, { topic: "deployment" });
    await runPending();
    await put("a");
    await runPending();
    await first.events.close();
    await put("b");
    const second = await begin("e2");
    const after = follow(second.log, { topic: "deployment", lastEventId: before.events.at(-1)!.id });
    await runPending();
    // The last event may be repeated, because its id was assigned before its revision was complete.
    expect(after.summaries().filter((one) => one !== "deployment a added")).toEqual(["deployment b added"]);
  });

  it("sends a resync beyond the backlog", async () => {
    const { begin, put } = storeOf(1);
    const first = await begin("e1");
    const before = follow(first.log, { topic: "deployment" });
    await runPending();
    await put("a");
    await runPending();
    await first.events.close();
    for (const name of ["b", "c", "d"]) await put(name);
    const second = await begin("e2");
    const after = follow(second.log, { topic: "deployment", lastEventId: before.events.at(-1)!.id });
    await runPending();
    expect(after.events.map(({ type }) => type)).toEqual(["resync"]);
  });

  it("sends a resync after the store compacted unread history", async () => {
    const { begin, put, store } = storeOf();
    for (const name of ["a", "b", "c"]) await put(name);
    await store.compact(await store.revision());
    const { log } = await begin("e1");
    const follower = follow(log, { topic: "deployment", lastEventId: "1.e0.1" });
    await ambient.time.advance(1_000);
    expect(follower.events[0]).toMatchObject({ type: "resync" });
    await put("d");
    await runPending();
    expect(follower.events.at(-1)).toMatchObject({ key: "d", type: "added" });
  });
});

function withCorrection(report: UnitReport): UnitReport {
  const { runtime } = report;
  const driftCorrections = [
    { kind: "Deployment", name: "d", fields: [], firstAt: "t", lastAt: "t", count: 1, message: "corrected" },
  ];
  return { ...report, runtime: { ...runtime, status: { ...runtime.status!, driftCorrections } } };
}

describe("observeEvents", () => {
  it("appends runtimes of synced clusters, health changes and cluster changes", async () => {
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
    const { summaries, events } = follow(log);
    await runPending();
    view.apply(edge, { type: "syncing" }, "live");
    view.apply(edge, { type: "changed", report: reportOf("edge", "a") }, "live");
    view.apply(edge, { type: "synced" }, "live");
    view.apply(edge, { type: "changed", report: reportOf("edge", "a", { condition: "down" }) }, "live");
    view.apply(edge, { type: "changed", report: withCorrection(reportOf("edge", "a", { condition: "down" })) }, "live");
    view.apply(edge, { type: "removed", unitId: reportOf("edge", "a").unitId }, "live");
    const reading: HealthReading = { cluster: edge, health: { cluster: edge, status: "healthy" }, breaker: "closed" };
    readers[0]?.(reading, undefined);
    readers[0]?.(reading, reading);
    changes[0]?.(edge);
    end();
    view.apply(edge, { type: "changed", report: reportOf("edge", "b") }, "live");
    await runPending();
    expect(summaries()).toEqual([
      "class-runtime edge resync",
      "class-runtime a changed",
      "class-runtime a changed",
      "class-runtime a drift-corrected",
      "class-runtime a removed",
      "cluster edge added",
      "cluster edge changed",
      "cluster edge removed",
    ]);
    expect(events[1]?.object).toMatchObject({ id: "a", cluster_name: "edge", status: { condition: "Down" } });
    expect(events[3]?.object).toMatchObject({ reason: "DriftCorrected", cluster: "edge", message: "corrected" });
    expect(events[5]?.object).toMatchObject({ name: "edge", health: { status: "Healthy" } });
  });
});
