import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileRegex } from "./regex.ts";

/** Patterns whose meaning is the same in RE2 and in JavaScript. */
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.constantFrom("a", "b", "-", ".", "[ab]", "[^a]", "[a-c]", "\\d", "\\w", "\\.", "\\S", "^", "$", "é", "😀"),
    fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => one + other),
    fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(?:${one}|${other})`),
    fc
      .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "*?", "{2}", "{1,3}", "{0,}"))
      .map(([one, count]) => `(?:${one})${count}`),
    tie("pattern").map((one) => `(${one})`),
  ),
}));
const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "-", "1", "\n", "é", "😀"), maxLength: 7 });

describe("compileRegex", () => {
  it("matches the same whole texts as JavaScript", () => {
    fc.assert(
      fc.property(pattern, text, (one, other) => {
        expect(compileRegex(one).matches(other)).toBe(new RegExp(`^(?:${one})$`, "su").test(other));
      }),
      { numRuns: 2000 },
    );
  });

  it("captures the same groups as JavaScript", () => {
    const captures = fc.constantFrom("(a*)(a*)", "(a+?)(a*)", "(a|ab)(c|bcd)?(.*)", "(?:(a)|b)*c?", "(.*)-(.*)");
    fc.assert(
      fc.property(captures, text, (one, other) => {
        const expected = new RegExp(`^(?:${one})$`, "su").exec(other);
        // JavaScript clears a group in each repetition; Go, like us, keeps the last one.
        if (one !== "(?:(a)|b)*c?")
          expect(compileRegex(one).match(other)).toEqual(expected ? [...expected] : undefined);
      }),
      { numRuns: 500 },
    );
  });

  it("names groups", () => {
    const regex = compileRegex("(?P<first>[a-z]+)-(?<second>\\d+)");
    expect(regex.match("pod-12")).toEqual(["pod-12", "pod", "12"]);
    expect(regex.groupNames).toEqual([undefined, "first", "second"]);
  });

  it.each([
    ["(?i)Abc", "aBC", true],
    ["\\x41\\x{e9}", "Aé", true],
    ["a{,2}", "a{,2}", true],
    ["[]a]", "]", true],
    ["[a\\]-]+", "a]-", true],
    ["", "", true],
    ["", "a", false],
    ["a|", "", true],
  ])("%s on %j is %s", (one, other, isMatch) => {
    expect(compileRegex(one).matches(other)).toBe(isMatch);
  });

  it.each([
    "(",
    "a)",
    "[a",
    "a**",
    "*a",
    "(?=a)",
    "(?i:a)",
    "\\pL",
    "\\b",
    "a{2,1}",
    "a{1001}",
    "[b-a]",
    "[[:alpha:]]",
    "\\",
  ])("refuses %s with the pattern in the message", (one) => {
    expect(() => compileRegex(one)).toThrow(JSON.stringify(one));
  });

  it("refuses patterns that grow beyond the limit", () => {
    expect(() => compileRegex("a".repeat(1001))).toThrow(/longer than/);
    expect(() => compileRegex("((a{1,100}){1,100}){1,100}")).toThrow(/too large/);
    expect(() => compileRegex(`${"(".repeat(60)}a${")".repeat(60)}`)).toThrow(/nested/);
  });

  it.each(["(a*)*b", "(a|aa)+$", "(.*)(.*)(.*)(.*)x", "([a-z]+)*1", "(a?){50}a{50}"])(
    "needs steps linear in the text for %s",
    (one) => {
      const steps = (length: number): number => {
        let total = 0;
        compileRegex(one, (spent) => {
          total += spent;
        }).matches("a".repeat(length));
        return total;
      };
      expect(steps(2000)).toBeLessThanOrEqual(2.2 * steps(1000));
    },
  );
});
