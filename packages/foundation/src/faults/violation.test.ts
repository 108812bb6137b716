import { describe, expect, test } from "vitest";
import {
  countViolations,
  joinViolations,
  limitViolations,
  pathOf,
  ROOT_PATH,
  violationsUnder,
  violationText,
} from "./violation.ts";

describe("paths", () => {
  test.each([
    { keys: ["classes", 0, "key"], path: "$.classes[0].key", case: "members and indexes" },
    { keys: ["labels", "oaas.io/owner"], path: "$.labels['oaas.io/owner']", case: "a name that is not an identifier" },
    { keys: ["it's", "a\\b"], path: "$['it\\'s']['a\\\\b']", case: "quotes and backslashes are escaped" },
    { keys: [], path: "$", case: "the document itself" },
  ])("$path ($case)", ({ keys, path }) => {
    expect(pathOf(ROOT_PATH, ...keys)).toBe(path);
  });

  test("prefixes the paths of violations of a part", () => {
    expect(violationsUnder("$.classes[2]", [{ path: "$.key", message: "is empty" }])).toEqual([
      { path: "$.classes[2].key", message: "is empty" },
    ]);
  });
});

test("formats the path, the problem and the fix", () => {
  expect(violationText({ path: "$.port", message: "is 0", fix: "use 1 to 65535" })).toBe(
    "$.port: is 0; use 1 to 65535",
  );
});

test("keeps the first violations and says how many are left out", () => {
  const violations = Array.from({ length: 7 }, (_, index) => ({ path: `$[${index}]`, message: "is wrong" }));
  expect(limitViolations(violations, 6)).toBe(violations);
  expect(limitViolations(violations, 3)).toEqual([
    ...violations.slice(0, 3),
    {
      path: "$",
      message: "has 4 more violations that are not listed",
      fix: "fix the listed ones first and send it again",
      omitted: 4,
    },
  ]);
});

test("joins lists that are limited and counts what they leave out", () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ path: `$[${index}]`, message: "is wrong" }));
  expect(joinViolations(many(2), many(3))).toHaveLength(5);
  const joined = joinViolations(limitViolations(many(500)), limitViolations(many(90)), limitViolations(many(300)));
  expect(joined).toHaveLength(101);
  expect(countViolations(joined)).toBe(890);
});
