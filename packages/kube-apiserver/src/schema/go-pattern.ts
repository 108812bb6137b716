/** POSIX classes that Go knows inside brackets and JavaScript does not. */
const POSIX: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  blank: "\\t ",
  digit: "0-9",
  lower: "a-z",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

const known = new Map<string, RegExp | undefined>();

/**
 * The server's pattern (Go's RE2) as one of JavaScript; undefined when it is no pattern there: look-around and back
 * references, which RE2 does not have, are none. The same pattern is read once.
 */
export function goPattern(source: string): RegExp | undefined {
  if (!known.has(source)) known.set(source, read(source));
  return known.get(source);
}

function read(source: string): RegExp | undefined {
  if (/\(\?(?:[=!]|<[=!])|(?<!\\)(?:\\\\)*\\[1-9k]/.test(source)) return undefined;
  const [, flags = "", rest = source] = /^\(\?([ims]+)\)(.*)$/s.exec(source) ?? [];
  const translated = rest
    .replaceAll(/\[:(\^?)([a-z]+):\]/g, (whole, not: string, name: string) =>
      not === "" ? (POSIX[name] ?? whole) : whole,
    )
    .replaceAll("(?P<", "(?<")
    .replaceAll(/\\p([A-Z])/g, "\\p{$1}")
    .replaceAll("\\A", "^")
    .replaceAll("\\z", "$");
  return compiled(translated, `${flags}u`) ?? compiled(translated, flags);
}

function compiled(source: string, flags: string): RegExp | undefined {
  // The engine alone can tell whether it takes a pattern, and says no by throwing.
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}
