import { expect, test } from "vitest";
import { headerOf, listOf } from "./exchange.ts";

test("a list may come in several lines; of anything else the first counts", () => {
  const rawHeaders = ["If-Match", '"1"', "host", "x", "if-match", '"2", "3"', "if-matches", "no"];
  expect(listOf({ rawHeaders }, "if-match")).toBe('"1", "2", "3"');
  expect(listOf({ rawHeaders }, "if-none-match")).toBeUndefined();
  expect(headerOf({ rawHeaders }, "if-match")).toBe('"1"');
});
