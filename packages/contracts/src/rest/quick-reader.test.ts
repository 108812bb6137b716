import { readFileSync } from "node:fs";
import { sweepSize } from "@oaas/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { allRoutes } from "./routes/table.ts";
import { quickReaderOf, REFUSED } from "./quick-reader.ts";
import { documentFromYaml } from "./reading/yaml-document.ts";

const read = (name: string): string => readFileSync(new URL(`testdata/${name}`, import.meta.url), "utf8");
const yaml = (text: string): unknown => {
  const document = documentFromYaml(text);
  if (!document.ok) throw new Error(JSON.stringify(document.error));
  return document.value;
};

/** Documents that some route takes, and one in YAML, whose scalars are read by what is wanted. */
const DOCUMENTS: readonly unknown[] = [
  JSON.parse(read("august-2025.package.json")),
  JSON.parse(read("september-2025.package.json")),
  JSON.parse(read("upstream.deployment.json")),
  yaml(read("counter.package.yaml")),
  { name: "north", url: "http://127.0.0.1:9", labels: { zone: "a" }, availability: 0.99 },
  { deployment: { key: "a", package_name: "p", class_key: "C" }, what_if: { clusters_down: ["x"] }, reason: "r" },
  { revision: 1, reason: null },
  { limit: "20", offset: "", sort: "-name", cluster: "east", tags: "a,b", cascade: "true" },
];

const wild = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(null, undefined, "", -1, 7, 0.5, 1e308, Number.NaN, true, "true", [], {}, ["x"], "x".repeat(300)),
  fc.constantFrom({ __proto__: null, a: 1 }, JSON.parse('{"__proto__":{}}')),
);

/** A document in which something was replaced, removed or added anywhere. */
function mutated(document: unknown): fc.Arbitrary<unknown> {
  if (typeof document !== "object" || document === null) return wild;
  const keys = Object.keys(document);
  if (keys.length === 0) return wild;
  const copyWith = (change: (copy: Record<string, unknown>) => void): unknown => {
    const copy = (Array.isArray(document) ? [...document] : { ...document }) as Record<string, unknown>;
    change(copy);
    return copy;
  };
  const inside = fc
    .constantFrom(...keys)
    .chain((key) =>
      mutated((document as Record<string, unknown>)[key]).map((value) => copyWith((copy) => (copy[key] = value))),
    );
  const removed = fc.constantFrom(...keys).map((key) => copyWith((copy) => delete copy[key]));
  const added = fc.tuple(fc.string(), wild).map(([key, value]) => copyWith((copy) => (copy[key] = value)));
  return fc.oneof(
    { weight: 6, arbitrary: inside },
    { weight: 1, arbitrary: removed },
    { weight: 1, arbitrary: added },
    { weight: 1, arbitrary: wild },
  );
}

const twice = fc
  .constantFrom(...DOCUMENTS)
  .chain((document) => fc.oneof(mutated(document), mutated(document).chain(mutated)));

function assertSame(schema: z.ZodType, document: unknown): void {
  const slow = schema.safeParse(document);
  const quick = quickReaderOf(schema)(document);
  if (!slow.success) expect(quick).toBe(REFUSED);
  else {
    expect(quick).toStrictEqual(slow.data);
    expect(JSON.stringify(quick), "members in the same order").toBe(JSON.stringify(slow.data));
  }
}

const SCHEMAS = allRoutes().flatMap(({ operationId, body, query }) => [
  ...(body ? [{ name: `the body of ${operationId}`, schema: body }] : []),
  ...(query ? [{ name: `the query of ${operationId}`, schema: query }] : []),
]);

describe("a quick reader reads what its schema reads, and nothing else", () => {
  test.each(SCHEMAS)("$name", ({ schema }) => {
    for (const document of DOCUMENTS) assertSame(schema, document);
    fc.assert(
      fc.property(twice, (document) => assertSame(schema, document)),
      { numRuns: sweepSize(60, 3000), seed: 6 },
    );
  });

  test.each([
    { name: "defaults", schema: z.object({ a: z.string().default("x"), b: z.string().optional() }) },
    { name: "prefaults", schema: z.object({ a: z.string().prefault("x").optional() }) },
    { name: "unions", schema: z.union([z.string(), z.object({ a: z.number() })]) },
    { name: "strict objects", schema: z.strictObject({ a: z.number().optional() }) },
    { name: "loose objects", schema: z.looseObject({ a: z.number().optional() }) },
    { name: "records of known names", schema: z.record(z.enum(["a", "b"]), z.unknown()) },
    { name: "what is coerced", schema: z.object({ a: z.coerce.number() }) },
    { name: "points in time", schema: z.object({ a: z.iso.datetime().nullish() }) },
    { name: "checks that change the value", schema: z.object({ a: z.string().trim().min(1) }) },
  ])("$name, which no route has, are left to the schema or read alike", ({ schema }) => {
    const given = fc.oneof(
      wild,
      fc.record({ a: wild, b: wild, c: wild }, { requiredKeys: [] }),
      fc.constantFrom({ a: " x " }, { a: "  " }, { a: "5" }, { a: 5 }, { a: "2026-01-31T12:00:00Z" }, "text"),
    );
    fc.assert(
      fc.property(given, (document) => assertSame(schema, document)),
      { numRuns: sweepSize(200, 3000), seed: 6 },
    );
  });
});
