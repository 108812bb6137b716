import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatShare, formatSignal, formatValue, formatWindow } from "./format.ts";

describe("formatValue", () => {
  it.each([
    [3, "replicas", "3"],
    [3.714, "replicas", "3.71"],
    [250, "cpu", "250m"],
    [24.6, "cpu", "25m"],
    [9999.9, "cpu", "10000m"],
    [12_000, "cpu", "12"],
    [1_000_000, "cpu", "unbounded"],
    [134_217_728, "memory", "128Mi"],
    [55_260_000, "memory", "52.7Mi"],
    [512, "memory", "512"],
    [3 * 2 ** 30, "memory", "3Gi"],
    [1e12, "memory", "unbounded"],
  ])("shows %d %s as %s", (value, dimension, text) => {
    expect(formatValue(value, dimension)).toBe(text);
  });

  it("keeps memory within half a percent", () => {
    const sizes: Readonly<Record<string, number>> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9e11 }), (bytes) => {
        const [, number = "", unit = ""] = /^([\d.]+)(\w*)$/.exec(formatValue(bytes, "memory")) ?? [];
        expect(Math.abs(Number(number) * (sizes[unit] ?? 1) - bytes)).toBeLessThanOrEqual(bytes * 0.005 + 0.5);
      }),
    );
  });
});

it.each([
  [0, "0 %"],
  [0.000_520_83, "<0.1 %"],
  [0.85, "85 %"],
  [-0.25, "-25 %"],
  [1, "100 %"],
])("formatShare shows %d as %s", (share, text) => {
  expect(formatShare(share)).toBe(text);
});

it.each([
  ["p90_bytes", 55_300_000, "52.7Mi"],
  ["cpu_millicores", 935, "935m"],
  ["latency_p99_ms", 151.25, "151 ms"],
  ["cpu_throttled_ratio", 0.25, "25 %"],
  ["capacity_confidence", 0.9, "90 %"],
  ["availability", 1, "100 %"],
  ["availability_replicas", 2, "2"],
  ["requests_per_second", 300, "300"],
  ["samples", 12_345, "12345"],
])("formatSignal shows %s %d as %s", (name, value, text) => {
  expect(formatSignal(name, value)).toBe(text);
});

it("formatWindow names a history that has just begun", () => {
  expect([formatWindow("10m"), formatWindow("0m")]).toEqual(["10m", "less than 1m"]);
});
