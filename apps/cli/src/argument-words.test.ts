import { expect, it } from "vitest";
import { counted, named, oneOf, shareOf } from "./argument-words.ts";

it.each([
  [counted, "3", 3],
  [shareOf, "0.999", 0.999],
  [shareOf, "1", 1],
  [oneOf("Running", "Down"), "running", "Running"],
  [named, "shop", "shop"],
])("%o parses %s", (read, text, value) => {
  expect(read(text)).toBe(value);
});

it.each([
  [counted, "0", /"0" is not a positive integer/],
  [counted, "2.5", /positive integer/],
  [counted, "x", /positive integer/],
  [shareOf, "99", /for 99 % write 0\.99/],
  [shareOf, "-1", /such as 0\.999/],
  [shareOf, "", /such as 0\.999/],
  [oneOf("Running", "Down"), "up", /unknown value "up"; use one of Running, Down/],
  [named, " ", /empty/],
])("%o rejects %s and suggests a valid value", (read, text, words) => {
  expect(() => read(text)).toThrow(words);
});
