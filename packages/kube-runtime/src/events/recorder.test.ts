import { unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { createRecordingMeter } from "@oaas/observability/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KubeClient } from "../client/kube-client.ts";
import { memoryApi } from "../testing/memory-api.ts";
import { fittingNote, type Happening, type KubeEvent } from "./event.ts";
import { EventRecorder, type RecorderOptions } from "./recorder.ts";

function setUp(options: Partial<RecorderOptions> = {}) {
  const ambient = virtualAmbient(4);
  const api = memoryApi();
  const meter = createRecordingMeter();
  // As fast as can be: a chain of writes must not wait for a clock that stands still.
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

const happening = (over: Partial<Happening> = {}): Happening => ({
  type: "Normal",
  reason: "Made",
  action: "Make",
  note: "made it",
  regarding: { apiVersion: "v1", kind: "Thing", namespace: "ns", name: "a", uid: "u1" },
  ...over,
});

describe("series", () => {
  test("what repeats is one Event with an exact count; what differs is another", async () => {
    const world = setUp();
    for (let i = 0; i < 3; i += 1) world.recorder.record(happening());
    await world.recorder.flush();
    world.recorder.record(happening());
    world.recorder.record(happening({ note: "made another" }));
    await world.recorder.flush();
    expect(world.events().map(({ note, series }) => [note, series?.count])).toEqual([
      ["made it", 4],
      ["made another", undefined],
    ]);
    expect([world.count("created"), world.count("counted"), world.count("dropped")]).toEqual([2, 3, 0]);
  });

  test("annotations go onto the Event; the same with others is another Event", async () => {
    const world = setUp();
    const caused = (by: string): Happening => happening({ annotations: { "example.com/cause": by } });
    for (const by of ["one", "one", "two"]) world.recorder.record(caused(by));
    await world.recorder.flush();
    expect(world.events().map(({ metadata, series }) => [metadata.annotations, series?.count])).toEqual([
      [{ "example.com/cause": "one" }, 2],
      [{ "example.com/cause": "two" }, undefined],
    ]);
  });

  test("ends when nothing was heard for its time", async () => {
    const world = setUp({ seriesMs: 60_000 });
    world.recorder.record(happening());
    await world.recorder.flush();
    await world.time.advance(59_000);
    world.recorder.record(happening());
    await world.recorder.flush();
    expect(world.events()).toHaveLength(1);
    await world.time.advance(60_000);
    world.recorder.record(happening());
    await world.recorder.flush();
    expect(world.events()).toHaveLength(2);
  });

  test("an Event that the server has thrown away is made anew, with the count", async () => {
    const world = setUp();
    world.recorder.record(happening());
    await world.recorder.flush();
    world.api.objects.clear();
    world.recorder.record(happening());
    await world.recorder.flush();
    expect(world.events().map(({ series }) => series?.count)).toEqual([2]);
  });
});

describe("bounds", () => {
  test("one object cannot flood; repeats beyond its rate are counted and written with the next", async () => {
    const world = setUp({ perObject: { burst: 2, perSecond: 1 / 60 } });
    for (let i = 0; i < 10; i += 1) {
      world.recorder.record(happening());
      await world.recorder.flush();
    }
    expect(world.api.transport.sent).toHaveLength(2);
    await world.time.advance(60_000);
    world.recorder.record(happening());
    await world.recorder.flush();
    expect(world.events()[0]?.series?.count).toBe(11);
    for (let i = 0; i < 5; i += 1) world.recorder.record(happening({ note: `different ${i}` }));
    await world.recorder.flush();
    expect(world.count("dropped")).toBe(5);
    world.recorder.record(happening({ regarding: { apiVersion: "v1", kind: "Thing", name: "b", uid: "u2" } }));
    await world.recorder.flush();
    expect(world.events()).toHaveLength(2);
  });

  test("the line is bounded while the server does not answer; nothing throws, and it goes on afterwards", async () => {
    const world = setUp({ limit: 10, perObject: { burst: 1000, perSecond: 1 } });
    world.api.intercept = () => "hang";
    for (let i = 0; i < 100; i += 1) world.recorder.record(happening({ note: `n${i}` }));
    expect(world.count("dropped")).toBe(89);
    await world.time.advance(9_000);
    world.api.intercept = () => undefined;
    await world.time.advance(1_000);
    await world.recorder.flush();
    expect(world.events()).toHaveLength(10);
    expect(world.count("dropped")).toBe(90);
    expect(world.time.pendingTimers).toBe(0);
  });

  test("memory for objects and series is bounded: what was heard of long ago begins anew", async () => {
    const world = setUp({ limit: 100_000 });
    const about = (i: number): Happening =>
      happening({ regarding: { apiVersion: "v1", kind: "Thing", namespace: "ns", name: `n${i}`, uid: `u${i}` } });
    for (let i = 0; i < 4_200; i += 1) world.recorder.record(about(i));
    await world.recorder.flush();
    world.recorder.record(about(4_199));
    world.recorder.record(about(0));
    await world.recorder.flush();
    expect(world.count("counted")).toBe(1);
    expect(world.events()).toHaveLength(4_201);
  });
});

test("a write that fails is dropped, and the next happening is still written", async () => {
  const world = setUp();
  world.api.intercept = () => {
    throw unavailable("server", "down");
  };
  world.recorder.record(happening());
  await world.recorder.flush();
  world.api.intercept = () => undefined;
  expect(world.count("dropped")).toBe(1);
  world.recorder.record(happening());
  await world.recorder.flush();
  expect(world.events().map(({ series }) => series?.count)).toEqual([2]);
});

test("whatever is recorded while the last write ends is written too", async () => {
  const world = setUp();
  let recorded = 0;
  const more = async (): Promise<void> => {
    for (let turn = 0; turn < 300; turn += 1) {
      await Promise.resolve();
      if (turn % 7 === 0) world.recorder.record(happening({ note: `n${(recorded += 1)}` }));
      if (recorded >= 20) return;
    }
  };
  await more();
  await world.recorder.flush();
  await world.time.advance(0);
  expect(world.events()).toHaveLength(20);
});

test.each([
  { regarding: { apiVersion: "v1", kind: "Node", name: "n" }, namespace: "default" },
  { regarding: { apiVersion: "v1", kind: "Node", name: "n", namespace: "" }, namespace: "default" },
  { regarding: { apiVersion: "v1", kind: "Pod", name: "p", namespace: "team" }, namespace: "team" },
])("an Event about $regarding.kind is in $namespace", async ({ regarding, namespace }) => {
  const world = setUp();
  world.recorder.record(happening({ regarding }));
  await world.recorder.flush();
  expect(world.events()[0]?.metadata.namespace).toBe(namespace);
});

test("a note is cut to what the server takes, never inside a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 3000 }), (note) => {
      const cut = fittingNote(note);
      expect(new TextEncoder().encode(cut).length).toBeLessThanOrEqual(1024);
      if (cut !== note) expect(note.startsWith(cut.slice(0, -1)) || note.includes("\uFFFD")).toBe(true);
    }),
  );
});
