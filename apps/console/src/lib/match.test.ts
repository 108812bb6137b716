import { expect, test } from "vitest";
import { rankMatches } from "./match.ts";

const rank = (text: string, labels: readonly string[]) => rankMatches(text, labels, (label) => label);

test("ranks beginnings before parts before scattered letters", () => {
  expect(rank("led", ["a-l-e-d", "sled", "ledger", "other"])).toEqual(["ledger", "sled", "a-l-e-d"]);
});

test("offers everything without a text", () => {
  expect(rank("", ["b", "a"])).toEqual(["b", "a"]);
});
