import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KeptPages } from "./kept-pages.ts";

interface Item {
  readonly name: string;
}

describe("pages that are kept", () => {
  test("are always what putting them together anew would give", () => {
    const items: readonly Item[] = Array.from({ length: 60 }, (_, index) => ({ name: `größe ${index}` }));
    const page = fc
      .tuple(fc.nat(59), fc.nat(4), fc.boolean())
      .map(([start, length, changed]) =>
        items.slice(start, start + length).map((item, index) => (changed && index === 1 ? { ...item } : item)),
      );
    fc.assert(
      fc.property(fc.array(page, { maxLength: 200 }), (asked) => {
        const pages = new KeptPages((item: Item) => JSON.stringify(item));
        for (const each of asked) expect(pages.json(each).toString()).toBe(JSON.stringify(each));
      }),
      { numRuns: 30, seed: 6 },
    );
  });

  test("are put together once while their items are the same", () => {
    let written = 0;
    const pages = new KeptPages((item: Item) => {
      written += 1;
      return JSON.stringify(item);
    });
    const [a, b, c] = [{ name: "a" }, { name: "b" }, { name: "c" }];
    const first = pages.json([a, b]);
    expect(pages.json([a, b])).toBe(first);
    expect(written).toBe(2);
    expect(pages.json([a, c]).toString()).toBe('[{"name":"a"},{"name":"c"}]');
    expect(pages.json([]).toString()).toBe("[]");
  });
});
