/** POSIX classes that Go supports inside brackets and JavaScript does not. */
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

const cachedPatterns = new Map<string, RegExp | undefined>();

/**
 * Converts the server's pattern (Go's RE2) to JavaScript; undefined when it is invalid there: RE2 has no look-around
 * and back references. Cached.
 */
export function compileGoPattern(source: string): RegExp | undefined {
  if (!cachedPatterns.has(source)) cachedPatterns.set(source, translatePattern(source));
  return cachedPatterns.get(source);
}

function translatePattern(source: string): RegExp | undefined {
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
  return compilePattern(translated, `${flags}u`) ?? compilePattern(translated, flags);
}

function compilePattern(source: string, flags: string): RegExp | undefined {
  // Only the engine can validate a pattern, by throwing.
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}
