import { isJsonArray, isJsonObject, type JsonValue } from "@oaas/kube-core";

const ESCAPES: Readonly<Record<string, string>> = {
  "\u0007": String.raw`\a`,
  "\b": String.raw`\b`,
  "\f": String.raw`\f`,
  "\n": String.raw`\n`,
  "\r": String.raw`\r`,
  "\t": String.raw`\t`,
  "\u000B": String.raw`\v`,
  '"': String.raw`\"`,
  "\\": String.raw`\\`,
};

/** A double-quoted string as Go's `%q` writes it. */
export function quoteGoString(text: string): string {
  return `"${text.replaceAll(/["\\\p{C}]/gu, escapeGoCharacter)}"`;
}

function escapeGoCharacter(character: string): string {
  const escape = ESCAPES[character];
  if (escape !== undefined) return escape;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return String.raw`\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x1_00_00
    ? String.raw`\u${code.toString(16).padStart(4, "0")}`
    : String.raw`\U${code.toString(16).padStart(8, "0")}`;
}

/** A value as Go prints it in some messages: `map[a:1 b:[x y]]`. */
export function formatGoValue(value: JsonValue): string {
  if (value === null) return "<nil>";
  if (isJsonArray(value)) return `[${value.map(formatGoValue).join(" ")}]`;
  if (!isJsonObject(value)) return String(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${members.map(([name, member]) => `${name}:${formatGoValue(member)}`).join(" ")}]`;
}
