import { unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { KubeClient } from "@oaas/kube-runtime";
import { NOOP_LOGGER } from "@oaas/observability";
import { expect, test } from "vitest";
import { OPTIONAL_CHILD_KINDS, type ChildKind } from "../kinds/resource-types.ts";
import { ServedKinds } from "./served-kinds.ts";

const [KNATIVE] = OPTIONAL_CHILD_KINDS as readonly [ChildKind];
const EVERY_MS = 30_000;
const HOUR_MS = 3_600_000;

/** A cluster whose definitions and served kinds the test controls. */
function startDiscovery({ mayWatch = true, isDown: startsDown = false } = {}) {
  const ambient = virtualAmbient(1);
  const discoveries: number[] = [];
  const listeners = new Set<() => void>();
  const defined = new Set<ChildKind>();
  const served = new Set<ChildKind>();
  const watched = new Set<ChildKind>();
  const stop = new AbortController();
  let isDown = startsDown;
  const kinds = new ServedKinds({
    client: {} as KubeClient,
    children: {
      get kinds() {
        return [...watched];
      },
      async discoverKinds() {
        discoveries.push(ambient.time.monotonic());
        if (isDown) throw unavailable("api", "down");
        const changed = served.size !== watched.size;
        watched.clear();
        for (const kind of served) watched.add(kind);
        return changed;
      },
    },
    definitions: {
      has: (kind) => (mayWatch ? defined.has(kind) : undefined),
      onChange: (listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    timers: ambient.timers,
    logger: NOOP_LOGGER,
    everyMs: EVERY_MS,
  });
  const enqueued: number[] = [];
  kinds.source(() => [{ namespace: "n", name: "a" }])(() => void enqueued.push(ambient.time.monotonic()));
  const running = kinds.run(stop.signal);
  const notify = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    kinds,
    discoveries,
    enqueued,
    served,
    time: ambient.time,
    define: (kind: ChildKind) => {
      defined.add(kind);
      notify();
    },
    remove: (kind: ChildKind) => {
      defined.delete(kind);
      notify();
    },
    recover: () => void (isDown = false),
    end: async () => {
      stop.abort();
      await running;
      expect(listeners.size).toBe(0);
    },
  };
}

test("discovers rarely while no kind is defined", async () => {
  const { discoveries, time, end } = startDiscovery();
  await time.advance(HOUR_MS);
  expect(discoveries.length).toBeLessThanOrEqual(7);
  await end();
});

test("finds a defined and served kind at once and enqueues all classes", async () => {
  const { define, served, discoveries, enqueued, time, end } = startDiscovery();
  await time.advance(10_000);
  served.add(KNATIVE);
  define(KNATIVE);
  await time.advance(0);
  expect(enqueued).toEqual([10_000]);
  const count = discoveries.length;
  await time.advance(HOUR_MS / 10 - 60_000);
  expect(discoveries.length).toBe(count);
  await end();
});

test("finds a kind soon after it is served, although it was defined earlier", async () => {
  const { define, served, discoveries, enqueued, time, end } = startDiscovery();
  await time.advance(10_000);
  define(KNATIVE);
  await time.advance(700);
  served.add(KNATIVE);
  await time.advance(1_000);
  expect(enqueued).toHaveLength(1);
  expect(enqueued[0]! - 10_700).toBeLessThan(700);
  expect(discoveries.length).toBeLessThan(10);
  await end();
});

test("falls back to the interval for a defined kind that is never served", async () => {
  const { define, discoveries, time, end } = startDiscovery();
  define(KNATIVE);
  await time.advance(HOUR_MS);
  expect(discoveries.length).toBeLessThan(HOUR_MS / EVERY_MS + 15);
  expect(discoveries.length).toBeGreaterThan(100);
  await end();
});

test("drops a kind as soon as it is no longer served", async () => {
  const { define, remove, served, enqueued, time, end } = startDiscovery();
  served.add(KNATIVE);
  define(KNATIVE);
  await time.advance(100_000);
  remove(KNATIVE);
  await time.advance(200);
  expect(enqueued).toHaveLength(1);
  served.delete(KNATIVE);
  await time.advance(500);
  expect(enqueued).toHaveLength(2);
  await end();
});

test("discovers at the interval without permission to watch definitions", async () => {
  const { served, enqueued, time, end } = startDiscovery({ mayWatch: false });
  await time.advance(10_000);
  served.add(KNATIVE);
  await time.advance(EVERY_MS);
  expect(enqueued).toEqual([EVERY_MS]);
  await end();
});

test("whenKnown resolves after the first successful discovery", async () => {
  const { kinds, recover, time, end } = startDiscovery({ isDown: true });
  let isKnown = false;
  void kinds.whenKnown(new AbortController().signal).then(() => (isKnown = true));
  await time.advance(5_000);
  expect(isKnown).toBe(false);
  recover();
  await time.advance(1_000);
  expect(isKnown).toBe(true);
  await end();
});
