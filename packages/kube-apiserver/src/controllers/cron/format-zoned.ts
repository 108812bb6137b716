import { localClock } from "@oaas/foundation/schedule";
import { wholeSeconds } from "../objects/time.ts";

const MINUTE_MS = 60_000;

/** RFC 3339 in local time of the zone: `2026-11-15T16:18:00+01:00`. */
export function formatZoned(trueMs: number, zone: string | undefined): string {
  const local = zone === undefined || zone === "" ? trueMs : localClock(zone)(trueMs);
  const minutes = (local - trueMs) / MINUTE_MS;
  if (minutes === 0) return wholeSeconds(trueMs);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const offset = `${minutes < 0 ? "-" : "+"}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
  return wholeSeconds(local).replace("Z", offset);
}
