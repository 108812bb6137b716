import { expect, test } from "vitest";
import { pageSerialiser } from "./serialised.ts";

test("serialises a page once, and again when one of its values changed", () => {
  const [a, b, c] = [{ id: "a" }, { id: "b" }, { id: "c" }];
  let serialised = 0;
  const page = pageSerialiser<{ readonly id: string }>((value) => {
    serialised += 1;
    return JSON.stringify(value);
  });
  expect(page([]).toString()).toBe("[]");
  const first = page([a, b]);
  expect(first.toString()).toBe('[{"id":"a"},{"id":"b"}]');
  expect(page([a, b])).toBe(first);
  expect(serialised).toBe(2);
  expect(page([a, c]).toString()).toBe('[{"id":"a"},{"id":"c"}]');
  expect(page([a]).toString()).toBe('[{"id":"a"}]');
  expect(page([a, b]).toString()).toBe(first.toString());
});

test("keeps a bounded number of pages, and each is right however many there are", () => {
  const values = Array.from({ length: 100 }, (_, id) => ({ id }));
  const page = pageSerialiser<{ readonly id: number }>((value) => JSON.stringify(value));
  const first = page([values[0] as { id: number }]);
  for (const value of values) expect(page([value]).toString()).toBe(`[{"id":${value.id}}]`);
  expect(page([values[0] as { id: number }])).not.toBe(first);
});
