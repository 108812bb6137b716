import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatGrpcTimeout, parseGrpcTimeout } from "./metadata.ts";

describe("reading grpc-timeout", () => {
  test.each([
    { value: "5S", ms: 5_000, why: "seconds" },
    { value: "100m", ms: 100, why: "milliseconds" },
    { value: "2M", ms: 120_000, why: "minutes" },
    { value: "1H", ms: 3_600_000, why: "hours" },
    { value: "1500u", ms: 1.5, why: "microseconds" },
    { value: "2500000n", ms: 2.5, why: "nanoseconds" },
    { value: "0m", ms: 0, why: "already expired" },
    { value: "99999999H", ms: 359_999_996_400_000, why: "the maximum of the format" },
    { value: "123456789m", ms: undefined, why: "more than eight digits" },
    { value: "5s", ms: undefined, why: "lower-case s is not a unit" },
    { value: "-5S", ms: undefined, why: "a sign" },
    { value: "1.5S", ms: undefined, why: "a fraction" },
    { value: "S", ms: undefined, why: "no digits" },
    { value: "5", ms: undefined, why: "no unit" },
    { value: " 5S", ms: undefined, why: "a space" },
    { value: "", ms: undefined, why: "nothing" },
  ])("$value ($why)", ({ value, ms }) => {
    expect(parseGrpcTimeout(value)).toBe(ms);
  });

  test("never throws", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const ms = parseGrpcTimeout(text);
        expect(ms === undefined || ms >= 0).toBe(true);
      }),
    );
  });
});

describe("writing grpc-timeout", () => {
  test.each([
    { ms: 15_000, value: "15000m", why: "milliseconds when they fit" },
    { ms: 0.5, value: "500000n", why: "finer only below a millisecond" },
    { ms: 1.2, value: "2m", why: "rounded up: the server must not give up before the client" },
    { ms: 200_000_000, value: "200000S", why: "seconds when milliseconds take more than eight digits" },
    { ms: 0, value: "0m", why: "already expired" },
    { ms: -3, value: "0m", why: "expired before" },
    { ms: Number.POSITIVE_INFINITY, value: "99999999H", why: "no deadline" },
  ])("$ms ms is $value ($why)", ({ ms, value }) => {
    expect(formatGrpcTimeout(ms)).toBe(value);
  });

  test("round-trips to the same value rounded up to the unit", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 3e11, noNaN: true }), (ms) => {
        const read = parseGrpcTimeout(formatGrpcTimeout(ms)) ?? Number.NaN;
        expect(read).toBeGreaterThanOrEqual(ms * (1 - 1e-12));
        expect(read - ms).toBeLessThanOrEqual(Math.max(1, ms * 0.001));
      }),
    );
  });
});
