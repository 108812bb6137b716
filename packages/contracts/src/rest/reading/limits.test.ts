import { MAX_VIOLATIONS } from "@oaas/foundation";
import { LIST_LIMITS, MAX_TEXT_LENGTH } from "@oaas/models";
import { describe, expect, test } from "vitest";
import { packageInput } from "../resources/package/package.ts";
import { readBy } from "./violations.ts";

function violationsOf(document: object): readonly string[] {
  const read = readBy(packageInput, { name: "a", ...document });
  return read.ok ? [] : read.error.map(({ path, message, fix }) => `${path}: ${message}; ${fix}`);
}

describe("limits of a document", () => {
  const { functions, settings } = LIST_LIMITS;

  test("a list that is too long is one violation; its items are not read", () => {
    const items = Array.from({ length: functions + 1 }, () => 0);
    expect(violationsOf({ functions: items })).toEqual([
      `$.functions: has ${functions + 1} items; use at most ${functions}`,
    ]);
  });

  test("a map with too many entries is one violation", () => {
    const config = Object.fromEntries(Array.from({ length: settings + 1 }, (_, index) => [`K${index}`, {}]));
    expect(violationsOf({ functions: [{ key: "f", config }] })).toEqual([
      `$.functions[0].config: has ${settings + 1} entries; use at most ${settings}`,
    ]);
  });

  test("a text that is too long names its limit", () => {
    expect(violationsOf({ version: "x".repeat(MAX_TEXT_LENGTH + 1) })).toEqual([
      `$.version: has an invalid length; use at most ${MAX_TEXT_LENGTH} characters`,
    ]);
  });

  test("the first violations are listed and the others counted", () => {
    const found = violationsOf({ functions: Array.from({ length: functions }, () => 0) });
    expect(found).toHaveLength(MAX_VIOLATIONS + 1);
    expect(found[0]).toMatch(/^\$\.functions\[0\]: is 0/);
    expect(found.at(-1)).toMatch(/^\$: has 900 more violations that are not listed; fix the listed ones first/);
  });

  test("rules across fields are limited too, and quote long names once", () => {
    const classes = Array.from({ length: 300 }, (_, index) => ({
      key: `C${index}`,
      function_bindings: [{ name: "m", function_key: "missing", access_modifier: "PUBLIC" }],
    }));
    const long = Array.from({ length: 10 }, (_, index) => ({ key: `${index}${"f".repeat(100_000)}` }));
    const found = violationsOf({ classes, functions: long });
    expect(found).toHaveLength(MAX_VIOLATIONS + 1);
    expect(found.join("\n").length).toBeLessThan(200_000);
  });
});
