import { timestamp } from "@oaas/foundation";

/** RFC 3339 in whole seconds: the form of most times in Kubernetes. */
export function wholeSeconds(epochMs: number): string {
  return `${timestamp(epochMs).slice(0, 19)}Z`;
}

/** RFC 3339 with microseconds, as in `eventTime` and `renewTime`. */
export function microTime(epochMs: number): string {
  return `${timestamp(epochMs).slice(0, 23)}000Z`;
}

/** Milliseconds since the epoch; undefined for an invalid time. */
export function epochMs(time: string | null | undefined): number | undefined {
  const parsed = Date.parse(time ?? "");
  return Number.isNaN(parsed) ? undefined : parsed;
}
