import { expect, test } from "vitest";
import { limitWarnings } from "./responses.ts";

test("keeps warnings that fit, each once", () => {
  expect(limitWarnings(["a", "b", "a"])).toEqual(["a", "b"]);
  expect(limitWarnings(["x".repeat(4096)])).toEqual(["x".repeat(4096)]);
});

test("shortens warnings that do not fit, and drops the last ones", () => {
  const warnings = Array.from({ length: 100 }, (_, index) => `${index}${"x".repeat(1000)}`);
  const limited = limitWarnings(warnings);
  expect(limited).toEqual(warnings.slice(0, 16).map((warning) => warning.slice(0, 256)));
});
