import { failedPrecondition, invalidArgument, notFound, unavailable } from "@oaas/foundation";
import { describe, expect, it } from "vitest";
import { parseDuration } from "../command/argument-parsers.ts";
import { createColours } from "./colours.ts";
import { faultText } from "./fault-text.ts";
import { parseFormat } from "./format.ts";
import { jsonPathText } from "./jsonpath.ts";
import { ageText, percentText, tableText } from "./table.ts";

const NOW = Date.parse("2026-01-10T00:00:00Z");

describe("tables", () => {
  it("size columns by the widest cell and ignore colours", () => {
    const { good } = createColours(true, {});
    const rows = [
      { name: "a", state: good("ok") },
      { name: "longer", state: "x\ny" },
    ];
    const text = tableText(rows, [
      { header: "NAME", cell: ({ name }) => name },
      { header: "STATE", cell: ({ state }) => state },
      { header: "MORE", isWide: true, cell: () => "-" },
    ]);
    expect(text).toBe(`NAME     STATE\na        ${good("ok")}\nlonger   x y\n`);
  });

  it.each([
    ["2026-01-09T23:59:48Z", "12s"],
    ["2026-01-09T23:59:00Z", "60s"],
    ["2026-01-09T23:55:00Z", "5m"],
    ["2026-01-09T21:00:00Z", "3h"],
    ["2026-01-01T00:00:00Z", "9d"],
    ["2026-02-01T00:00:00Z", "0s"],
    [undefined, "-"],
  ])("the age of %s is %s", (time, age) => {
    expect(ageText(time, NOW)).toBe(age);
  });

  it.each([
    [0.9995, "99.95 %"],
    [1, "100 %"],
    [null, "-"],
  ])("the fraction %s is %s", (share, text) => {
    expect(percentText(share)).toBe(text);
  });
});

describe("JSONPath", () => {
  const document = { name: "a", items: [{ key: "x", "dotted.name": 1 }, { key: "y" }], nested: { list: [1, 2] } };
  it.each([
    ["{.name}", "a"],
    ["name", "a"],
    [".name", "a"],
    ["{.items[*].key}", "x y"],
    ["{.items[0]['dotted.name']}", "1"],
    ['{.items[-1].key}{"\\n"}', "y\n"],
    ["{.nested.list}", "[1,2]"],
    ["{.missing.deep}", ""],
    ["<{$.name}>", "<a>"],
    ['{range .items[*]}{.key}={$.name}{"\\n"}{end}', "x=a\ny=a\n"],
    ['{.items[?(@.key=="y")].key}', "y"],
    ["{.items[?(@.key!='y')].key}", "x"],
    ["{.items[?(@.dotted\\.name)].key}", "x"],
    ["{.nested.list[?(@>1)]}", "2"],
    ["{.nested.list[0:1]}", "1"],
    ["{..key}", "x y"],
    ['{"{"}{.name}', "{a"],
  ])("%s evaluates to %s", (template, text) => {
    expect(jsonPathText(template, document)).toBe(text);
  });

  it("reports the position of a syntax error", () => {
    expect(() => jsonPathText("{.a[x]}", document)).toThrow(/is invalid at "\[x/);
    expect(() => jsonPathText("{.a[?(b)]}", document)).toThrow(/filter "b" is invalid/);
    expect(() => jsonPathText("{range .a}", document)).toThrow(/range without an end/);
    expect(() => jsonPathText("{.a}{end}", document)).toThrow(/end without a range/);
  });
});

it("parses output formats", async () => {
  expect(await parseFormat("jsonpath={.a}")).toEqual({ as: "jsonpath", template: "{.a}" });
  expect(await parseFormat("custom-columns=A:.a,B:.b[0]")).toEqual({
    as: "custom-columns",
    columns: [
      { header: "A", path: ".a" },
      { header: "B", path: ".b[0]" },
    ],
    hasHeaders: true,
  });
  await expect(parseFormat("custom-columns=")).rejects.toThrow(/has no columns/);
  await expect(parseFormat("custom-columns=A")).rejects.toThrow(/column "A" without a path/);
  await expect(parseFormat("xml")).rejects.toThrow(/unknown output format "xml"/);
});

it.each([
  ["90s", 90_000],
  ["5m", 300_000],
  ["250ms", 250],
  ["7", 7000],
])("%s is %i ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

it("prints faults with code and hint", () => {
  const plain = createColours(false, {});
  expect(faultText(notFound("package", "a"), plain)).toBe('error: package "a" was not found\n  OAAS_NOT_FOUND\n');
  expect(faultText(unavailable("pm", "connection refused"), plain)).toContain(
    "hint: check the context and the package manager",
  );
});

it("prints each violation of an invalid argument once, whatever its subject contains", () => {
  const fault = invalidArgument('query "a: $b"', [
    { path: "$.limit", message: "is not an integer", fix: "use digits" },
  ]);
  expect(faultText(fault, createColours(false, {}))).toBe(
    'error: query "a: $b" is invalid\n  $.limit: is not an integer; use digits\n  OAAS_INVALID_ARGUMENT\n',
  );
});

it("prints the reasons per cluster of a rejected plan", () => {
  const found = { chosen: false, availability: 0.9, health_age_ms: 1, reasons_for: ["up 0.9 of the time"] };
  const evidence = {
    reason: "no-cluster",
    remedies: [],
    clusters: [
      { ...found, cluster: "a", reasons_against: ["its circuit breaker is open"] },
      { ...found, cluster: "b", reasons_against: [] },
    ],
  };
  expect(faultText(failedPrecondition("class", "no cluster can take it", { evidence }), createColours(false, {}))).toBe(
    "error: no cluster can take it\n  a: its circuit breaker is open; up 0.9 of the time\n  b: up 0.9 of the time\n  OAAS_FAILED_PRECONDITION\n",
  );
});

it("uses colours on terminals only and respects NO_COLOR", () => {
  expect(createColours(false, {}).good("x")).toBe("x");
  expect(createColours(true, { NO_COLOR: "1" }).good("x")).toBe("x");
  expect(createColours(true, {}).good("x")).not.toBe("x");
});

it.each([
  [0.9995, "99.95 %"],
  [0.999_999_999_9, "99.99999999 %"],
  [0.999_999_987_65, "99.9999988 %"],
  [1, "100 %"],
  [0, "0 %"],
  [undefined, "-"],
])("formats %s as %s without rounding to 100 %%", (share, text) => {
  expect(percentText(share)).toBe(text);
});
