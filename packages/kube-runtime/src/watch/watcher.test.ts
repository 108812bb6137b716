import { abortFault, invalidArgument, notFound, resourceExhausted, unavailable, Fault } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import type { ListPage, WatchEvent, WatchSource } from "./watch-source.ts";
import { runWatcher, type WatcherEvent, type WatcherOptions } from "./watcher.ts";

interface Thing {
  readonly name: string;
  readonly version: number;
}

const expired = (): Fault =>
  new Fault({ kind: "failed-precondition", subject: "version" }, "too old", { context: { expired: true } });

/** The scripted behaviour of one watch: events, then hang, end, or break. */
type Script = { readonly events: readonly WatchEvent<Thing>[]; readonly after: "hang" | "end" | Fault } | Fault;

const put = (name: string, version: number): WatchEvent<Thing> => ({
  type: "MODIFIED",
  object: { name, version },
  resourceVersion: String(version),
});
const bookmark = (version: number, initialEventsEnd = false): WatchEvent<Thing> => ({
  type: "BOOKMARK",
  resourceVersion: String(version),
  initialEventsEnd,
});

function setUp(
  scripts: Script[],
  options: Partial<WatcherOptions<Thing>> = {},
  pages: (ListPage<Thing> | Fault)[] = [],
) {
  const ambient = virtualAmbient(11);
  const requests: string[] = [];
  const things = new Map<string, number>();
  const notes: WatcherEvent[] = [];
  let replaced = 0;
  const source: WatchSource<Thing> = {
    list: async (query) => {
      requests.push(`list ${query.continue ?? "first"}`);
      const page = pages.shift();
      if (!page) throw unavailable("server", "no page left");
      if (page instanceof Fault) throw page;
      return page;
    },
    watch: async (query, signal) => {
      requests.push(`watch ${query.resourceVersion || "initial"}`);
      const script = scripts.shift() ?? { events: [], after: "hang" };
      if (script instanceof Fault) throw script;
      return (async function* () {
        yield* script.events;
        if (script.after === "end") return;
        if (script.after !== "hang") throw script.after;
        await new Promise((_, reject) => {
          if (signal.aborted) reject(abortFault(signal));
          signal.addEventListener("abort", () => reject(abortFault(signal)));
        });
      })();
    },
  };
  const stop = new AbortController();
  const running = runWatcher<Thing>(
    {
      source,
      ambient,
      sink: {
        admit: (object) => object,
        replace: (items) => {
          replaced += 1;
          things.clear();
          for (const { name, version } of items) things.set(name, version);
        },
        apply: (type, { name, version }) => void (type === "DELETED" ? things.delete(name) : things.set(name, version)),
      },
      onNote: (note) => notes.push(note),
      streamingList: true,
      ...options,
    },
    stop.signal,
  );
  const finish = async (): Promise<void> => {
    stop.abort();
    await running;
    expect(ambient.time.pendingTimers).toBe(0);
  };
  return { time: ambient.time, requests, things, notes, finish, replaced: () => replaced };
}

const FIRST: Script = { events: [put("a", 3), put("b", 5), bookmark(7, true)], after: "end" };

