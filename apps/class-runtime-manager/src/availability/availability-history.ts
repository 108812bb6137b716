/** Length of the window over which availability is measured. */
export const WINDOW_DAYS = 30;
/** After this many days an observation counts half. */
export const HALF_LIFE_DAYS = 10;

const DAY_MS = 86_400_000;
const HALF_LIFE_MS = HALF_LIFE_DAYS * DAY_MS;

/** The state of the cluster over an interval of wall clock time. */
export interface Observation {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly isApiUp: boolean;
  /** Absent if the nodes are not known; they are not while the API is down. */
  readonly nodes?: { readonly ready: number; readonly all: number };
  /** Number of samples that gave this state. */
  readonly samples: number;
}

/** The sums of one day (UTC). Times are in milliseconds. */
interface DaySums {
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly observedMs: number;
  readonly apiUpMs: number;
  /** Time with known nodes, and the same time weighted by the share of ready nodes. */
  readonly nodesKnownMs: number;
  readonly nodesReadyMs: number;
  readonly samples: number;
}

/** What is known about the availability of a cluster: at most one entry per day of the window. */
export interface AvailabilityHistory {
  /** Time before this is accounted for, so that no process counts it again. */
  readonly untilMs: number;
  readonly days: readonly DaySums[];
}

/** The availability over the window. Newer observations count more. */
export interface AvailabilityMeasurement {
  /** The share of time that the API is up, times the share of ready nodes while it is. */
  readonly value: number;
  readonly apiAvailability: number;
  /** Absent if nodes were never known. */
  readonly nodeAvailability?: number;
  readonly samples: number;
  /** Observed time in the window. */
  readonly observedMs: number;
  /** The observed time, each moment with its weight: the size of the evidence. */
  readonly evidenceMs: number;
  /** Start of the oldest day with an observation. */
  readonly sinceMs: number;
}

export const EMPTY_HISTORY: AvailabilityHistory = { untilMs: 0, days: [] };

/** Adds an observation. Time that is accounted for, and days before the window, are left out. */
export function recordObservation(history: AvailabilityHistory, observed: Observation): AvailabilityHistory {
  let from = Math.max(history.untilMs, observed.fromMs);
  if (from >= observed.untilMs) return history;
  const days = new Map(history.days.map((sums) => [sums.day, sums]));
  let { samples } = observed;
  while (from < observed.untilMs) {
    const day = Math.floor(from / DAY_MS);
    const until = Math.min(observed.untilMs, (day + 1) * DAY_MS);
    days.set(day, addTime(days.get(day) ?? emptyDay(day), until - from, { ...observed, samples }));
    samples = 0;
    from = until;
  }
  const oldest = Math.floor(observed.untilMs / DAY_MS) - WINDOW_DAYS;
  const kept = [...days.values()].filter(({ day }) => day > oldest).sort((a, b) => a.day - b.day);
  return { untilMs: observed.untilMs, days: kept };
}

/** The availability at a time; undefined without an observation in the window. */
export function measureHistory({ days }: AvailabilityHistory, nowMs: number): AvailabilityMeasurement | undefined {
  const inWindow = days.filter(({ day }) => day > Math.floor(nowMs / DAY_MS) - WINDOW_DAYS);
  const [oldest] = inWindow;
  const weighted = (part: "observedMs" | "apiUpMs" | "nodesKnownMs" | "nodesReadyMs"): number =>
    inWindow.reduce((sum, each) => sum + each[part] * weightOf(each.day, nowMs), 0);
  const evidenceMs = weighted("observedMs");
  if (oldest === undefined || evidenceMs === 0) return undefined;
  const apiAvailability = share(weighted("apiUpMs"), evidenceMs);
  const nodesKnownMs = weighted("nodesKnownMs");
  const nodeAvailability = nodesKnownMs === 0 ? undefined : share(weighted("nodesReadyMs"), nodesKnownMs);
  return {
    value: apiAvailability * (nodeAvailability ?? 1),
    apiAvailability,
    ...(nodeAvailability === undefined ? {} : { nodeAvailability }),
    samples: inWindow.reduce((sum, each) => sum + each.samples, 0),
    observedMs: inWindow.reduce((sum, each) => sum + each.observedMs, 0),
    evidenceMs,
    sinceMs: oldest.day * DAY_MS,
  };
}

function emptyDay(day: number): DaySums {
  return { day, observedMs: 0, apiUpMs: 0, nodesKnownMs: 0, nodesReadyMs: 0, samples: 0 };
}

function addTime(sums: DaySums, ms: number, { isApiUp, nodes, samples }: Observation): DaySums {
  const knowsNodes = isApiUp && nodes !== undefined && nodes.all > 0;
  return {
    day: sums.day,
    observedMs: sums.observedMs + ms,
    apiUpMs: sums.apiUpMs + (isApiUp ? ms : 0),
    nodesKnownMs: sums.nodesKnownMs + (knowsNodes ? ms : 0),
    nodesReadyMs: sums.nodesReadyMs + (knowsNodes ? Math.round((ms * nodes.ready) / nodes.all) : 0),
    samples: sums.samples + samples,
  };
}

/** The weight of a day by the age of its middle. */
function weightOf(day: number, nowMs: number): number {
  const ageMs = Math.max(0, nowMs - (day + 0.5) * DAY_MS);
  return 2 ** (-ageMs / HALF_LIFE_MS);
}

function share(part: number, whole: number): number {
  return Math.min(1, part / whole);
}

const COLUMNS = ["day", "observedMs", "apiUpMs", "nodesKnownMs", "nodesReadyMs", "samples"] as const;

/** The history as text: one row of numbers per day. */
export function encodeHistory({ untilMs, days }: AvailabilityHistory): string {
  return JSON.stringify({
    version: 1,
    untilMs,
    columns: COLUMNS,
    days: days.map((sums) => COLUMNS.map((name) => sums[name])),
  });
}

/** Reads a history; undefined if the text is not one. Time that lies in the future of this clock is cut off. */
export function decodeHistory(text: string, nowMs: number): AvailabilityHistory | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { version, untilMs, days } = (parsed ?? {}) as Readonly<Record<string, unknown>>;
  if (version !== 1 || !isTime(untilMs) || !Array.isArray(days)) return undefined;
  const today = Math.floor(nowMs / DAY_MS);
  const read = days.map(readDay);
  if (read.some((sums) => sums === undefined)) return undefined;
  const kept = read.filter((sums) => sums !== undefined && sums.day <= today && sums.day > today - WINDOW_DAYS);
  return { untilMs: Math.min(untilMs, nowMs), days: kept as DaySums[] };
}

function readDay(row: unknown): DaySums | undefined {
  if (!Array.isArray(row) || row.length !== COLUMNS.length || !row.every(isTime)) return undefined;
  const sums = Object.fromEntries(COLUMNS.map((name, index) => [name, row[index] as number])) as unknown as DaySums;
  const fits =
    sums.observedMs <= DAY_MS &&
    sums.apiUpMs <= sums.observedMs &&
    sums.nodesKnownMs <= sums.apiUpMs &&
    sums.nodesReadyMs <= sums.nodesKnownMs;
  return fits ? sums : undefined;
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
