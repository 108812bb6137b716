import fc from "fast-check";
import { expect, test } from "vitest";
import { compareKeys } from "../../port/key-order.ts";
import { SortedKeys } from "./sorted-keys.ts";

test("equals a sorted list, also with many chunks", () => {
  const plain = fc.integer({ min: 0, max: 3000 }).map((n) => `k${n}`);
  // U+FF5E is behind a surrogate in UTF-16, and before the character it stands for.
  const odd = fc.constantFrom("k\u{1F600}", "k\uff5e", "k\u{1F600}1", "k\ud7ff", "\u{10FFFF}");
  const key = fc.oneof({ weight: 200, arbitrary: plain }, odd);
  fc.assert(
    fc.property(
      fc.array(key, { minLength: 1, maxLength: 2500, size: "max" }),
      key,
      key,
      fc.nat(50),
      fc.integer({ min: 1, max: 3000 }),
      (keys, a, b, limit, readEvery) => {
        const sorted = new SortedKeys();
        const truth = new Set<string>();
        for (const [index, each] of keys.entries()) {
          if (truth.delete(each)) sorted.remove(each);
          else {
            truth.add(each);
            sorted.insert(each);
          }
          if (index % readEvery === 0) expect(sorted.count({ start: "", end: undefined })).toBe(truth.size);
        }
        const inOrder = [...truth].sort(compareKeys);
        const range = { start: a, end: b };
        const expected = inOrder.filter((each) => compareKeys(each, a) >= 0 && compareKeys(each, b) < 0);
        expect(sorted.slice(range, Number.MAX_SAFE_INTEGER)).toEqual(expected);
        expect(sorted.slice(range, limit)).toEqual(expected.slice(0, limit));
        expect(sorted.count(range)).toBe(expected.length);
        expect(sorted.slice({ start: "", end: undefined }, 5000)).toEqual(inOrder);
      },
    ),
    { numRuns: 40, endOnFailure: true },
  );
});
