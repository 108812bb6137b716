const STEPS = [
  { unit: "year", seconds: 31_536_000 },
  { unit: "month", seconds: 2_592_000 },
  { unit: "day", seconds: 86_400 },
  { unit: "hour", seconds: 3600 },
  { unit: "minute", seconds: 60 },
] as const;

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "narrow" });

/** "3m ago", "in 2h"; "just now" within ten seconds. */
export function relativeTime(atMs: number, nowMs: number): string {
  const seconds = (atMs - nowMs) / 1000;
  const size = Math.abs(seconds);
  if (size < 10) return "just now";
  const step = STEPS.find((each) => size >= each.seconds);
  return step === undefined
    ? RELATIVE.format(Math.round(seconds), "second")
    : RELATIVE.format(Math.trunc(seconds / step.seconds), step.unit);
}

/** "2026-11-19 04:23:47" with the zone, in the zone of the reader. */
export function absoluteTime(atMs: number): string {
  const date = new Date(atMs);
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const zone = -date.getTimezoneOffset();
  const offset = `${zone < 0 ? "-" : "+"}${two(Math.trunc(Math.abs(zone) / 60))}:${two(Math.abs(zone) % 60)}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())} ${offset}`;
}

/** "850 ms", "12 s", "3 m 5 s", "2 h 10 m". */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600)
    return seconds % 60 === 0 ? `${seconds / 60} m` : `${Math.trunc(seconds / 60)} m ${seconds % 60} s`;
  const minutes = Math.trunc((seconds % 3600) / 60);
  return minutes === 0 ? `${Math.trunc(seconds / 3600)} h` : `${Math.trunc(seconds / 3600)} h ${minutes} m`;
}
