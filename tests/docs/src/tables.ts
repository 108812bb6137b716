/** Returns the rows of the Markdown table with these columns, cells trimmed. Throws if there is none. */
export function tableRows(text: string, heading: readonly string[]): string[][] {
  const lines = text.split("\n").map((line) => (line.trimStart().startsWith("|") ? cellsOf(line) : undefined));
  const top = lines.findIndex((cells) => cells?.join("|") === heading.join("|"));
  if (top < 0) throw new Error(`no table with the columns ${heading.join(", ")}`);
  const rest = lines.slice(top + 2);
  const end = rest.indexOf(undefined);
  return (end < 0 ? rest : rest.slice(0, end)).map((cells) => cells ?? []);
}

function cellsOf(line: string): string[] {
  return line
    .trim()
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());
}
