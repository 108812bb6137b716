import { expect, it } from "vitest";
import { parseDecimal, parsePositiveInteger, parseNonEmpty, parseChoice, parseFraction } from "./argument-parsers.ts";

it.each([
  [parsePositiveInteger, "3", 3],
  [parseFraction, "0.999", 0.999],
  [parseFraction, "1", 1],
  [parseDecimal, "0.04", 0.04],
  [parseChoice("Running", "Down"), "running", "Running"],
  [parseNonEmpty, "shop", "shop"],
])("%o parses %s", (read, text, value) => {
  expect(read(text)).toBe(value);
});

it.each([
  [parsePositiveInteger, "0", /"0" is not a positive integer/],
  [parsePositiveInteger, "2.5", /positive integer/],
  [parsePositiveInteger, "x", /positive integer/],
  [parseFraction, "99", /for 99 % write 0\.99/],
  [parseFraction, "99.9%", /for 99\.9 % write 0\.999$/],
  [parseFraction, "-1", /such as 0\.999/],
  [parseDecimal, "-1", /at least 0/],
  [parseDecimal, "4 EUR", /at least 0/],
  [parseFraction, "", /such as 0\.999/],
  [parseChoice("Running", "Down"), "up", /unknown value "up"; use one of Running, Down/],
  [parseNonEmpty, " ", /empty/],
])("%o rejects %s and suggests a valid value", (read, text, words) => {
  expect(() => read(text)).toThrow(words);
});
