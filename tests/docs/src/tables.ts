/** The rows of the table with this heading row, which must exist exactly once. */
export function tableRows(text: string, heading: readonly string[]): string[][] {
  const lines = text.split("\n");
  const top = lines.indexOf(`| ${heading.join(" | ")} |`);
  if (top < 0) throw new Error(`no table with the columns ${heading.join(", ")}`);
  const rest = lines.slice(top + 2);
  const end = rest.findIndex((line) => !line.startsWith("|"));
  return rest.slice(0, end < 0 ? undefined : end).map(cellsOf);
}

function cellsOf(line: string): string[] {
  return line
    .replace(/^\|/, "")
    .replace(/\|\s*$/, "")
    .split("|")
    .map((cell) => cell.trim());
}
