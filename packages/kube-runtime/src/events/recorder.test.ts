import { unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { createRecordingMeter } from "@oaas/observability/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KubeClient } from "../client/kube-client.ts";
import { memoryApi } from "../testing/memory-api.ts";
import { truncateNote, type EventInput, type KubeEvent } from "./event.ts";
import { EventRecorder, type RecorderOptions } from "./recorder.ts";

function setUp(options: Partial<RecorderOptions> = {}) {
  const ambient = virtualAmbient(4);
  const api = memoryApi();
  const meter = createRecordingMeter();
  // High rate: a chain of writes must not wait for a clock that does not advance.
  const flow = { perSecond: 1e6, burst: 1e6, inFlight: 64 };
  const client = new KubeClient({ transport: api.transport, ambient, flow });
  const recorder = new EventRecorder({
    client,
    ambient,
    meter,
    controller: "example.com/c",
    instance: "i",
    ...options,
  });
  const events = (): KubeEvent[] => api.ofKind<KubeEvent>("Event");
  const count = (outcome: string): number | undefined => meter.value("kube_events_recorded_total", { outcome });
  return { time: ambient.time, api, recorder, events, count };
}

const happening = (over: Partial<EventInput> = {}): EventInput => ({
  type: "Normal",
  reason: "Made",
  action: "Make",
  note: "made it",
  regarding: { apiVersion: "v1", kind: "Thing", namespace: "ns", name: "a", uid: "u1" },
  ...over,
});

describe("series", () => {
  test("merges repeats into one Event with an exact count, and keeps different events apart", async () => {
    const fixture = setUp();
    for (let i = 0; i < 3; i += 1) fixture.recorder.record(happening());
    await fixture.recorder.flush();
    fixture.recorder.record(happening());
    fixture.recorder.record(happening({ note: "made another" }));
    await fixture.recorder.flush();
    expect(fixture.events().map(({ note, series }) => [note, series?.count])).toEqual([
      ["made it", 4],
      ["made another", undefined],
    ]);
    expect([fixture.count("created"), fixture.count("counted"), fixture.count("dropped")]).toEqual([2, 3, 0]);
  });

  test("writes annotations to the Event, and different annotations to another Event", async () => {
    const fixture = setUp();
    const caused = (by: string): EventInput => happening({ annotations: { "example.com/cause": by } });
    for (const by of ["one", "one", "two"]) fixture.recorder.record(caused(by));
    await fixture.recorder.flush();
    expect(fixture.events().map(({ metadata, series }) => [metadata.annotations, series?.count])).toEqual([
      [{ "example.com/cause": "one" }, 2],
      [{ "example.com/cause": "two" }, undefined],
    ]);
  });

  test("ends a series after its idle time", async () => {
    const fixture = setUp({ seriesMs: 60_000 });
    fixture.recorder.record(happening());
    await fixture.recorder.flush();
    await fixture.time.advance(59_000);
    fixture.recorder.record(happening());
    await fixture.recorder.flush();
    expect(fixture.events()).toHaveLength(1);
    await fixture.time.advance(60_000);
    fixture.recorder.record(happening());
    await fixture.recorder.flush();
    expect(fixture.events()).toHaveLength(2);
  });

  test("recreates an Event that the server has expired, with its count", async () => {
    const fixture = setUp();
    fixture.recorder.record(happening());
    await fixture.recorder.flush();
    fixture.api.objects.clear();
    fixture.recorder.record(happening());
    await fixture.recorder.flush();
    expect(fixture.events().map(({ series }) => series?.count)).toEqual([2]);
  });
});

describe("bounds", () => {
  test("rate-limits one object, and adds suppressed repeats to the next write", async () => {
    const fixture = setUp({ perObject: { burst: 2, perSecond: 1 / 60 } });
    for (let i = 0; i < 10; i += 1) {
      fixture.recorder.record(happening());
      await fixture.recorder.flush();
    }
    expect(fixture.api.transport.sent).toHaveLength(2);
    await fixture.time.advance(60_000);
    fixture.recorder.record(happening());
    await fixture.recorder.flush();
    expect(fixture.events()[0]?.series?.count).toBe(11);
    for (let i = 0; i < 5; i += 1) fixture.recorder.record(happening({ note: `different ${i}` }));
    await fixture.recorder.flush();
    expect(fixture.count("dropped")).toBe(5);
    fixture.recorder.record(happening({ regarding: { apiVersion: "v1", kind: "Thing", name: "b", uid: "u2" } }));
    await fixture.recorder.flush();
    expect(fixture.events()).toHaveLength(2);
  });

  test("bounds the queue while the server does not respond, never throws, and recovers", async () => {
    const fixture = setUp({ limit: 10, perObject: { burst: 1000, perSecond: 1 } });
    fixture.api.intercept = () => "hang";
    for (let i = 0; i < 100; i += 1) fixture.recorder.record(happening({ note: `n${i}` }));
    expect(fixture.count("dropped")).toBe(89);
    await fixture.time.advance(9_000);
    fixture.api.intercept = () => undefined;
    await fixture.time.advance(1_000);
    await fixture.recorder.flush();
    expect(fixture.events()).toHaveLength(10);
    expect(fixture.count("dropped")).toBe(90);
    expect(fixture.time.pendingTimers).toBe(0);
  });

  test("bounds memory for objects and series by evicting the oldest", async () => {
    const fixture = setUp({ limit: 100_000 });
    const about = (i: number): EventInput =>
      happening({ regarding: { apiVersion: "v1", kind: "Thing", namespace: "ns", name: `n${i}`, uid: `u${i}` } });
    for (let i = 0; i < 4_200; i += 1) fixture.recorder.record(about(i));
    await fixture.recorder.flush();
    fixture.recorder.record(about(4_199));
    fixture.recorder.record(about(0));
    await fixture.recorder.flush();
    expect(fixture.count("counted")).toBe(1);
    expect(fixture.events()).toHaveLength(4_201);
  });
});

test("drops a failed write and writes the next event", async () => {
  const fixture = setUp();
  fixture.api.intercept = () => {
    throw unavailable("server", "down");
  };
  fixture.recorder.record(happening());
  await fixture.recorder.flush();
  fixture.api.intercept = () => undefined;
  expect(fixture.count("dropped")).toBe(1);
  fixture.recorder.record(happening());
  await fixture.recorder.flush();
  expect(fixture.events().map(({ series }) => series?.count)).toEqual([2]);
});

test("writes events recorded while the last write finishes", async () => {
  const fixture = setUp();
  let recorded = 0;
  const more = async (): Promise<void> => {
    for (let turn = 0; turn < 300; turn += 1) {
      await Promise.resolve();
      if (turn % 7 === 0) fixture.recorder.record(happening({ note: `n${(recorded += 1)}` }));
      if (recorded >= 20) return;
    }
  };
  await more();
  await fixture.recorder.flush();
  await fixture.time.advance(0);
  expect(fixture.events()).toHaveLength(20);
});

test.each([
  { regarding: { apiVersion: "v1", kind: "Node", name: "n" }, namespace: "default" },
  { regarding: { apiVersion: "v1", kind: "Node", name: "n", namespace: "" }, namespace: "default" },
  { regarding: { apiVersion: "v1", kind: "Pod", name: "p", namespace: "team" }, namespace: "team" },
])("writes an Event about $regarding.kind to $namespace", async ({ regarding, namespace }) => {
  const fixture = setUp();
  fixture.recorder.record(happening({ regarding }));
  await fixture.recorder.flush();
  expect(fixture.events()[0]?.metadata.namespace).toBe(namespace);
});

test("truncates a note to the server's limit at a character boundary", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 3000 }), (note) => {
      const cut = truncateNote(note);
      expect(new TextEncoder().encode(cut).length).toBeLessThanOrEqual(1024);
      if (cut !== note) expect(note.startsWith(cut.slice(0, -1)) || note.includes("\uFFFD")).toBe(true);
    }),
  );
});
