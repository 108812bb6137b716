import { ok } from "@oaas/foundation";
import { parseSchemaText, invalid, type Kind } from "./kind.ts";

/** Units of time in milliseconds, largest first. */
const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
] as const;

type TimeUnit = (typeof UNITS)[number][0];

const UNIT_MS: ReadonlyMap<string, number> = new Map(UNITS);
const PART = /(\d+(?:\.\d+)?)(ms|[smhd])/gy;
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/;
const BARE = /^\d+(?:\.\d+)?$/;

export interface DurationOptions {
  /** Unit of a number without a unit. By default such a number is rejected. */
  readonly bare?: TimeUnit;
  /** Limits, written as durations. */
  readonly min?: string;
  readonly max?: string;
}

/** A duration in milliseconds, written as "90s", "1h30m", "250ms", or as a number in the `bare` unit. */
export function durationKind(options: DurationOptions = {}): Kind<number, string> {
  const label = options.bare === undefined ? "duration" : `duration or number of ${UNIT_NAMES[options.bare]}`;
  const min = options.min === undefined ? 0 : parseBound(options.min);
  const max = options.max === undefined ? Number.MAX_SAFE_INTEGER : parseBound(options.max);
  const kind: Kind<number, string> = {
    label,
    echo: true,
    parse: (text) => {
      const ms = parseDuration(text.trim(), options.bare);
      if (ms === undefined) return invalid(`must be a ${label}`, `use for example "90s", "10m" or "1h30m"`);
      if (ms < min) return invalid(`must be at least ${showDuration(min)}`);
      return ms > max ? invalid(`must be at most ${showDuration(max)}`) : ok(ms);
    },
    show: showDuration,
    fromDefault: (written) => parseSchemaText(kind, written),
  };
  return kind;
}

const UNIT_NAMES: Readonly<Record<TimeUnit, string>> = {
  d: "days",
  h: "hours",
  m: "minutes",
  s: "seconds",
  ms: "milliseconds",
};

function parseBound(written: string): number {
  return parseSchemaText(
    { label: "duration", parse: (text) => durationResult(parseDuration(text, undefined)) },
    written,
  );
}

function durationResult(ms: number | undefined): ReturnType<Kind<number>["parse"]> {
  return ms === undefined ? invalid("must have a unit") : ok(ms);
}

function parseDuration(text: string, bare: TimeUnit | undefined): number | undefined {
  if (BARE.test(text)) {
    if (bare !== undefined) return roundMs(Number(text) * unitMs(bare));
    return Number(text) === 0 ? 0 : undefined;
  }
  if (!WHOLE.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART)) total += Number(amount) * unitMs(unit ?? "");
  return roundMs(total);
}

function unitMs(unit: string): number {
  return UNIT_MS.get(unit) ?? Number.NaN;
}

/** Rounds to whole milliseconds, the resolution of timers. */
function roundMs(ms: number): number | undefined {
  const whole = Math.round(ms);
  return Number.isSafeInteger(whole) ? whole : undefined;
}

/** Formats milliseconds in the largest units that fit: 5400000 is "1h30m". */
export function showDuration(ms: number): string {
  let rest = ms;
  let text = "";
  for (const [unit, size] of UNITS) {
    const amount = Math.floor(rest / size);
    if (amount > 0) text += `${amount}${unit}`;
    rest -= amount * size;
  }
  return text === "" ? "0s" : text;
}
