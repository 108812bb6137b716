/** A text as a shell takes it. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

const ESCAPE = new RegExp(`${String.fromCodePoint(0x1b)}\\[\\d*m`, "y");

/** At most so many characters of a line; colours have no width and are ended. */
export function clipped(line: string, columns: number): string {
  let width = 0;
  let at = 0;
  while (at < line.length) {
    ESCAPE.lastIndex = at;
    const escape = ESCAPE.exec(line);
    if (escape) {
      at += escape[0].length;
      continue;
    }
    if (width === columns) return line.slice(0, at);
    width += 1;
    at += (line.codePointAt(at) ?? 0) > 0xff_ff ? 2 : 1;
  }
  return line;
}
