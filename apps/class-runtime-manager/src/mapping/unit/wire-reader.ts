import type { Timestamp } from "@oaas/contracts/grpc";
import { pathOf, type Violation } from "@oaas/foundation";

/** Reads values from the wire format and collects all violations. */
export class WireReader {
  readonly violations: Violation[] = [];

  addViolation(path: string, message: string, fix: string): undefined {
    this.violations.push({ path, message, fix });
    return undefined;
  }

  /** An enum value; undefined for "unspecified". Unknown numbers are violations. */
  enumWord<W extends string>(
    words: { readonly fromWire: (value: number) => W | undefined },
    value: number | undefined,
    path: string,
  ): W | undefined {
    if (value === undefined || value === 0) return undefined;
    return (
      words.fromWire(value) ??
      this.addViolation(path, `${value} is not a value of this enum`, "use a value from the contract")
    );
  }

  /** A 64-bit integer as a JSON number. */
  safeInteger(value: bigint | undefined, path: string): number | undefined {
    if (value === undefined) return undefined;
    if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
    return this.addViolation(path, `${value} is too large`, `use at most ${Number.MAX_SAFE_INTEGER}`);
  }

  safeIntegers(values: readonly bigint[], path: string): number[] {
    return values.flatMap((value, index) => this.safeInteger(value, pathOf(path, index)) ?? []);
  }

  /** A timestamp as RFC 3339, with nanoseconds. */
  timestamp(value: Timestamp | undefined, path: string): string | undefined {
    if (value === undefined) return undefined;
    const { seconds, nanos } = value;
    if (seconds < EARLIEST || seconds > LATEST || nanos < 0 || nanos > 999_999_999) {
      return this.addViolation(
        path,
        "is not a valid timestamp",
        "set seconds between the years 1 and 9999, and nanos below 10^9",
      );
    }
    const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
    const fraction =
      nanos === 0
        ? ""
        : `.${String(nanos)
            .padStart(9, "0")
            .replace(/(?<!0)0+$/, "")}`;
    return `${whole}${fraction}Z`;
  }
}

const EARLIEST = -62_135_596_800n;
const LATEST = 253_402_300_799n;

/** The inverse of `WireReader.timestamp`; undefined for an invalid timestamp. */
export function timestampParts(moment: string): { readonly seconds: bigint; readonly nanos: number } | undefined {
  const ms = Date.parse(moment);
  if (Number.isNaN(ms)) return undefined;
  const fraction = /\.(\d{1,9})/.exec(moment)?.[1] ?? "";
  return { seconds: BigInt(Math.floor(ms / 1000)), nanos: Number(fraction.padEnd(9, "0")) };
}
