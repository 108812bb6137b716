/** A timestamp, in nanoseconds since 1970. */
export class Timestamp {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A duration, in nanoseconds. */
export class Duration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

const NANOS_PER_SECOND = 10n ** 9n;
const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 10n ** 3n,
  µs: 10n ** 3n,
  μs: 10n ** 3n,
  ms: 10n ** 6n,
  s: NANOS_PER_SECOND,
  m: 60n * NANOS_PER_SECOND,
  h: 3600n * NANOS_PER_SECOND,
};
const DURATION = /^(?<sign>[+-]?)(?<parts>(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const PART = /(?<whole>\d*)(?:\.(?<fraction>\d*))?(?<unit>ns|us|µs|μs|ms|s|m|h)/gy;
const TIMESTAMP =
  /^(?<date>\d{4}-\d{2}-\d{2})T(?<time>\d{2}:\d{2}:\d{2})(?:\.(?<fraction>\d{1,9}))?(?<zone>Z|[+-]\d{2}:\d{2})$/;

/** The time to parse a large integer grows faster than its length. */
const MAX_DURATION_LENGTH = 1000;

/** A duration as Go formats it: `1h30m`, `1.5s`. */
export function parseDuration(text: string): Duration | undefined {
  if (text.length > MAX_DURATION_LENGTH) return undefined;
  if (/^[+-]?0$/.test(text)) return new Duration(0n);
  const { sign, parts = "" } = DURATION.exec(text)?.groups ?? {};
  if (sign === undefined) return undefined;
  let nanos = 0n;
  for (const { groups } of parts.matchAll(PART)) {
    const unit = UNITS[groups?.["unit"] ?? "s"] ?? 0n;
    const fraction = groups?.["fraction"] ?? "";
    nanos +=
      BigInt(groups?.["whole"] || "0") * unit + (BigInt(fraction || "0") * unit) / 10n ** BigInt(fraction.length);
  }
  return new Duration(sign === "-" ? -nanos : nanos);
}

/** A timestamp in RFC 3339, exact to the nanosecond. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const { date, time, fraction = "", zone } = TIMESTAMP.exec(text)?.groups ?? {};
  const ms = date === undefined ? Number.NaN : Date.parse(`${date}T${time}${zone}`);
  // A day beyond the month's end rolls over in some engines and is rejected by others.
  if (Number.isNaN(ms) || new Date(`${date}T00:00:00Z`).toISOString().slice(0, 10) !== date) return undefined;
  return new Timestamp(BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, "0")));
}

/** As CEL formats it: seconds. */
export function formatDuration({ nanos }: Duration): string {
  const sign = nanos < 0n ? "-" : "";
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = String(size % NANOS_PER_SECOND)
    .padStart(9, "0")
    .replace(/(?<!0)0+$/, "");
  return `${sign}${size / NANOS_PER_SECOND}${fraction === "" ? "" : `.${fraction}`}s`;
}

export function formatTimestamp({ nanos }: Timestamp): string {
  const seconds = divideFloor(nanos, NANOS_PER_SECOND);
  const fraction = String(nanos - seconds * NANOS_PER_SECOND)
    .padStart(9, "0")
    .replace(/(?<!0)0+$/, "");
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return `${whole}${fraction === "" ? "" : `.${fraction}`}Z`;
}

/** The fields of a timestamp in a zone: UTC, or an offset such as `+02:00`; undefined for other zones. */
export function toZonedDate({ nanos }: Timestamp, zone: string): Date | undefined {
  const offset = /^(?<sign>[+-]?)(?<hours>\d{2}):(?<minutes>\d{2})$/.exec(zone)?.groups;
  if (!offset && zone !== "UTC" && zone !== "") return undefined;
  const minutes = offset ? Number(offset["hours"]) * 60 + Number(offset["minutes"]) : 0;
  const shift = (offset?.["sign"] === "-" ? -minutes : minutes) * 60_000;
  return new Date(Number(divideFloor(nanos, 1_000_000n)) + shift);
}

function divideFloor(value: bigint, by: bigint): bigint {
  const whole = value / by;
  return value % by < 0n ? whole - 1n : whole;
}