describe("the initial list", () => {
  test("streamed: complete only at its bookmark, then follows changes from there", async () => {
    const fixture = setUp([{ events: [put("a", 3), put("b", 5), bookmark(7, true), put("c", 8)], after: "hang" }]);
    await fixture.time.advance(10);
    expect(Object.fromEntries(fixture.things)).toEqual({ a: 3, b: 5, c: 8 });
    expect(fixture.replaced()).toBe(1);
    await fixture.finish();
  });

  test("detects a server without streamed lists by its first bookmark", async () => {
    const fixture = setUp([{ events: [put("a", 3), bookmark(7)], after: "hang" }], {}, [
      { items: [{ name: "a", version: 3 }], resourceVersion: "9" },
    ]);
    await fixture.time.advance(1000);
    expect(fixture.requests).toEqual(["watch initial", "list first", "watch 9"]);
    expect(Object.fromEntries(fixture.things)).toEqual({ a: 3 });
    await fixture.finish();
  });

  test("discards a stream that breaks before its bookmark and lists by pages", async () => {
    const fixture = setUp([{ events: [put("ghost", 3)], after: "end" }], {}, [
      { items: [{ name: "a", version: 3 }], resourceVersion: "7" },
    ]);
    await fixture.time.advance(5000);
    expect(Object.fromEntries(fixture.things)).toEqual({ a: 3 });
    expect(fixture.requests).toEqual(["watch initial", "list first", "watch 7"]);
    await fixture.finish();
  });

  test("lists by pages from a server that cannot stream", async () => {
    const fixture = setUp([invalidArgument("query", [])], {}, [
      { items: [{ name: "a", version: 1 }], resourceVersion: "9", continue: "more" },
      { items: [{ name: "b", version: 2 }], resourceVersion: "9" },
    ]);
    await fixture.time.advance(10);
    expect(fixture.requests).toEqual(["watch initial", "list first", "list more", "watch 9"]);
    expect(Object.fromEntries(fixture.things)).toEqual({ a: 1, b: 2 });
    await fixture.finish();
  });

  test("restarts a list whose continue token expired", async () => {
    const fixture = setUp([], { streamingList: false }, [
      { items: [{ name: "old", version: 1 }], resourceVersion: "9", continue: "more" },
      expired(),
      { items: [{ name: "a", version: 4 }], resourceVersion: "12" },
    ]);
    await fixture.time.advance(300);
    expect(Object.fromEntries(fixture.things)).toEqual({ a: 4 });
    await fixture.finish();
  });
});

describe("resuming a watch", () => {
  test.each([
    { how: "ended by the server", after: "end" as const },
    { how: "broken", after: unavailable("server", "reset") },
    { how: "throttled", after: resourceExhausted("requests", "slow down") },
    { how: "failed inside the server", after: new Fault({ kind: "internal" }, "500") },
  ])("resumes from the last version without a new list after the watch was $how", async ({ after }) => {
    const fixture = setUp([
      FIRST,
      { events: [put("a", 8), bookmark(20)], after },
      { events: [put("d", 21)], after: "hang" },
    ]);
    await fixture.time.advance(60_000);
    expect(fixture.requests).toEqual(["watch initial", "watch 7", "watch 20"]);
    expect(Object.fromEntries(fixture.things)).toEqual({ a: 8, b: 5, d: 21 });
    expect(fixture.replaced()).toBe(1);
    await fixture.finish();
  });

  test("re-lists after an expired version and reports missing objects as deleted", async () => {
    const fixture = setUp([FIRST, expired(), { events: [put("b", 30), bookmark(31, true)], after: "hang" }]);
    await fixture.time.advance(1000);
    expect(fixture.requests).toEqual(["watch initial", "watch 7", "watch initial"]);
    expect(Object.fromEntries(fixture.things)).toEqual({ b: 30 });
    await fixture.finish();
  });

  test.each([
    { reason: "the kind was deleted", fault: notFound("resource", "") },
    {
      reason: "the version is in the future (the store was restored)",
      fault: new Fault({ kind: "unavailable", dependency: "API" }, "too large", { context: { reason: "Timeout" } }),
    },
    { reason: "the server cannot parse the version", fault: invalidArgument("version", []) },
  ])("re-lists when the version is invalid: $reason", async ({ fault }) => {
    const fixture = setUp([FIRST, fault, { events: [put("b", 2), bookmark(3, true)], after: "hang" }]);
    await fixture.time.advance(2000);
    expect(fixture.requests).toEqual(["watch initial", "watch 7", "watch initial"]);
    expect(Object.fromEntries(fixture.things)).toEqual({ b: 2 });
    await fixture.finish();
  });

  test.each([
    { what: "keeps failing on it", kind: "unavailable" as const, answered: true, listed: true },
    { what: "is unreachable", kind: "unavailable" as const, answered: false, listed: false },
    { what: "responds with 429", kind: "resource-exhausted" as const, answered: true, listed: false },
  ])("re-lists for a server that $what: $listed", async ({ kind, answered, listed }) => {
    const detail = kind === "unavailable" ? { kind, dependency: "API" } : { kind, limit: "requests" };
    const context = answered ? { httpStatus: 500 } : {};
    const failing = Array.from({ length: 8 }, () => new Fault(detail, "failed", { context }));
    const fixture = setUp([FIRST, ...failing, { events: [put("b", 2), bookmark(3, true)], after: "hang" }]);
    await fixture.time.advance(120_000);
    expect(fixture.requests.slice(1).includes("watch initial")).toBe(listed);
    await fixture.finish();
  });

  test("re-lists after the second silent watch", async () => {
    const quiet: Script = { events: [], after: "hang" };
    const fixture = setUp([FIRST, quiet, quiet, { events: [put("b", 2), bookmark(3, true)], after: "hang" }], {
      silenceMs: 10_000,
    });
    await fixture.time.advance(22_000);
    expect(fixture.requests).toEqual(["watch initial", "watch 7", "watch 7", "watch initial"]);
    expect(Object.fromEntries(fixture.things)).toEqual({ b: 2 });
    await fixture.finish();
  });

  test("reports a deleted object", async () => {
    const gone: WatchEvent<Thing> = { type: "DELETED", object: { name: "a", version: 8 }, resourceVersion: "8" };
    const fixture = setUp([{ events: [put("a", 3), bookmark(7, true), gone], after: "hang" }]);
    await fixture.time.advance(10);
    expect(fixture.things.size).toBe(0);
    await fixture.finish();
  });

  test("detects a silent connection and replaces it", async () => {
    const fixture = setUp([FIRST, { events: [], after: "hang" }, { events: [put("a", 9)], after: "hang" }], {
      silenceMs: 10_000,
    });
    await fixture.time.advance(9_000);
    expect(fixture.requests).toHaveLength(2);
    await fixture.time.advance(3_000);
    expect(fixture.notes.some((note) => note.type === "failed" && note.reason === "silent")).toBe(true);
    expect(fixture.things.get("a")).toBe(9);
    await fixture.finish();
  });
});

