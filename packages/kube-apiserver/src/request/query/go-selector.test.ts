import fc from "fast-check";
import { expect, it } from "vitest";
import { parseLabelSelector } from "@oaas/kube-core";
import { findSelectorError } from "./go-selector.ts";

it.each([
  ["a===b", "unable to parse requirement: found '=', expected: identifier"],
  ["a in b", "unable to parse requirement: found 'b' expected: '('"],
  ["a in (b", "unable to parse requirement: found '', expected: ',' or ')'"],
  ["a=b c", "found 'c', expected: ',' or 'end of string'"],
  ["a,", "found '', expected: identifier after ','"],
  ["=a", "found '=', expected: !, identifier, or 'end of string'"],
  ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
])("reports the error in %s", (text, message) => {
  expect(findSelectorError(text)).toBe(message);
});

it("accepts valid selectors and never throws", () => {
  const pieces = fc.array(
    fc.constantFrom("a", "b-", "in", "notin", "=", "==", "!", "!=", "(", ")", ",", ">", "1", " "),
    {
      maxLength: 8,
    },
  );
  fc.assert(
    fc.property(pieces, (words) => {
      const text = words.join("");
      const error = findSelectorError(text);
      if (parseLabelSelector(text).ok) expect(error).toBeUndefined();
      else expect(error === undefined || error.includes("found") || error.includes("Invalid")).toBe(true);
    }),
  );
});
