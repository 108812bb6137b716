/** The load that a class states: a constant, or a wave between two values. */
export interface StatedLoad {
  readonly least: number;
  readonly most: number;
  /** From the least to the most and back; absent for a constant. */
  readonly periodMs?: number;
}

const MAX_LOAD = 100_000;
const CONSTANT = /^\d+(?:\.\d+)?$/;
const WAVE = /^(?<least>\d+(?:\.\d+)?)\.\.(?<most>\d+(?:\.\d+)?)\/(?<count>\d{1,6})(?<unit>[smh])$/;
const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** Reads requests per second: `50`, or `20..300/10m` for a wave. Undefined when the text is neither. */
export function readLoad(text: string | undefined): StatedLoad | undefined {
  const trimmed = text?.trim() ?? "";
  if (CONSTANT.test(trimmed)) return { least: limit(trimmed), most: limit(trimmed) };
  const { least = "", most = "", count = "", unit = "" } = WAVE.exec(trimmed)?.groups ?? {};
  const periodMs = Number(count) * (UNITS_MS[unit] ?? 0);
  if (!(periodMs > 0) || Number(least) > Number(most)) return undefined;
  return { least: limit(least), most: limit(most), periodMs };
}

/** The load some time after its start. A wave starts with its least value and is linear. */
export function loadAt({ least, most, periodMs }: StatedLoad, elapsedMs: number): number {
  if (periodMs === undefined) return least;
  const phase = (elapsedMs % periodMs) / periodMs;
  return least + (most - least) * (1 - Math.abs(1 - 2 * phase));
}

function limit(text: string): number {
  return Math.min(Number(text), MAX_LOAD);
}
