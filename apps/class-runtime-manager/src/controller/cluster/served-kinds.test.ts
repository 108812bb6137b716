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

/** A cluster that defines kinds at once and serves them when it pleases. */
function clusterOf({ mayWatch = true, isDown: startsDown = false } = {}) {
  const ambient = virtualAmbient(1);
  const looks: number[] = [];
  const listeners = new Set<() => void>();
  const defined = new Set<ChildKind>();
  const served = new Set<ChildKind>();
  const followed = new Set<ChildKind>();
  const stop = new AbortController();
  let isDown = startsDown;
  const kinds = new ServedKinds({
    client: {} as KubeClient,
    children: {
      get kinds() {
        return [...followed];
      },
      async lookForKinds() {
        looks.push(ambient.time.monotonic());
        if (isDown) throw unavailable("api", "down");
        const changed = served.size !== followed.size;
        followed.clear();
        for (const kind of served) followed.add(kind);
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
  const woken: number[] = [];
  kinds.source(() => [{ namespace: "n", name: "a" }])(() => void woken.push(ambient.time.monotonic()));
  const running = kinds.run(stop.signal);
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    kinds,
    looks,
    woken,
    served,
    time: ambient.time,
    define: (kind: ChildKind) => {
      defined.add(kind);
      tell();
    },
    remove: (kind: ChildKind) => {
      defined.delete(kind);
      tell();
    },
    mend: () => void (isDown = false),
    end: async () => {
      stop.abort();
      await running;
      expect(listeners.size).toBe(0);
    },
  };
}

test("while nothing is defined, nobody looks more than now and then", async () => {
  const { looks, time, end } = clusterOf();
  await time.advance(HOUR_MS);
  expect(looks.length).toBeLessThanOrEqual(7);
  await end();
});

test("a kind that is defined and served is found at once, and everyone is woken", async () => {
  const { define, served, looks, woken, time, end } = clusterOf();
  await time.advance(10_000);
  served.add(KNATIVE);
  define(KNATIVE);
  await time.advance(0);
  expect(woken).toEqual([10_000]);
  const found = looks.length;
  await time.advance(HOUR_MS / 10 - 60_000);
  expect(looks.length).toBe(found);
  await end();
});

test("one that is served a while after it was defined is found soon after that", async () => {
  const { define, served, looks, woken, time, end } = clusterOf();
  await time.advance(10_000);
  define(KNATIVE);
  await time.advance(700);
  served.add(KNATIVE);
  await time.advance(1_000);
  expect(woken).toHaveLength(1);
  expect(woken[0]! - 10_700).toBeLessThan(700);
  expect(looks.length).toBeLessThan(10);
  await end();
});

test("a definition that never leads to a kind is looked at as seldom as if there were no watch", async () => {
  const { define, looks, time, end } = clusterOf();
  define(KNATIVE);
  await time.advance(HOUR_MS);
  expect(looks.length).toBeLessThan(HOUR_MS / EVERY_MS + 15);
  expect(looks.length).toBeGreaterThan(100);
  await end();
});

test("a kind that goes is given up as soon as it is not served any more", async () => {
  const { define, remove, served, woken, time, end } = clusterOf();
  served.add(KNATIVE);
  define(KNATIVE);
  await time.advance(100_000);
  remove(KNATIVE);
  await time.advance(200);
  expect(woken).toHaveLength(1);
  served.delete(KNATIVE);
  await time.advance(500);
  expect(woken).toHaveLength(2);
  await end();
});

test("whoever may not watch definitions looks by the clock", async () => {
  const { served, woken, time, end } = clusterOf({ mayWatch: false });
  await time.advance(10_000);
  served.add(KNATIVE);
  await time.advance(EVERY_MS);
  expect(woken).toEqual([EVERY_MS]);
  await end();
});

test("classes wait for the first look that succeeds", async () => {
  const { kinds, mend, time, end } = clusterOf({ isDown: true });
  let isKnown = false;
  void kinds.known(new AbortController().signal).then(() => (isKnown = true));
  await time.advance(5_000);
  expect(isKnown).toBe(false);
  mend();
  await time.advance(1_000);
  expect(isKnown).toBe(true);
  await end();
});
