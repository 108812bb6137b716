/** Splits at commas outside brackets, such as `()` or `[]`. */
export function splitOutside(text: string, [open, close]: readonly [string, string]): readonly string[] {
  const parts = [""];
  let depth = 0;
  for (const character of text) {
    if (character === "," && depth === 0) {
      parts.push("");
      continue;
    }
    if (character === open) depth += 1;
    else if (character === close) depth = Math.max(0, depth - 1);
    parts[parts.length - 1] += character;
  }
  return parts;
}
