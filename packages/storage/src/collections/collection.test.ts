import { virtualAmbient } from "@oaas/foundation/virtual";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { openMemoryStore } from "../backends/memory/index.ts";
import { Collection, type CollectionDefinition } from "./collection.ts";
import { combineTransactions } from "../port/transaction.ts";
import type { KeyValueStore } from "../port/key-value-store.ts";

interface Fruit {
  readonly colour: string;
  readonly tags: readonly string[];
}

const FRUIT = {
  name: "fruit",
  codec: {
    version: 2,
    decode: (json: unknown): Fruit => {
      const { colour, tags } = json as Partial<Fruit>;
      if (typeof colour !== "string" || !Array.isArray(tags)) throw new TypeError("it is not a fruit");
      return { colour, tags };
    },
    // Version 1 had no tags.
    upgrades: { 1: (json: unknown) => ({ tags: [], ...(json as object) }) },
  },
  indexes: {
    colour: (fruit: Fruit) => fruit.colour,
    tag: (fruit: Fruit) => fruit.tags,
  },
} satisfies CollectionDefinition<Fruit>;

let store: KeyValueStore;
let fruits: Collection<Fruit, (typeof FRUIT)["indexes"]>;
beforeEach(() => {
  store = openMemoryStore({ ambient: virtualAmbient(1) });
  fruits = new Collection(store, FRUIT);
});

const red: Fruit = { colour: "red", tags: ["sweet", "round"] };
const idsOf = (page: { readonly records: readonly { readonly id: string }[] }): string[] =>
  page.records.map(({ id }) => id);

describe("a collection", () => {
  test("returns written records with a revision for optimistic locking", async () => {
    const created = await fruits.create("apple", red);
    expect(await fruits.get("apple")).toEqual(created);
    expect(created).toMatchObject({ id: "apple", record: red, version: 1 });
    const updated = await fruits.update(created, { ...red, colour: "green" });
    expect(updated).toMatchObject({ version: 2, createRevision: created.revision });
    expect(await fruits.get("apple")).toEqual(updated);
    expect(await fruits.get("pear")).toBeUndefined();
  });

  test("rejects a second create, and updates and deletes of changed records", async () => {
    const first = await fruits.create("apple", red);
    await expect(fruits.create("apple", red)).rejects.toMatchObject({
      kind: "already-exists",
      detail: { resource: "fruit", name: "apple" },
    });
    await fruits.update(first, red);
    await expect(fruits.update(first, red)).rejects.toMatchObject({
      kind: "conflict",
      detail: { resource: "fruit", name: "apple" },
    });
    await expect(fruits.delete(first)).rejects.toMatchObject({ kind: "conflict" });
    await expect(fruits.modify("pear", (fruit) => fruit)).rejects.toMatchObject({ kind: "not-found" });
  });

  test("repeats a modification on conflict", async () => {
    await fruits.create("apple", { colour: "red", tags: [] });
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        fruits.modify("apple", (fruit) => ({ ...fruit, tags: [...fruit.tags, `t${index}`] })),
      ),
    );
    expect((await fruits.get("apple"))?.record.tags).toHaveLength(20);
  });

  test("does not write a record that cannot be decoded", async () => {
    await expect(fruits.create("bad", { colour: "red" } as never)).rejects.toMatchObject({
      code: "OAAS_STORE_VALUE_INVALID",
    });
    expect((await store.range({ prefix: "" })).entries).toEqual([]);
  });

  test("lists pages in order with a total", async () => {
    for (const id of ["c", "a", "b/1", "b", "ä", "\u0000", "\u{1F600}"]) await fruits.create(id, red);
    const first = await fruits.list({ limit: 3, count: true });
    expect(first).toMatchObject({ next: "b", total: 7 });
    const second = await fruits.list({ limit: 10, after: "b", atRevision: first.revision });
    expect([...idsOf(first), ...idsOf(second)]).toEqual(["\u0000", "a", "b", "b/1", "c", "ä", "\u{1F600}"]);
    expect(second).not.toHaveProperty("next");
  });

  test("spans collections in one transaction", async () => {
    const others = new Collection(store, { ...FRUIT, name: "other" });
    await store.commit(combineTransactions(fruits.stageCreate("x", red), others.stageCreate("x", red)));
    const clash = combineTransactions(fruits.stageCreate("y", red), others.stageCreate("x", red));
    await expect(store.commit(clash)).rejects.toMatchObject({ kind: "conflict" });
    expect(idsOf(await fruits.list())).toEqual(["x"]);
    expect(idsOf(await others.list())).toEqual(["x"]);
  });

  test("returns the record after a staged write", async () => {
    const staged = fruits.stageCreate("apple", red);
    const created = fruits.committed(staged, (await store.commit(staged)).revision);
    expect(created).toEqual(await fruits.get("apple"));
    const next = fruits.stageUpdate(created, { colour: "green", tags: [] });
    const updated = fruits.committed(next, (await store.commit(next)).revision, created);
    expect(updated).toEqual(await fruits.get("apple"));
  });

  test("deletes one record by its id without reading it, and rejects it for collections with indexes", async () => {
    const plain = new Collection(store, { name: "plain", codec: FRUIT.codec });
    for (const id of ["a/1", "a/10", "a/2"]) await plain.create(id, red);
    await store.commit(combineTransactions(plain.stageDeleteUnread("a/1"), plain.stageDeleteUnread("missing")));
    expect(idsOf(await plain.list())).toEqual(["a/10", "a/2"]);
    expect(() => fruits.stageDeleteUnread("a/1")).toThrow(/indexes/);
  });

  test("deletes all records with an id prefix, and rejects it for collections with indexes", async () => {
    const plain = new Collection(store, { name: "plain", codec: FRUIT.codec });
    for (const id of ["a/1", "a/2", "ab/1", "b/1"]) await plain.create(id, red);
    await store.commit(plain.stageDeletePrefix("a/"));
    expect(idsOf(await plain.list())).toEqual(["ab/1", "b/1"]);
    expect(() => fruits.stageDeletePrefix("a/")).toThrow(/indexes/);
  });

  test("streams changes as records", async () => {
    const created = await fruits.create("apple", red);
    const watching = (async () => {
      const collected = [];
      for await (const batch of fruits.watch(created.revision)) {
        collected.push(...batch.changes);
        if (batch.changes.some((change) => change.type === "delete")) return collected;
      }
      return collected;
    })();
    await store.commit({ writes: [{ op: "put", key: "c/fruit/odd", value: "{" }] });
    await fruits.delete(created);
    expect(await watching).toMatchObject([
      { type: "put", id: "apple", revision: created.revision, stored: { id: "apple", record: red } },
      { type: "unreadable", id: "odd", revision: created.revision + 1, fault: { code: "OAAS_STORE_VALUE_INVALID" } },
      { type: "delete", id: "apple", revision: created.revision + 2 },
    ]);
  });
});

