import { expect, test } from "vitest";
import { StatusTurns } from "./status-turns.ts";

test("each version of a class waits once", () => {
  const turns = new StatusTurns();
  const first = { metadata: { name: "order", resourceVersion: "1" } };
  const second = { metadata: { name: "order", resourceVersion: "2" } };
  expect([turns.mayWait(first), turns.mayWait(first)]).toEqual([true, false]);
  expect([turns.mayWait(second), turns.mayWait(first), turns.mayWait(second)]).toEqual([true, false, false]);
});
