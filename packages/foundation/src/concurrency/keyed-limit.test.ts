import fc from "fast-check";
import { expect, test } from "vitest";
import { KeyedLimit } from "./keyed-limit.ts";

test("counts a use once, however often it ends", () => {
  const limit = new KeyedLimit(1);
  const end = limit.enter("a");
  expect([limit.enter("a"), limit.enter("b")]).toEqual([undefined, expect.any(Function)]);
  end?.();
  const next = limit.enter("a");
  end?.();
  expect(limit.enter("a")).toBeUndefined();
  next?.();
  expect(limit.enter("a")).toBeDefined();
});

test("never admits more than the limit per key, and admits below it", () => {
  const steps = fc.array(fc.record({ key: fc.constantFrom("a", "b"), enters: fc.boolean() }), { maxLength: 50 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), steps, (max, sequence) => {
      const limit = new KeyedLimit(max);
      const open: Record<string, (() => void)[]> = { a: [], b: [] };
      for (const { key, enters } of sequence) {
        const uses = open[key] as (() => void)[];
        if (!enters) uses.pop()?.();
        else {
          const end = limit.enter(key);
          expect(end !== undefined).toBe(uses.length < max);
          if (end) uses.push(end);
        }
      }
    }),
  );
});