describe("indexes", () => {
  test("find records, follow changes and leave no entries behind", async () => {
    const apple = await fruits.create("apple", red);
    await fruits.create("cherry", { colour: "red", tags: ["sweet"] });
    expect(idsOf(await fruits.listBy("colour", "red"))).toEqual(["apple", "cherry"]);
    expect(idsOf(await fruits.listBy("tag", "round"))).toEqual(["apple"]);
    const green = await fruits.update(apple, { colour: "green", tags: ["round", "sour", "sour"] });
    expect(idsOf(await fruits.listBy("colour", "red"))).toEqual(["cherry"]);
    expect(idsOf(await fruits.listBy("tag", "sour"))).toEqual(["apple"]);
    await fruits.delete(green);
    const left = (await store.range({ prefix: "i/" })).entries.map(({ key }) => key);
    expect(left).toEqual(["i/fruit/colour/red\u0001cherry", "i/fruit/tag/sweet\u0001cherry"]);
  });

  test("page through one value only", async () => {
    for (let index = 0; index < 30; index += 1)
      await fruits.create(`f${index}`, { colour: index % 2 ? "a" : "a\u0001b", tags: [] });
    const collected: string[] = [];
    let after: string | undefined;
    do {
      const page = await fruits.listBy("colour", "a", { limit: 4, count: true, ...(after ? { after } : {}) });
      expect(page.total).toBe(15);
      collected.push(...idsOf(page));
      after = page.next;
    } while (after !== undefined);
    expect(collected).toHaveLength(15);
    expect(new Set(collected).size).toBe(15);
  });

  test("read the index and its records, never the whole collection", async () => {
    await fruits.create("apple", red);
    const reads: string[] = [];
    const counting: KeyValueStore = Object.create(store, {
      range: {
        value: (query: { prefix: string }) => {
          reads.push(query.prefix);
          return store.range(query);
        },
      },
      getMany: { value: (...args: Parameters<KeyValueStore["getMany"]>) => store.getMany(...args) },
    }) as KeyValueStore;
    await new Collection(counting, FRUIT).listBy("colour", "red");
    expect(reads).toEqual(["i/fruit/colour/red\u0001"]);
  });

  test("match the records after any sequence of writes", async () => {
    const id = fc.constantFrom("a", "b", "a/b", "\u0001", "\u0002\u0003", "");
    const step = fc.record({
      id: id.map((name) => name || "x"),
      colour: fc.constantFrom("red", "", "red\u0001a", "\u0002"),
      tags: fc.array(fc.constantFrom("s", "t", "s\u0001"), { maxLength: 3 }),
      remove: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
        const fresh = openMemoryStore({ ambient: virtualAmbient(1) });
        const collection = new Collection(fresh, FRUIT);
        for (const { id: name, colour, tags, remove } of steps) {
          const stored = await collection.get(name);
          if (stored === undefined) await collection.create(name, { colour, tags });
          else if (remove) await collection.delete(stored);
          else await collection.update(stored, { colour, tags });
        }
        const { records } = await collection.list();
        for (const colour of ["red", "", "red\u0001a", "\u0002"]) {
          const expected = records.filter(({ record }) => record.colour === colour);
          expect((await collection.listBy("colour", colour)).records).toEqual(expected);
        }
        for (const tag of ["s", "t", "s\u0001"]) {
          const expected = records.filter(({ record }) => record.tags.includes(tag));
          expect((await collection.listBy("tag", tag)).records).toEqual(expected);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe("versions", () => {
  test("reads records of an earlier version and refreshes them with their indexes", async () => {
    await store.commit({ writes: [{ op: "put", key: "c/fruit/old", value: '{"v":1,"d":{"colour":"red"}}' }] });
    expect((await fruits.get("old"))?.record).toEqual({ colour: "red", tags: [] });
    expect(idsOf(await fruits.listBy("colour", "red"))).toEqual([]);
    expect(await fruits.refresh()).toBe(1);
    expect(idsOf(await fruits.listBy("colour", "red"))).toEqual(["old"]);
    expect(await fruits.refresh(), "the quiet row: nothing to do").toBe(0);
  });

  test("removes the entries of an index that no longer exists", async () => {
    await fruits.create("apple", red);
    const { tag: _, ...indexes } = FRUIT.indexes;
    const fewer = new Collection<Fruit>(store, { ...FRUIT, indexes });
    expect(await fewer.refresh()).toBe(1);
    expect((await store.range({ prefix: "i/fruit/tag" })).entries).toEqual([]);
  });

  const unreadable: { case: string; value: string; message: RegExp }[] = [
    {
      case: "of a newer version",
      value: '{"v":3,"d":{}}',
      message: /schema version 3 is not supported; the latest known version is 2/,
    },
    { case: "not JSON", value: "{", message: /not JSON/ },
    { case: "not an envelope", value: "[]", message: /no schema version/ },
    { case: "null", value: "null", message: /no schema version/ },
    { case: "not a record", value: '{"v":2,"d":{"colour":1}}', message: /not a fruit/ },
    { case: "of an unknown version", value: '{"v":0,"d":{}}', message: /no schema version/ },
  ];
  test.each(unreadable)("reports a value that is $case, and returns the others", async ({ value, message }) => {
    await fruits.create("good", red);
    await store.commit({ writes: [{ op: "put", key: "c/fruit/bad", value }] });
    const invalid = { code: "OAAS_STORE_VALUE_INVALID", message: expect.stringMatching(message) as string };
    await expect(fruits.get("bad")).rejects.toMatchObject(invalid);
    const listed = await fruits.list();
    expect(idsOf(listed)).toEqual(["good"]);
    expect(listed.unreadable).toMatchObject([{ id: "bad", fault: invalid }]);
  });
});

describe("a collection with a cache", () => {
  test("returns the same object for an unchanged entry, a new one after a write, and respects the cache size", async () => {
    const kept = new Collection(store, { ...FRUIT, cacheSize: 1 });
    await kept.create("apple", red);
    const first = await kept.get("apple");
    expect((await kept.get("apple"))?.record).toBe(first?.record);
    await kept.update(first!, { ...red, colour: "green" });
    expect((await kept.get("apple"))?.record.colour).toBe("green");
    const before = await kept.get("apple");
    await kept.create("pear", red);
    expect((await kept.get("apple"))?.record, "pushed out by the pear").not.toBe(before?.record);
  });
});
