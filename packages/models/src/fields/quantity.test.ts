import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { quantityNanos, RESOURCE_QUANTITY } from "./quantity.ts";

const NANO = 1_000_000_000n;

describe("quantityNanos", () => {
  test.each([
    { text: "1", nanos: NANO, case: "a bare number" },
    { text: "500m", nanos: NANO / 2n, case: "thousandths" },
    { text: "0.5", nanos: NANO / 2n, case: "decimal fraction" },
    { text: ".5", nanos: NANO / 2n, case: "fraction without a leading zero" },
    { text: "5.", nanos: 5n * NANO, case: "Kubernetes allows a trailing dot" },
    { text: "1Ki", nanos: 1024n * NANO, case: "binary unit" },
    { text: "1.5Gi", nanos: (3n * 1024n ** 3n * NANO) / 2n, case: "a fraction of a binary unit" },
    { text: "1e3", nanos: 1000n * NANO, case: "exponent" },
    { text: "1E", nanos: 10n ** 18n * NANO, case: "E alone is the unit exa, not an exponent" },
    { text: "12E2", nanos: 1200n * NANO, case: "E with digits is an exponent" },
    { text: "100n", nanos: 100n, case: "the smallest unit" },
    { text: "1e-12", nanos: 1n, case: "smaller values are rounded up" },
    { text: "-1", nanos: -NANO, case: "negative" },
  ])("$text ($case)", ({ text, nanos }) => {
    expect(quantityNanos(text)).toBe(nanos);
  });

  test.each(["", " 1", "1 Gi", "Mi", "1mi", "1KB", "0x10", "1e", "1e999", "१", "1".repeat(40), "1.2.3", "--1", "."])(
    "rejects %j",
    (text) => {
      expect(quantityNanos(text)).toBeUndefined();
    },
  );

  test("1000m equals 1 for every number", () => {
    fc.assert(
      fc.property(fc.nat(), (count) => {
        expect(quantityNanos(`${count}000m`)).toBe(quantityNanos(`${count}`));
      }),
    );
  });

  test("does not throw for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from("0123456789.+-eEinumkKMGTP ")) }), (text) => {
        const nanos = quantityNanos(text);
        return nanos === undefined || typeof nanos === "bigint";
      }),
    );
  });
});

test("the pattern for documents matches the rule", () => {
  const pattern = new RegExp(RESOURCE_QUANTITY.pattern!);
  const texts = fc.string({ unit: fc.constantFrom(...Array.from("0159.+-eEinumkKMGTP")), maxLength: 8 });
  fc.assert(
    fc.property(texts, (text) => {
      expect([text, pattern.test(text)]).toEqual([text, RESOURCE_QUANTITY.findProblem(text) === undefined]);
    }),
    { numRuns: 2000 },
  );
});

test("rejects a negative resource", () => {
  expect(RESOURCE_QUANTITY.findProblem("-1")?.message).toContain("negative");
  expect(RESOURCE_QUANTITY.findProblem("0")).toBeUndefined();
  expect(RESOURCE_QUANTITY.findProblem("lots")?.fix).toContain("500m");
});
