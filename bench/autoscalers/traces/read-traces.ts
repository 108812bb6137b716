import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { LoadCurve } from "@oaas/nfr/simulation";

/** The durations of traces that have none. */
const DEFAULT_DURATION = { durationP50Ms: 1000, durationP99Ms: 3000 };
/** Days of a trace that are replayed. */
const MAX_DAYS = 2;
const DAY_MS = 86_400_000;
/** The columns before the counts of `functions.csv`. */
const HEADER_COLUMNS = 7;

/**
 * Reads the traces of a folder. A file is either a table with one function per row (name, statistics, p50 and p99
 * duration in milliseconds, then requests per minute), or a first line `interval_seconds,N` and one count per line.
 */
export function readTraces(folder: string): readonly LoadCurve[] {
  if (!existsSync(folder)) throw new Error(`The folder of traces ${folder} does not exist`);
  return readdirSync(folder)
    .filter((file) => file.endsWith(".csv"))
    .toSorted()
    .flatMap((file) => parseTrace(path.basename(file, ".csv"), readFileSync(path.join(folder, file), "utf8")));
}

export function parseTrace(name: string, text: string): readonly LoadCurve[] {
  const [first = "", ...rest] = text.split("\n").filter((line) => line.trim() !== "");
  const [key, seconds] = first.split(",");
  if (key !== "interval_seconds") return rest.map((row) => functionOf(row));
  const intervalMs = Number(seconds) * 1000;
  const counts = rest.slice(0, (MAX_DAYS * DAY_MS) / intervalMs).map((line) => countOf(name, line));
  return [{ name, intervalMs, counts, ...DEFAULT_DURATION }];
}

function functionOf(row: string): LoadCurve {
  const cells = row.split(",");
  const [name = "", , , , , p50, p99] = cells;
  const counts = cells.slice(HEADER_COLUMNS).map((cell) => countOf(name, cell));
  return { name, intervalMs: 60_000, counts, durationP50Ms: Number(p50), durationP99Ms: Number(p99) };
}

function countOf(name: string, cell: string): number {
  const count = Number(cell);
  if (!Number.isFinite(count) || count < 0) throw new Error(`Trace ${name}: "${cell}" is not a number of requests`);
  return count;
}
