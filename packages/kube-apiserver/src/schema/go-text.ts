import { isJsonArray, isJsonObject, type JsonValue } from "@oaas/kube-core";

/** A value as Go prints it in some messages: `map[a:1 b:[x y]]`. */
export function goText(value: JsonValue): string {
  if (value === null) return "<nil>";
  if (isJsonArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (!isJsonObject(value)) return String(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${members.map(([name, member]) => `${name}:${goText(member)}`).join(" ")}]`;
}
