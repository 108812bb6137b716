import { expect, it } from "vitest";
import { counted, named, oneOf, shareOf } from "./argument-words.ts";

it.each([
  [counted, "3", 3],
  [shareOf, "0.999", 0.999],
  [shareOf, "1", 1],
  [oneOf("Running", "Down"), "running", "Running"],
  [named, "shop", "shop"],
])("%o reads %s", (read, text, value) => {
  expect(read(text)).toBe(value);
});

it.each([
  [counted, "0", /"0" is no whole number from 1 on/],
  [counted, "2.5", /whole number/],
  [counted, "x", /whole number/],
  [shareOf, "99", /for 99 % write 0\.99/],
  [shareOf, "-1", /such as 0\.999/],
  [shareOf, "", /such as 0\.999/],
  [oneOf("Running", "Down"), "up", /"up" is not known; use one of Running, Down/],
  [named, " ", /empty/],
])("%o refuses %s and says what to write", (read, text, words) => {
  expect(() => read(text)).toThrow(words);
});
