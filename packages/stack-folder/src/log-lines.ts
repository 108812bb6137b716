/** The end of one log: lines for people, which begin with the time of day in UTC. */
export interface LogTail {
  /** From the data folder on. */
  readonly file: string;
  readonly lines: readonly string[];
  /** When the last of them was written. */
  readonly writtenAt: number;
}

/** A line of one of several logs. */
export interface LogLine {
  /** Whose it is: a cluster, or the component at the top of the folder. */
  readonly owner: string;
  readonly text: string;
  /** It stands below another, of which it tells more. */
  readonly isDetail: boolean;
}

/** The lines of several logs as one, in the order of their times. What stands below a line stays with it. */
export function mergedLogs(tails: readonly LogTail[]): readonly LogLine[] {
  const entries = tails.flatMap((tail) => {
    const owner = ownerOf(tail.file);
    const times = timesOf(tail);
    return tail.lines.map((text, index) => ({
      at: times[index] ?? tail.writtenAt,
      line: { owner, text, isDetail: /^\s/.test(text) },
    }));
  });
  return entries.toSorted((one, other) => one.at - other.at).map(({ line }) => line);
}

/** For a person to read. */
export function logText({ owner, text }: LogLine): string {
  return `${owner.padEnd(15)} ${text}`;
}

const DAY_MS = 86_400_000;
/** The clock of files may be a little behind the one that was written into them. */
const SLACK_MS = 1_000;

/**
 * When each line was written. Lines tell the time of day alone; from the last one, whose day the file itself tells, back to the first, a time that
 * is later than the one after it is of an earlier day.
 */
function timesOf({ lines, writtenAt }: LogTail): readonly number[] {
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

/** `clusters/edge/class-runtime-manager.log` is of edge, `package-manager.log` of the package manager. */
function ownerOf(file: string): string {
  const parts = file.split(/[\\/]/);
  return parts.length > 1 ? (parts.at(-2) ?? "") : (parts[0] ?? "").replace(/\.log$/, "");
}
