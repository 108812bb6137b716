import { timestamp } from "@oaas/foundation";
import { parseSchedule, toZonedTime, type Schedule } from "@oaas/foundation/schedule";
import type { ActiveFreeze, ClusterName, FreezeWindow, FreezeWindowSpec, FreezeWindowState } from "@oaas/models";

/** All windows of an installation: one record, so that a change can be committed on the condition that it is unchanged. */
export interface FreezeWindows {
  /** By name. */
  readonly windows: readonly FreezeWindow[];
}

interface Occurrence {
  readonly startMs: number;
  readonly endMs: number;
}

/** Occurrences that follow each other without a gap and are joined to one. */
const MAX_JOINED = 8;

/** A time zone is slow to open; a window is read with every change. */
const schedules = new WeakMap<FreezeWindowSpec, Schedule>();

function timesOf(window: FreezeWindowSpec, schedule: string): Schedule {
  const known = schedules.get(window);
  if (known !== undefined) return known;
  const times = toZonedTime(parseSchedule(schedule), window.timeZone);
  schedules.set(window, times);
  return times;
}

/** The occurrence of a window at this time; undefined when it is not active. */
export function occurrenceAt(window: FreezeWindowSpec, nowMs: number): Occurrence | undefined {
  const { schedule, durationSeconds = 0 } = window;
  if (schedule === undefined) {
    const once = onceOf(window);
    return once.startMs <= nowMs && nowMs < once.endMs ? once : undefined;
  }
  const times = timesOf(window, schedule);
  const durationMs = durationSeconds * 1000;
  const startMs = times.next(nowMs - durationMs);
  if (startMs === undefined || startMs > nowMs) return undefined;
  let endMs = startMs + durationMs;
  let latestMs = startMs;
  for (let joined = 0; joined < MAX_JOINED; joined += 1) {
    const nextMs = times.next(latestMs);
    if (nextMs === undefined || nextMs > endMs) break;
    latestMs = nextMs;
    endMs = nextMs + durationMs;
  }
  return { startMs, endMs };
}

/** When the next occurrence begins; undefined when there is none. */
export function nextStart(window: FreezeWindowSpec, nowMs: number): number | undefined {
  const { schedule } = window;
  if (schedule !== undefined) return timesOf(window, schedule).next(nowMs);
  const { startMs } = onceOf(window);
  return startMs > nowMs ? startMs : undefined;
}

function onceOf({ start = "", end = "" }: FreezeWindowSpec): Occurrence {
  return { startMs: Date.parse(start), endMs: Date.parse(end) };
}

/** A window with its state at this time. */
export function freezeWindowState(window: FreezeWindow, nowMs: number): FreezeWindowState {
  const present = occurrenceAt(window, nowMs);
  const next = nextStart(window, present?.endMs ?? nowMs);
  return {
    ...window,
    active: present !== undefined,
    ...(present === undefined ? {} : { until: timestamp(present.endMs) }),
    ...(next === undefined ? {} : { nextStart: timestamp(next) }),
  };
}

/** The windows that freeze some of these clusters at this time, the one that ends last first. */
export function activeFreezes(
  { windows }: FreezeWindows,
  clusters: readonly ClusterName[],
  nowMs: number,
): readonly ActiveFreeze[] {
  const active = windows.flatMap((window): ActiveFreeze[] => {
    const frozen = window.clusters.length === 0 ? clusters : clusters.filter((name) => window.clusters.includes(name));
    const present = frozen.length === 0 ? undefined : occurrenceAt(window, nowMs);
    if (present === undefined) return [];
    const { name, reason } = window;
    return [
      {
        window: name,
        clusters: frozen,
        until: timestamp(present.endMs),
        ...(reason === undefined ? {} : { reason }),
      },
    ];
  });
  return active.toSorted((a, b) => (a.until > b.until ? -1 : 1));
}

/** Active windows in words, with the way to end them. */
export function freezeText(freezes: readonly ActiveFreeze[]): string {
  const texts = freezes.map(({ window, clusters, until, reason }) => {
    const why = reason === undefined ? "" : ` (${reason})`;
    return `freeze window "${window}"${why} of ${clusters.join(", ")} until ${until}`;
  });
  return `${texts.join("; ")}: wait, or an admin deletes the window with DELETE /api/v1/freeze-windows/${freezes[0]?.window}`;
}
