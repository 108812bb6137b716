const WIDTH = 24;

/** The progress of a long command; without a total only its count. */
export interface Progress {
  readonly label: string;
  readonly done: number;
  /** Undefined or 0 while it is unknown. */
  readonly total?: number;
  readonly unit: string;
}

/** One line: a bar, the share and the counts. */
export function progressBarText({ label, done, total = 0, unit }: Progress): string {
  if (total === 0) return `${label}  ${done} ${unit}`;
  const share = Math.min(1, done / total);
  const filled = Math.floor(share * WIDTH);
  const bar = "█".repeat(filled) + "░".repeat(WIDTH - filled);
  return `${label}  ${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${done} of ${total} ${unit}`;
}
