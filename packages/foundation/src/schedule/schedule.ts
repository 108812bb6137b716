const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Limits the search for impossible dates (February 30th). */
const LOOKED_FOR_MS = 5 * 366 * DAY_MS;

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const DESCRIPTORS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const UNITS_MS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, ms: 1, s: 1000, m: MINUTE_MS, h: HOUR_MS };

/** A schedule in the local time of a zone; times are milliseconds as if the zone were UTC. */
export interface Schedule {
  /** The first time after this one; undefined when there is none in range. */
  next(afterMs: number): number | undefined;
}

/** Parses a validated schedule as the CronJob controller does. */
export function parseSchedule(text: string): Schedule {
  const every = /^@every (?<length>.+)$/.exec(text)?.groups?.["length"];
  if (every !== undefined) return parseInterval(durationMs(every));
  const [minutes = "", hours = "", days = "", months = "", weekdays = ""] = (DESCRIPTORS[text] ?? text)
    .trim()
    .split(/\s+/);
  return timesOf({
    minutes: parseField(minutes, 0, 59),
    hours: parseField(hours, 0, 23),
    days: parseField(days, 1, 31),
    months: parseField(months, 1, 12, MONTHS),
    weekdays: parseField(weekdays, 0, 6, DAYS),
  });
}

function parseInterval(lengthMs: number): Schedule {
  const wholeMs = Math.max(1, Math.floor(lengthMs / 1000)) * 1000;
  return { next: (afterMs) => Math.floor(afterMs / 1000) * 1000 + wholeMs };
}

/** `1h30m` in milliseconds. */
function durationMs(text: string): number {
  const parts = [...text.matchAll(/(?<count>\d+(?:\.\d+)?)(?<unit>ns|us|ms|s|m|h)/gy)];
  return parts.reduce(
    (sum, { groups }) => sum + Number(groups?.["count"]) * (UNITS_MS[groups?.["unit"] ?? ""] ?? 0),
    0,
  );
}

interface Field {
  readonly values: ReadonlySet<number>;
  /** Whether it is `*`. */
  readonly isAny: boolean;
}

function parseField(text: string, least: number, most: number, names: readonly string[] = []): Field {
  const valueOf = (word: string): number => {
    const nameIndex = names.indexOf(word.toLowerCase());
    return nameIndex === -1 ? Number(word) : nameIndex + least;
  };
  const parts = text.split(",").map((part) => {
    const [span = "", step] = part.split("/");
    const stride = Number(step ?? 1);
    const isStar = span === "*" || span === "?";
    const [from = "", to] = span.split("-");
    const first = isStar ? least : valueOf(from);
    // A single number with a step continues to the end.
    const last = isStar || (to === undefined && step !== undefined) ? most : valueOf(to ?? from);
    const values: number[] = [];
    for (let value = first; value <= last; value += stride) values.push(value);
    return { values, isAny: isStar && stride <= 1 };
  });
  return { values: new Set(parts.flatMap(({ values }) => values)), isAny: parts.some(({ isAny }) => isAny) };
}

function timesOf(fields: Readonly<Record<"minutes" | "hours" | "days" | "months" | "weekdays", Field>>): Schedule {
  const { minutes, hours, days, months, weekdays } = fields;
  // Days of the month and of the week are combined by OR unless one of them is `*`.
  const isDay = (date: Date): boolean => {
    const [ofMonth, ofWeek] = [days.values.has(date.getUTCDate()), weekdays.values.has(date.getUTCDay())];
    return days.isAny || weekdays.isAny ? ofMonth && ofWeek : ofMonth || ofWeek;
  };
  return {
    next: (afterMs) => {
      let at = Math.floor(afterMs / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
      const end = afterMs + LOOKED_FOR_MS;
      while (at < end) {
        const date = new Date(at);
        if (!months.values.has(date.getUTCMonth() + 1)) at = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
        else if (!isDay(date)) at = Math.floor(at / DAY_MS) * DAY_MS + DAY_MS;
        else if (!hours.values.has(date.getUTCHours())) at = Math.floor(at / HOUR_MS) * HOUR_MS + HOUR_MS;
        else if (!minutes.values.has(date.getUTCMinutes())) at += MINUTE_MS;
        else return at;
      }
      return undefined;
    },
  };
}

/** The local time of a zone, as if the zone were UTC. */
export function localClock(zone: string): (trueMs: number) => number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (trueMs) => {
    const parts = new Map(format.formatToParts(trueMs).map(({ type, value }) => [type, Number(value)]));
    const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
    return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  };
}

/** The same schedule in the local time of a zone, in real time; without a zone: UTC. */
export function toZonedTime(schedule: Schedule, zone: string | undefined): Schedule {
  if (zone === undefined || zone === "") return schedule;
  const localOf = localClock(zone);
  const trueOf = (localMs: number): number => {
    const near = localMs - (localOf(localMs) - localMs);
    return near - (localOf(near) - localMs);
  };
  return {
    next: (afterMs) => {
      // A local time that occurs twice, or not at all, at a clock change must not go back.
      for (let from = localOf(afterMs); ;) {
        const local = schedule.next(from);
        if (local === undefined) return undefined;
        const at = trueOf(local);
        if (at > afterMs) return at;
        from = local;
      }
    },
  };
}
