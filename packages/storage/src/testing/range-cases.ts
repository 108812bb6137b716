import { describe, expect } from "vitest";
import { MAX_PAGE_BYTES, type Entry, type KeyValueStore, type Page, type RangeQuery } from "../port/key-value-store.ts";
import type { SuiteOptions } from "./kv-suite.ts";
import { testWith } from "./using.ts";

/** Cases of range and reads at a revision. */
export function rangeCases(options: SuiteOptions): void {
  const testStore = testWith(options);

  testStore("reports its size in bytes", async ({ store }) => {
    const value = "x".repeat(100_000);
    for (let n = 0; n < 5; n += 1) await store.commit({ writes: [{ op: "put", key: `k${n}`, value }] });
    const size = await store.sizeInBytes();
    if (options.hidesSize === true) expect(size).toBeUndefined();
    else expect(size).toBeGreaterThanOrEqual(500_000);
  });

  describe("range", () => {
    testStore("orders by UTF-8 bytes and returns exactly the keys of a prefix", async ({ store }) => {
      const keys = [
        "a",
        "a\u0001",
        "a!",
        "a/",
        "aa",
        "b",
        "é",
        "\uD7FF",
        "\uE000",
        "\uFFFD",
        "\u{10FFFF}",
        "\u{1F600}x",
      ];
      await fill(store, keys);
      const byBytes = keys.toSorted((x, y) => Buffer.compare(Buffer.from(x), Buffer.from(y)));
      expect(keysOf(await store.range({ prefix: "" }))).toEqual(byBytes);
      for (const prefix of [...keys, "zz", "\u{1F600}"]) {
        const covered = byBytes.filter((key) => key.startsWith(prefix));
        expect(keysOf(await store.range({ prefix })), JSON.stringify(prefix)).toEqual(covered);
      }
    });

    testStore("takes start inclusively and end exclusively", async ({ store }) => {
      await fill(store, ["a", "b", "c", "d"]);
      expect(keysOf(await store.range({ start: "b", end: "d" }))).toEqual(["b", "c"]);
      expect(keysOf(await store.range({ start: "bb" }))).toEqual(["c", "d"]);
      expect(keysOf(await store.range({ start: "c", end: "b" }))).toEqual([]);
      expect(await store.range({ start: "c", end: "b", count: true })).toMatchObject({ total: 0 });
    });

    testStore("ends a page at its size in bytes, and continues after it", async ({ store }) => {
      // The first pages reach the limit exactly, after the number of entries that backends read at once.
      const small = Array.from({ length: 260 }, (_, index) => `b/${String(index).padStart(3, "0")}`);
      const value = "x".repeat(MAX_PAGE_BYTES / 128);
      for (let at = 0; at < small.length; at += 26) await fill(store, small.slice(at, at + 26), value);
      const first = await store.range({ prefix: "b/", limit: 1000, count: true });
      expect(first.entries).toHaveLength(128);
      expect(first).toMatchObject({ next: "b/127", total: 260 });
      await store.commit({ writes: [{ op: "delete", key: "b/200" }] });
      const now = await pagesOf(store, { prefix: "b/", limit: 1000 });
      expect(now.map(({ key }) => key)).toEqual(small.filter((key) => key !== "b/200"));
      const then = await pagesOf(store, { prefix: "b/", limit: 1000, atRevision: first.revision });
      expect(then.map(({ key }) => key)).toEqual(small);
      expect(keysOf(await store.range({ prefix: "b/", limit: 1000, keysOnly: true }))).toHaveLength(259);
    });

    testStore("pages form a snapshot although the store changes between them", async ({ store }) => {
      const keys = Array.from({ length: 25 }, (_, index) => `p/${String(index).padStart(3, "0")}`);
      await fill(store, ["o", ...keys, "q"]);
      const first = await store.range({ prefix: "p/", limit: 10, count: true });
      expect(first).toMatchObject({ next: "p/009", total: 25 });
      await store.commit({ writes: [{ op: "delete-prefix", prefix: "p/01" }] });
      await store.commit({
        writes: [
          { op: "put", key: "p/020", value: "new" },
          { op: "put", key: "p/0091", value: "new" },
        ],
      });
      const entries = await pagesOf(store, { prefix: "p/", limit: 10, atRevision: first.revision });
      expect(entries.map((entry) => entry.key)).toEqual(keys);
      expect(entries.map((entry) => entry.value)).toEqual(keys.map((key) => `value of ${key}`));
      const now = await store.range({ prefix: "p/", limit: 13, count: true });
      expect(now.entries.map((entry) => entry.key).slice(-3)).toEqual(["p/0091", "p/020", "p/021"]);
      expect(now).toMatchObject({ next: "p/021", total: 16 });
    });

    testStore("a full last page has no next", async ({ store }) => {
      await fill(store, ["a", "b", "c", "d"]);
      const first = await store.range({ prefix: "", limit: 2 });
      expect(first.next).toBe("b");
      const second = await store.range({ prefix: "", limit: 2, after: "b" });
      expect(keysOf(second)).toEqual(["c", "d"]);
      expect(second).not.toHaveProperty("next");
      expect(await store.range({ prefix: "c", after: "a" })).toMatchObject({ entries: [{ key: "c" }] });
    });

    testStore("omits values on request", async ({ store }) => {
      await fill(store, ["a"]);
      const whole = (await store.range({ prefix: "" })).entries[0] as Entry;
      expect((await store.range({ prefix: "", keysOnly: true })).entries).toEqual([{ ...whole, value: "" }]);
    });

    testStore("rejects invalid queries", async ({ store }) => {
      const senseless: RangeQuery[] = [
        { prefix: "", limit: 0 },
        { prefix: "", limit: 1.5 },
        { prefix: "", limit: 1_000_000 },
        { prefix: "a\0" },
        { prefix: "", atRevision: 0 },
        { prefix: "", atRevision: (await store.revision()) + 1000 },
      ];
      for (const query of senseless) {
        await expect(store.range(query), JSON.stringify(query)).rejects.toMatchObject({ kind: "invalid-argument" });
      }
    });
  });

  describe("reads at a revision", () => {
    testStore("work until the revision is compacted, which is reported", async ({ store }) => {
      await fill(store, ["k"]);
      const then = await store.revision();
      for (const value of ["2", "3"]) await store.commit({ writes: [{ op: "put", key: "k", value }] });
      const now = await store.revision();
      expect((await store.get("k", { atRevision: then }))?.value).toBe("value of k");
      expect(await store.getMany(["k", "none"], { atRevision: then + 1 })).toMatchObject([{ value: "2" }, undefined]);
      await store.compact(now);
      await store.compact(now);
      const compacted = { kind: "failed-precondition", code: "OAAS_STORE_COMPACTED" };
      await expect(store.get("k", { atRevision: then })).rejects.toMatchObject(compacted);
      await expect(store.range({ prefix: "", atRevision: then })).rejects.toMatchObject(compacted);
      expect((await store.get("k", { atRevision: now }))?.value, "the revision compacted to stays readable").toBe("3");
      await expect(store.compact(now + 1000)).rejects.toMatchObject({ kind: "invalid-argument" });
    });
  });
}

/** Returns all entries of a query, page by page. */
async function pagesOf(store: KeyValueStore, query: RangeQuery): Promise<Entry[]> {
  const found: Entry[] = [];
  for (let page = await store.range(query); ; page = await store.range({ ...query, after: page.next })) {
    found.push(...page.entries);
    if (page.next === undefined) return found;
  }
}

async function fill(store: KeyValueStore, keys: readonly string[], value?: string): Promise<void> {
  await store.commit({ writes: keys.map((key) => ({ op: "put", key, value: value ?? `value of ${key}` })) });
}

function keysOf(page: Page): string[] {
  return page.entries.map((entry) => entry.key);
}
