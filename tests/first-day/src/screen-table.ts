/** A row of a printed table by column title. */
export type TableRow = Readonly<Record<string, string>>;

/** Removes the colour marks of recorded screens. */
export function plainText(screen: string): string {
  return screen.replaceAll(/‹\/?[a-z]*›/g, "");
}

/**
 * Reads the table on a screen whose header starts with the given title. Columns start where their titles start; the
 * table ends at the first blank line.
 */
export function tableRows(screen: string, firstTitle: string): readonly TableRow[] {
  const lines = plainText(screen).split("\n");
  const at = lines.findIndex((line) => line.startsWith(`${firstTitle} `));
  if (at < 0) return [];
  const columns = [...(lines[at] ?? "").matchAll(/\S+(?: \S+)*/g)].map(({ 0: title, index }) => ({ title, index }));
  const end = lines.findIndex((line, index) => index > at && line.trim() === "");
  return lines
    .slice(at + 1, end < 0 ? undefined : end)
    .map((line) =>
      Object.fromEntries(
        columns.map(({ title, index }, position) => [title, line.slice(index, columns[position + 1]?.index).trim()]),
      ),
    );
}
