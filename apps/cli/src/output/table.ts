export interface Column<T> {
  readonly header: string;
  /** Shown with `-o wide` only. */
  readonly isWide?: boolean;
  cell(row: T): string;
}

const GAP = "   ";
// Colour codes have no width.
const ESCAPE = String.fromCodePoint(0x1b);
const ESCAPES = new RegExp(`${ESCAPE}\\[\\d+m`, "g");
const PIECES = new RegExp(`${ESCAPE}\\[\\d+m|.`, "gu");

function widthOf(text: string): number {
  return Array.from(text.replaceAll(ESCAPES, "")).length;
}

/** Truncates a line to a number of columns and marks it with an ellipsis. Colours are reset at the end. */
export function truncateLine(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  let [left, visible, isColoured] = [columns - 1, "", false];
  for (const [piece] of line.matchAll(PIECES)) {
    const isColour = piece.length > 1 && piece.startsWith(ESCAPE);
    if (!isColour && left === 0) break;
    if (isColour) isColoured = true;
    else left -= 1;
    visible += piece;
  }
  return `${visible}…${isColoured ? `${ESCAPE}[0m` : ""}`;
}

export interface TableOptions {
  /** Whether to show the columns of `-o wide`. */
  readonly isWide?: boolean;
  readonly hasHeaders?: boolean;
}

/** Formats a table; each column is as wide as its widest cell, and line breaks in cells become spaces. */
export function tableText<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  { isWide = false, hasHeaders = true }: TableOptions = {},
): string {
  const visible = columns.filter((column) => isWide || column.isWide !== true);
  const lines = [
    ...(hasHeaders ? [visible.map(({ header }) => header)] : []),
    ...rows.map((row) => visible.map((column) => joinLines(column.cell(row)))),
  ];
  const widths = visible.map((_, index) => Math.max(...lines.map((line) => widthOf(line[index] ?? ""))));
  const padded = (cell: string, index: number): string =>
    index === visible.length - 1 ? cell : cell + " ".repeat((widths[index] ?? 0) - widthOf(cell));
  return lines.map((line) => `${line.map(padded).join(GAP).trimEnd()}\n`).join("");
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
] as const;

/** The age of a time in the largest unit that fits: `3d`, `5h`, `2m`, `12s`; `-` for an invalid time. */
export function ageText(time: string | null | undefined, now: number): string {
  const ms = now - Date.parse(time ?? "");
  if (Number.isNaN(ms)) return "-";
  const [unit, size] = UNITS.find(([, least]) => ms >= 2 * least) ?? ["s", 1000];
  return `${Math.max(0, Math.floor(ms / size))}${unit}`;
}

/** Formats a fraction as a percentage and keeps all its nines: 0.99950 is 99.95 %. */
export function percentText(share: number | null | undefined): string {
  if (share === null || share === undefined) return "-";
  const gap = Math.abs(1 - share) * 100;
  // Keep two digits of the distance to 100 %: rounding must not turn an outage into "100 %".
  const digits = gap > 0 && gap < 1e-4 ? Math.min(13, 1 - Math.floor(Math.log10(gap))) : 6;
  return `${Number((share * 100).toFixed(digits))} %`;
}

function joinLines(cell: string): string {
  return cell.replaceAll(/\s+/g, (space) => (space.includes("\n") ? " " : space));
}
