interface Range {
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const RANGES: readonly Range[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: MONTHS },
  { least: 0, most: 6, names: DAYS },
];
const DESCRIPTORS: ReadonlySet<string> = new Set([
  "@yearly",
  "@annually",
  "@monthly",
  "@weekly",
  "@daily",
  "@midnight",
  "@hourly",
]);

/** Why a CronJob controller would reject a schedule, in its words; undefined when it is valid. */
export function findScheduleProblem(schedule: string): string | undefined {
  if (schedule.startsWith("@")) {
    const isKnown = DESCRIPTORS.has(schedule) || /^@every \d+(?:\.\d+)?(?:ns|us|ms|s|m|h)/.test(schedule);
    return isKnown ? undefined : `unrecognized descriptor: ${schedule}`;
  }
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== RANGES.length) {
    return `expected exactly ${RANGES.length} fields, found ${fields.length}: [${fields.join(" ")}]`;
  }
  return findFirstProblem(
    fields.flatMap((text, index) => text.split(",").map((part) => findPartProblem(part, RANGES[index]))),
  );
}

function findFirstProblem(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}

function findPartProblem(part: string, range: Range | undefined): string | undefined {
  if (range === undefined) return undefined;
  const [span = "", step, ...more] = part.split("/");
  if (more.length > 0) return `too many slashes: ${part}`;
  if (step !== undefined && !/^\d+$/.test(step))
    return `failed to parse int from ${step}: strconv.Atoi: parsing ${JSON.stringify(step)}: invalid syntax`;
  if (step !== undefined && Number(step) === 0) return `step of range should be a positive number: ${part}`;
  if (span === "*" || span === "?") return undefined;
  const ends = span.split("-");
  if (ends.length > 2) return `too many hyphens: ${part}`;
  const numbers = ends.map((end) => numberOf(end, range));
  const unparsed = ends.find((_, index) => numbers[index] === undefined);
  if (unparsed !== undefined)
    return `failed to parse int from ${unparsed}: strconv.Atoi: parsing ${JSON.stringify(unparsed)}: invalid syntax`;
  const [start = 0, end = start] = numbers as readonly number[];
  if (start < range.least) return `beginning of range (${start}) below minimum (${range.least}): ${part}`;
  if (end > range.most) return `end of range (${end}) above maximum (${range.most}): ${part}`;
  return start > end ? `beginning of range (${start}) beyond end of range (${end}): ${part}` : undefined;
}

function numberOf(text: string, { names, least }: Range): number | undefined {
  const nameIndex = names?.indexOf(text.toLowerCase()) ?? -1;
  if (nameIndex >= 0) return nameIndex + least;
  return /^\d+$/.test(text) ? Number(text) : undefined;
}
