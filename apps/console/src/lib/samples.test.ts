import { expect, test } from "vitest";
import { SampleHistory } from "./samples.ts";

test("keeps each measurement once, in order, and only the newest", () => {
  const history = new SampleHistory(2);
  for (const atMs of [1, 2, 2, 1, 3]) history.add("rps", { atMs, value: atMs * 10 });
  expect(history.of("rps")).toEqual([
    { atMs: 2, value: 20 },
    { atMs: 3, value: 30 },
  ]);
  expect(history.of("other")).toEqual([]);
});