describe("backoff", () => {
  test("grows while the server fails, up to the cap, and resets after success", async () => {
    const failures = Array.from({ length: 11 }, () => unavailable("server", "down"));
    const fixture = setUp([
      FIRST,
      ...failures,
      { events: [put("a", 9), bookmark(10)], after: unavailable("server", "down again") },
    ]);
    await fixture.time.advance(20 * 60_000);
    const waits = fixture.notes.flatMap((note) => (note.type === "failed" ? [note.retryInMs] : []));
    expect(waits[0]).toBeLessThanOrEqual(200);
    expect(Math.max(...waits)).toBeLessThanOrEqual(30_000);
    expect(waits[11]).toBeGreaterThan(10_000);
    expect(waits[12]).toBeLessThanOrEqual(200);
    await fixture.finish();
  });

  test.each([
    { what: "ends each watch at once", script: { events: [], after: "end" as const }, most: 20 },
    { what: "ends each watch after a bookmark", script: { events: [bookmark(9)], after: "end" as const }, most: 650 },
    {
      what: "expires each version right after its list",
      script: { events: [put("a", 3), bookmark(7, true)], after: expired() },
      most: 20,
    },
  ])("does not loop without delay on a server that $what", async ({ script, most }) => {
    const fixture = setUp([FIRST, ...Array.from({ length: 10_000 }, () => script)]);
    await fixture.time.advance(60_000);
    expect(fixture.requests.length).toBeLessThan(most);
    await fixture.finish();
  });

  test("honours Retry-After of the server", async () => {
    const fixture = setUp([
      FIRST,
      unavailable("server", "busy", { retryAfterMs: 45_000 }),
      { events: [], after: "hang" },
    ]);
    await fixture.time.advance(44_900);
    expect(fixture.requests).toHaveLength(2);
    await fixture.time.advance(2_000);
    expect(fixture.requests).toHaveLength(3);
    await fixture.finish();
  });
});
