import { virtualAmbient } from "@oaas/foundation/virtual";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openMemoryStore } from "../backends/memory/index.ts";
import { Collection } from "../collections/collection.ts";
import { CollectionView } from "./collection-view.ts";
import type { KeyValueStore } from "../port/key-value-store.ts";

interface Fruit {
  readonly colour: string;
  readonly weight: number;
}

const FRUIT = { name: "fruit", codec: { version: 1, decode: (json: unknown) => json as Fruit } };
const ORDERS = { weight: ({ record }: { readonly record: Fruit }) => String(record.weight).padStart(6, "0") };

let store: KeyValueStore;
let fruits: Collection<Fruit>;
let view: CollectionView<Fruit>;
const ambient = virtualAmbient(1);
const changed: string[] = [];

beforeEach(async () => {
  store = openMemoryStore({ ambient });
  fruits = new Collection(store, FRUIT);
  changed.length = 0;
  view = new CollectionView(fruits, { ambient, orders: ORDERS, onChange: (ids) => changed.push(...ids) });
});
afterEach(async () => {
  await view.close();
  await store.close();
});

/** A store that notifies watchers on command. */
function openMemoryStoreThatTells(notifications: (() => void)[]): AsyncDisposable & { readonly store: KeyValueStore } {
  const store = openMemoryStore({ ambient, scheduleNotify: (notify) => notifications.push(notify) });
  return { store, [Symbol.asyncDispose]: () => store.close() };
}

const put = async (id: string, colour: string, weight: number): Promise<void> => {
  const { revision } = await fruits.create(id, { colour, weight });
  await view.waitForRevision(revision);
};
const ids = (page: { readonly records: readonly { readonly id: string }[] }): string =>
  page.records.map(({ id }) => id).join(" ");

describe("collection view", () => {
  test("includes existing records and later changes, and notifies of them", async () => {
    await fruits.create("apple", { colour: "red", weight: 3 });
    await view.start();
    expect(ids(view.page({ limit: 10 }))).toBe("apple");
    await put("banana", "yellow", 1);
    expect(view.page({ limit: 10 })).toMatchObject({ total: 2 });
    await fruits.delete((await fruits.get("apple"))!);
    const { revision } = await fruits.create("cherry", { colour: "red", weight: 2 });
    await view.waitForRevision(revision);
    expect(ids(view.page({ limit: 10 }))).toBe("banana cherry");
    expect(changed).toEqual(["apple", "banana", "apple", "cherry"]);
    expect(view.get("apple")).toBeUndefined();
  });

  test("applies a write immediately; the watch event changes nothing, and older records are ignored", async () => {
    const notifications: (() => void)[] = [];
    await using late = openMemoryStoreThatTells(notifications);
    const own = new Collection(late.store, FRUIT);
    const changed: string[] = [];
    const ownView = new CollectionView(own, { ambient, onChange: (ids) => changed.push(...ids) });
    await ownView.start();
    const first = await own.create("apple", { colour: "green", weight: 1 });
    const second = await own.update(first, { colour: "red", weight: 1 });
    ownView.applyWrite(second);
    ownView.applyWrite(first);
    expect(ownView.get("apple")).toBe(second);
    await own.delete(second);
    const third = await own.create("apple", { colour: "blue", weight: 1 });
    ownView.applyWrite(third);
    expect(changed).toEqual(["apple", "apple"]);
    for (const notify of notifications) notify();
    await ownView.waitForRevision(third.revision);
    expect(ownView.get("apple")).toBe(third);
    ownView.applyWrite(second);
    expect(ownView.get("apple"), "keeps what the watch delivered").toBe(third);
    expect(changed).toEqual(["apple", "apple"]);
    await ownView.close();
  });

  test("sorts, reverses, filters and counts matching records", async () => {
    await view.start();
    await put("apple", "red", 3);
    await put("banana", "yellow", 1);
    await put("cherry", "red", 2);
    expect(ids(view.page({ limit: 10, order: "weight" }))).toBe("banana cherry apple");
    expect(ids(view.page({ limit: 10, order: "weight", descending: true }))).toBe("apple cherry banana");
    const red = { filter: ({ record }: { readonly record: Fruit }) => record.colour === "red", filterKey: "red" };
    expect(view.page({ limit: 1, offset: 1, ...red })).toMatchObject({ total: 2, records: [{ id: "cherry" }] });
    await put("plum", "red", 9);
    expect(ids(view.page({ limit: 10, ...red })), "a kept result follows").toBe("apple cherry plum");
  });

  test("a token continues after the last record, also if it was deleted", async () => {
    await view.start();
    for (const id of ["a", "b", "d"]) await put(id, "red", 1);
    const first = view.page({ limit: 2 });
    expect(ids(first)).toBe("a b");
    const { revision } = await fruits.create("c", { colour: "red", weight: 1 });
    await fruits.delete((await fruits.get("b"))!);
    await view.waitForRevision(revision + 1);
    const second = view.page({ limit: 2, pageToken: first.next as string });
    expect(ids(second)).toBe("c d");
    expect(second.next).toBeUndefined();
  });

  test.each([
    ["no token at all", "nonsense"],
    ["another list's order", btoa(encodeURIComponent(JSON.stringify(["weight", "x"])))],
  ])("rejects a token that is %s", async (_, pageToken) => {
    await view.start();
    expect(() => view.page({ limit: 1, pageToken })).toThrow(
      expect.objectContaining({
        kind: "invalid-argument",
        detail: expect.objectContaining({ violations: [expect.objectContaining({ path: "$.page_token" })] }),
      }),
    );
  });

  test("reloads when its revision was compacted", async () => {
    await view.start();
    await put("apple", "red", 1);
    await view.close();
    const late = new CollectionView(fruits, { ambient });
    await late.start();
    const { revision } = await fruits.create("banana", { colour: "yellow", weight: 1 });
    await store.compact(revision);
    await ambient.time.advance(1_000);
    await late.waitForRevision(revision);
    expect(ids(late.page({ limit: 10 }))).toBe("apple banana");
    await late.close();
  });

  test("pages of any size, by token or offset, cover the whole list", async () => {
    await view.start();
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(
          fc.string({ minLength: 1, maxLength: 6 }).filter((id) => id.isWellFormed() && !id.includes("\u0000")),
          { maxLength: 20 },
        ),
        fc.integer({ min: 1, max: 7 }),
        fc.boolean(),
        async (names, limit, descending) => {
          for (const name of names) await put(name, "red", name.length);
          const whole = view.page({ limit: 1000, order: "weight", descending });
          const paged: string[] = [];
          let pageToken: string | undefined;
          do {
            const page = view.page({
              limit,
              order: "weight",
              descending,
              ...(pageToken === undefined ? {} : { pageToken }),
            });
            paged.push(...page.records.map(({ id }) => id));
            pageToken = page.next;
          } while (pageToken !== undefined);
          expect(paged).toEqual(whole.records.map(({ id }) => id));
          expect([...paged].sort()).toEqual([...names].sort());
          for (const name of names) await fruits.delete((await fruits.get(name))!);
          await view.waitForRevision(await store.revision());
        },
      ),
    );
  });
});
