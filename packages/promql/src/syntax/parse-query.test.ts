import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Fault } from "@oaas/foundation";
import type { Expression } from "./expression.ts";
import { parseDuration, parseString } from "./literals.ts";
import { parseQuery } from "./parse-query.ts";

/** The structure of an expression with all parentheses. */
function show(expr: Expression): string {
  switch (expr.type) {
    case "number":
      return String(expr.value);
    case "string":
      return JSON.stringify(expr.value);
    case "negate":
      return `-(${show(expr.expr)})`;
    case "selector":
      return `${expr.matchers[0]?.value}${expr.offsetMs === 0 ? "" : `~${expr.offsetMs}`}${expr.at === undefined ? "" : `@${expr.at}`}`;
    case "range":
      return `${show(expr.selector)}[${expr.rangeMs}]`;
    case "subquery":
      return `${show(expr.expr)}[${expr.rangeMs}:${expr.stepMs ?? ""}]${expr.offsetMs === 0 ? "" : `~${expr.offsetMs}`}`;
    case "call":
      return `${expr.name}(${expr.args.map(show).join(",")})`;
    case "aggregate":
      return `${expr.operator}(${show(expr.expr)})`;
    case "binary":
      return `(${show(expr.left)} ${expr.operator} ${show(expr.right)})`;
  }
}

describe("parseQuery", () => {
  it.each([
    ["a + b * c", "(a + (b * c))"],
    ["a + b offset 5m * c", "(a + (b~300000 * c))"],
    ["a - b - c", "((a - b) - c)"],
    ["2 ^ 3 ^ 2", "(2 ^ (3 ^ 2))"],
    ["-1 ^ 2", "-((1 ^ 2))"],
    ["-a * b", "(-(a) * b)"],
    ["1 - -1", "(1 - -1)"],
    ["a or b and c unless d == e", "(a or ((b and c) unless (d == e)))"],
    ["(a + b) * c", "((a + b) * c)"],
    ["a @ 10 offset 5m", "a~300000@10000"],
    ["rate(a[5m] offset -1m)", "rate(a~-60000[300000])"],
    ["avg_over_time(a[5m:30s] offset 1m)", "avg_over_time(a[300000:30000]~60000)"],
    ["a + sum(rate(b[1h30m]))", "(a + sum(rate(b[5400000])))"],
    ["sum(a) by (x) # comment\n+ 1", "(sum(a) + 1)"],
    ["rate(a[90])", "rate(a[90000])"],
    ['{"a.b"}', "a.b"],
  ])("%s is %s", (query, shown) => {
    expect(show(parseQuery(query))).toBe(shown);
  });

  it.each([
    ["", "no expression found"],
    ["a +", "parse error"],
    ["sum(a", "parse error"],
    ['a{b="c}', "parse error"],
    ["foo(a)", 'unknown function with name "foo"'],
    ["a\n+ foo(a)", "2:"],
    ["rate(a)", "expected type range vector in call to function"],
    ["rate(a[5m], 1)", "expected 1 argument(s)"],
    ["sum(1)", "expected type instant vector in aggregation"],
    ["topk(a)", "expected 2, got 1"],
    ["1 == 1", "must use BOOL modifier"],
    ["a + bool b", "bool modifier"],
    ["1 and a", "not allowed in binary scalar expression"],
    ["a and on(x) group_left b", "no grouping allowed"],
    ["1 + on(x) a", "vector matching only allowed between instant vectors"],
    ["a * on(x) group_left(x) b", "ON and GROUP clause"],
    ["{}", "at least one non-empty matcher"],
    ['a{__name__="b"}', "must not be set twice"],
    ["a[0s]", "greater than 0"],
    ["a[5m][5m]", "ranges only allowed for vector selectors"],
    ["(a) offset 5m", "offset modifier must be preceded"],
    ["a offset 1m offset 1m", "multiple times"],
    ["-a[5m]", "unary expression only allowed"],
    ['a{b=~"("}', "invalid regular expression"],
    ['a{b="\\q"}', "unknown escape sequence"],
  ])("refuses %j: %s", (query, message) => {
    expect(() => parseQuery(query)).toThrow(message);
  });

  it.each([
    ["mad_over_time(a[5m])", "function mad_over_time is not supported"],
    ["limitk(1, a)", "aggregation limitk is not supported"],
    ["rate(a[5m + 1m])", "duration expression 5m+1m is not supported"],
    ["a anchored", "anchored is not supported"],
  ])("names what is not supported in %s", (query, message) => {
    expect(() => parseQuery(query)).toThrow(message);
  });

  it("bounds length and depth", () => {
    expect(() => parseQuery("a".repeat(10_001))).toThrow(/longer than/);
    expect(() => parseQuery(`${"(".repeat(4000)}a${")".repeat(4000)}`)).toThrow(/parse error|nested/);
    expect(() => parseQuery(`1${" + 1".repeat(400)}`)).toThrow(/nested/);
    expect(() => parseQuery(`${"-".repeat(400)}1`)).toThrow(/nested/);
  });

  it("answers any text with an expression or a fault", () => {
    const tokens = [
      "a",
      "sum",
      "rate",
      "(",
      ")",
      "[5m]",
      "[1m:]",
      "{",
      "}",
      "by",
      "+",
      "-",
      "offset 1m",
      "@ 1",
      ",",
      "1",
      '"x"',
      "on(x)",
      "group_left",
      "bool",
      "=~",
      "and",
      " ",
    ];
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(fc.constantFrom(...tokens), { maxLength: 12 }).map((list) => list.join(" ")),
          fc.string(),
        ),
        (query) => {
          try {
            parseQuery(query);
          } catch (thrown) {
            expect(thrown instanceof Fault, `${query}: ${String(thrown)}`).toBe(true);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe("literals", () => {
  it.each([
    ["5m", 300_000],
    ["1h30m", 5_400_000],
    ["2w3d", 17 * 86_400_000],
    ["1s500ms", 1500],
    ["1y", 365 * 86_400_000],
    ["30m1h", undefined],
    ["5", undefined],
    ["m", undefined],
    ["", undefined],
  ])("the duration %s is %s ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it("unquotes what JSON quotes", () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes("/")),
        (text) => {
          expect(parseString(JSON.stringify(text))).toBe(text);
        },
      ),
    );
  });

  it("unquotes Go's escapes and raw strings", () => {
    expect(parseString(String.raw`"\x41\101\u00e9\U0001F600\a\'"`)).toBe("AAé😀\x07'");
    expect(parseString("`a\\n`")).toBe(String.raw`a\n`);
    expect(() => parseString('"a')).toThrow("unterminated");
    expect(() => parseString(String.raw`"a\"`)).toThrow("unterminated");
  });
});
