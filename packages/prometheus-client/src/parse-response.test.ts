import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseResponse } from "./parse-response.ts";
import { matrix } from "./testing/scripted-server.ts";

const parse = (body: unknown, maxSamples = 100) =>
  parseResponse(typeof body === "string" ? body : JSON.stringify(body), maxSamples);

describe("parseResponse", () => {
  it("reads numbers as Prometheus writes them, and counts the values that are not finite", () => {
    const values = ["1", "-2.5", "+3", "1e-7", "1E+21", ".5", "NaN", "+Inf", "-Inf", "Inf"];
    const body = matrix([[{ a: "1" }, values.map((value, index) => [1_700_000_000.5 + index, value] as const)]]);
    const parsed = parse(body);
    expect(parsed).toMatchObject({ ok: true, value: { droppedSamples: 4, duplicates: [], isPartial: false } });
    if (!parsed.ok) return;
    const samples = parsed.value.series[0]?.samples ?? [];
    expect(samples.map(({ value }) => value)).toEqual([1, -2.5, 3, 1e-7, 1e21, 0.5]);
    expect(samples[0]?.atMs).toBe(1_700_000_000_500);
  });

  it.each(["", "0x10", "1 ", "1,5", "Infinity", "null", "1_000"])("rejects the value %j", (value) => {
    expect(parse(matrix([[{}, [[1, value]]]]))).toMatchObject({ ok: false, error: { kind: "foreign" } });
  });

  it("drops samples that are not in ascending order of time", () => {
    const parsed = parse(matrix([[{}, [[1, "1"], [3, "3"], [3, "4"], [2, "2"]]]])); // prettier-ignore
    expect(parsed).toMatchObject({
      value: { droppedSamples: 2, series: [{ samples: [{ value: 1 }, { value: 3 }] }] },
    });
  });

  it("names duplicate series and uses none of them", () => {
    const parsed = parse(matrix([[{ b: "2", a: "1" }, [[1, "1"]]], [{ a: "1", b: "2" }, [[1, "9"]]], [{ a: "2" }, []]])); // prettier-ignore
    expect(parsed).toMatchObject({ value: { duplicates: ['{a="1",b="2"}'], series: [{ labels: { a: "2" } }] } });
  });

  it("reads vectors and scalars as series of one sample", () => {
    const data = (resultType: string, result: unknown) => ({ status: "success", data: { resultType, result } });
    expect(parse(data("vector", [{ metric: { a: "1" }, value: [1, "7"] }]))).toMatchObject({
      value: { series: [{ labels: { a: "1" }, samples: [{ atMs: 1000, value: 7 }] }] },
    });
    expect(parse(data("scalar", [2, "3"]))).toMatchObject({
      value: { series: [{ labels: {}, samples: [{ value: 3 }] }] },
    });
    expect(parse(data("string", [2, "x"]))).toMatchObject({ error: { kind: "foreign" } });
  });

  it("counts native histograms as dropped", () => {
    const result = [{ metric: {}, histograms: [[1, { count: "1" }]] }];
    expect(parse({ status: "success", data: { resultType: "matrix", result } })).toMatchObject({
      value: { droppedSamples: 1, series: [{ samples: [] }] },
    });
  });

  const partial: { name: string; extra: object; isPartial: boolean }[] = [
    { name: "Thanos warns about a store", extra: { warnings: ["receive series from store: down"] }, isPartial: true },
    { name: "VictoriaMetrics sets isPartial", extra: { isPartial: true }, isPartial: true },
    { name: "Prometheus warns about the query", extra: { warnings: ["PromQL warning: bucket"] }, isPartial: false },
  ];
  it.each(partial)("$name: partial is $isPartial", ({ extra, isPartial }) => {
    const parsed = parse({ ...matrix([]), ...extra });
    expect(parsed).toMatchObject({ ok: true, value: { isPartial } });
  });

  const foreign: [string, unknown, RegExp][] = [
    ["an empty body", "  ", /empty/],
    ["a page", "<!doctype html><title>Sign in</title>", /HTML/],
    ["plain text", "404 page not found", /not JSON/],
    ["a list", [], /not an object/],
    ["another schema", { status: "ok", results: [] }, /"status": "success"/],
    ["nested lists", "[".repeat(100), /nested/],
    ["labels that are not text", matrix([[{ a: 1 as unknown as string }, []]]), /labels/],
  ];
  it.each(foreign)("explains %s", (_, body, message) => {
    expect(parse(body)).toMatchObject({
      ok: false,
      error: { kind: "foreign", message: expect.stringMatching(message) },
    });
  });

  it("stops above the limit of samples", () => {
    const many = Array.from({ length: 101 }, (_, at) => [at, "1"] as const);
    expect(parse(matrix([[{}, many]]))).toMatchObject({ error: { kind: "too-many-samples" } });
    expect(parse(matrix([[{}, many.slice(1)]]))).toMatchObject({ ok: true });
  });

  it("returns only finite samples in ascending order, whatever the body", () => {
    const value = fc.oneof(fc.constantFrom("NaN", "+Inf", "1", "-3.5"), fc.float().map(String), fc.anything());
    const pair = fc.oneof(fc.tuple(fc.double(), value), fc.anything());
    const row = fc.oneof(
      fc.record({ metric: fc.dictionary(fc.string(), fc.string()), values: fc.array(pair) }),
      fc.anything(),
    );
    const body = fc.oneof(
      fc.record({
        status: fc.constant("success"),
        data: fc.record({ resultType: fc.constant("matrix"), result: fc.array(row) }),
      }),
      fc.anything(),
    );
    fc.assert(
      fc.property(body, (document) => {
        let text: string;
        try {
          text = JSON.stringify(document) ?? "";
        } catch {
          return;
        }
        const parsed = parse(text, 50);
        if (!parsed.ok) return;
        for (const { samples } of parsed.value.series) {
          expect(samples.every(({ value }) => Number.isFinite(value))).toBe(true);
          expect(samples.every(({ atMs }, at) => at === 0 || atMs > (samples[at - 1]?.atMs ?? 0))).toBe(true);
        }
      }),
    );
  });
});
