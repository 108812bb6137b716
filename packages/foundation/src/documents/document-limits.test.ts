import { expect, test } from "vitest";
import { findDocumentProblem } from "./document-limits.ts";

test("counts a part that is referenced twice twice", () => {
  let value: unknown = ["x"];
  for (let layer = 0; layer < 60; layer += 1) value = [value, value];
  expect(findDocumentProblem(value, { nodes: 1000, depth: 100 })?.message).toBe("has more than 1000 values");
});

test("stops at a cycle", () => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  expect(findDocumentProblem(cycle, { nodes: 1000, depth: 100 })?.message).toMatch(/nested too deeply/);
});
