/** Last lines of a log in the pretty format, which start with the time of day in UTC. */
export interface LogTail {
  /** Path relative to the data folder. */
  readonly file: string;
  readonly lines: readonly string[];
  /** Time of the last write. */
  readonly writtenAt: number;
}

/** A line of merged logs. */
export interface LogLine {
  /** Name of the cluster or component that wrote it. */
  readonly owner: string;
  readonly text: string;
  /** Whether it is an indented detail of the line above. */
  readonly isDetail: boolean;
}

/** Merges logs by time. Details stay with their line. */
export function mergeLogs(tails: readonly LogTail[]): readonly LogLine[] {
  const entries = tails.flatMap((tail) => {
    const owner = ownerOf(tail.file);
    const times = timestampsOf(tail);
    return tail.lines.map((text, index) => ({
      at: times[index] ?? tail.writtenAt,
      line: { owner, text, isDetail: /^\s/.test(text) },
    }));
  });
  return entries.toSorted((one, other) => one.at - other.at).map(({ line }) => line);
}

/** Formats a line for a terminal. */
export function logText({ owner, text }: LogLine): string {
  return `${owner.padEnd(15)} ${text}`;
}

const DAY_MS = 86_400_000;
/** Tolerance for file times before the time of the last line. */
const SLACK_MS = 1_000;

/**
 * Returns the time of each line. Lines have the time of day only: the last line has the date of the file, and a time
 * later than that of the following line belongs to the previous day.
 */
function timestampsOf({ lines, writtenAt }: LogTail): readonly number[] {
  const times: number[] = [];
  let day = Math.floor(writtenAt / DAY_MS) * DAY_MS;
  let next = writtenAt - day + SLACK_MS;
  for (const [index, line] of [...lines.entries()].toReversed()) {
    const time = timeOfDay(line);
    if (time === undefined) continue;
    if (time > next) day -= DAY_MS;
    next = time;
    times[index] = day + time;
  }
  let last = times.find((time) => time !== undefined) ?? writtenAt;
  return lines.map((_, index) => (last = times[index] ?? last));
}

function timeOfDay(line: string): number | undefined {
  const [, hours, minutes, seconds] = /^(\d\d):(\d\d):(\d\d\.\d{3})/.exec(line) ?? [];
  if (seconds === undefined) return undefined;
  return (Number(hours) * 60 + Number(minutes)) * 60_000 + Math.round(Number(seconds) * 1000);
}

/** `clusters/edge/class-runtime-manager.log` belongs to edge, `package-manager.log` to package-manager. */
function ownerOf(file: string): string {
  const parts = file.split(/[\\/]/);
  return parts.length > 1 ? (parts.at(-2) ?? "") : (parts[0] ?? "").replace(/\.log$/, "");
}
