import type { Tone } from "../lib/tone.ts";

const FILL: Readonly<Record<Tone, string>> = {
  ok: "bg-ok",
  progress: "bg-info",
  warn: "bg-warn",
  bad: "bg-bad",
  idle: "bg-idle",
};

/** Done of total, as a bar and in digits. */
export function Progress({
  done,
  total,
  tone = "progress",
  label,
}: {
  readonly done: number;
  readonly total: number;
  readonly tone?: Tone;
  readonly label?: string;
}) {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  return (
    <span className="flex min-w-24 items-center gap-2">
      <span className="h-1.5 min-w-12 flex-1 overflow-hidden rounded-full bg-sunken" aria-hidden>
        <span className={`block h-full rounded-full ${FILL[tone]}`} style={{ width: `${share * 100}%` }} />
      </span>
      <span className="num text-sm text-ink-2">
        {done}/{total}
        {label !== undefined && ` ${label}`}
      </span>
    </span>
  );
}
