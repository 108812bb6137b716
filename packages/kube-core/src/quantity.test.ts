import fc from "fast-check";
import { describe, expect, test } from "vitest";
import oracle from "../testdata/quantities.json" with { type: "json" };
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  multiplyQuantity,
  parseQuantity,
  quantityOf,
  quantityUnits,
  subtractQuantities,
  ZERO_QUANTITY,
  type Quantity,
} from "./quantity.ts";

function parsed(text: string | number): Quantity {
  const result = parseQuantity(text);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

describe("matches recorded Kubernetes parsing and formatting", () => {
  const rows: { text: string; canonical?: string; value?: string; milli?: string; refused?: boolean }[] =
    oracle.rows.parsed;

  test.each(rows.filter((row) => row.refused === true))("rejects $text", ({ text }) => {
    expect(parseQuantity(text)).toMatchObject({
      ok: false,
      error: { path: "$", message: `"${text}" is not a quantity`, fix: expect.stringContaining("1.5Gi") },
    });
  });

  test.each(rows.filter((row) => row.refused !== true))(
    "formats $text as $canonical",
    ({ text, canonical, value, milli }) => {
      const quantity = parsed(text);
      expect(formatQuantity(quantity)).toBe(canonical);
      if (value === undefined) return;
      expect(String(quantityUnits(quantity))).toBe(value);
      expect(String(quantityUnits(quantity, -3))).toBe(milli);
    },
  );

  test("adds and subtracts", () => {
    let previous = "1";
    for (const [text = "", sum, difference] of oracle.rows.sums) {
      const [a, b] = [parsed(text), parsed(previous)];
      expect([text, formatQuantity(addQuantities(a, b)), formatQuantity(subtractQuantities(a, b))]).toEqual([
        text,
        sum,
        difference,
      ]);
      previous = text;
    }
  });
});

describe("intended differences from Kubernetes", () => {
  test.each([
    { text: "", case: "empty" },
    { text: "+", case: "Kubernetes reads a bare sign as zero" },
    { text: "-", case: "Kubernetes reads a bare sign as zero" },
    { text: ".", case: "Kubernetes reads a bare point as zero" },
    { text: "e3", case: "Kubernetes reads a bare suffix as zero" },
    { text: "1e101", case: "Kubernetes does not limit exponents" },
    { text: "1e-101", case: "Kubernetes does not limit exponents" },
    { text: `1e${"9".repeat(300)}`, case: "text too long for a quantity" },
    { text: "9".repeat(257), case: "text too long for a quantity" },
  ])("refuses $text ($case)", ({ text }) => {
    expect(parseQuantity(text).ok).toBe(false);
  });

  test("keeps the largest suffix for larger amounts, which Kubernetes drops", () => {
    expect(formatQuantity(parsed("1000E"))).toBe("1000E");
    expect(formatQuantity(multiplyQuantity(parsed("4Ei"), 1024))).toBe("4096Ei");
  });
});

test("accepts JSON numbers", () => {
  expect(formatQuantity(parsed(2))).toBe("2");
  expect(formatQuantity(parsed(0.25))).toBe("250m");
  expect(formatQuantity(parsed(1e21))).toBe("1e21");
  expect(parseQuantity(Number.NaN).ok).toBe(false);
  expect(parseQuantity(Number.POSITIVE_INFINITY).ok).toBe(false);
});

describe("arithmetic", () => {
  test.each([
    { result: multiplyQuantity(parsed("500m"), 3), text: "1500m", case: "integer factor" },
    { result: multiplyQuantity(parsed("1Gi"), 1.5), text: "1536Mi", case: "a fraction" },
    { result: multiplyQuantity(parsed("1n"), 0.1), text: "1n", case: "a nonzero amount stays nonzero" },
    { result: multiplyQuantity(parsed("-1n"), 0.1), text: "-1n", case: "negative and positive" },
    { result: multiplyQuantity(parsed("3"), 0n), text: "0", case: "zero" },
    { result: addQuantities(ZERO_QUANTITY, parsed("1Gi")), text: "1Gi", case: "zero takes the other format" },
    { result: subtractQuantities(parsed("1Gi"), parsed("0.5")), text: "1073741823500m", case: "no precision is lost" },
    {
      result: multiplyQuantity(parsed("0.0001Ki"), 10_000),
      text: "1024",
      case: "an amount below one becomes decimal and stays decimal",
    },
    { result: quantityOf(2048, "BinarySI"), text: "2Ki", case: "converts an integer" },
  ])("$text: $case", ({ result, text }) => {
    expect(formatQuantity(result)).toBe(text);
  });

  test("rejects a factor that is not a number", () => {
    expect(() => multiplyQuantity(parsed("1"), Number.NaN)).toThrow(RangeError);
  });

  test.each([
    { text: "1500m", scale: 0, units: 2n },
    { text: "-1500m", scale: 0, units: -2n },
    { text: "1Gi", scale: 6, units: 1074n },
    { text: "1", scale: -9, units: 1_000_000_000n },
    { text: "1", scale: -12, units: 1_000_000_000_000n },
  ])("stores $text as $units units of 10^$scale", ({ text, scale, units }) => {
    expect(quantityUnits(parsed(text), scale)).toBe(units);
  });
});

describe("properties", () => {
  const suffix = fc.constantFrom(
    "n",
    "u",
    "m",
    "",
    "k",
    "M",
    "G",
    "T",
    "P",
    "E",
    "Ki",
    "Mi",
    "Gi",
    "Ti",
    "e3",
    "e-2",
    "E+5",
  );
  const number = fc.tuple(fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), fc.integer({ min: 0, max: 8 }));
  const text = fc.tuple(number, suffix).map(([[digits, places], suffix]) => decimal(digits, places) + suffix);

  test("format and parse are inverse, and canonical text is stable", () => {
    fc.assert(
      fc.property(text, (text) => {
        const quantity = parsed(text);
        const canonical = formatQuantity(quantity);
        expect(parsed(canonical).nano).toBe(quantity.nano);
        expect(formatQuantity(parsed(canonical))).toBe(canonical);
        expect(canonical).not.toContain(".");
      }),
    );
  });

  test("orders quantities like the fractions they represent", () => {
    fc.assert(
      fc.property(number, number, ([a, placesA], [b, placesB]) => {
        const left = a * 10n ** BigInt(placesB);
        const right = b * 10n ** BigInt(placesA);
        const expected = left === right ? 0 : left < right ? -1 : 1;
        expect(compareQuantities(parsed(decimal(a, placesA)), parsed(decimal(b, placesB)))).toBe(expected);
      }),
    );
  });

  test("subtraction undoes addition", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const there = addQuantities(parsed(a), parsed(b));
        expect(subtractQuantities(there, parsed(b)).nano).toBe(parsed(a).nano);
        expect(there.nano).toBe(addQuantities(parsed(b), parsed(a)).nano);
      }),
    );
  });

  test("rejects any other text without throwing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const result = parseQuantity(text);
        if (result.ok) expect(text).toMatch(/^[+-]?[0-9.]+([eE][+-]?\d+|[numkMGTPE]|[KMGTPE]i)?$/);
      }),
    );
  });

  function decimal(digits: bigint, places: number): string {
    const sign = digits < 0n ? "-" : "";
    const padded = String(digits < 0n ? -digits : digits).padStart(places + 1, "0");
    return places === 0 ? sign + padded : `${sign}${padded.slice(0, -places)}.${padded.slice(-places)}`;
  }
});
