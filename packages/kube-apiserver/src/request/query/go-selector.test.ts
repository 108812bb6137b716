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
])("reports the error in %s", (text, why) => {
  expect(findSelectorError(text)).toBe(why);
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
      const refusal = findSelectorError(text);
      if (parseLabelSelector(text).ok) expect(refusal).toBeUndefined();
      else expect(refusal === undefined || refusal.includes("found") || refusal.includes("Invalid")).toBe(true);
    }),
  );
});
