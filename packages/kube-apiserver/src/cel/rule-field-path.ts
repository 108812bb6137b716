const STEP = /\.(?<name>[a-zA-Z_][a-zA-Z0-9_-]*)|\['(?<quoted>(?:[^'\\]|\\.)*)'\]/y;

/** The names along a rule's `fieldPath` (`.a.b['c.d']`), or undefined when it is invalid. */
export function fieldPathTokens(path: string): readonly string[] | undefined {
  const tokens: string[] = [];
  let at = 0;
  while (at < path.length) {
    STEP.lastIndex = at;
    const found = STEP.exec(path);
    if (!found) return undefined;
    tokens.push(found.groups?.["name"] ?? (found.groups?.["quoted"] ?? "").replaceAll(/\\(.)/g, "$1"));
    at += found[0].length;
  }
  return tokens;
}
