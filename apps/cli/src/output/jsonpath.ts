import { UsageError } from "../exit-code.ts";

const STEP = /\.(?<name>[\w-]+)|\.(?<all>\*)|\['(?<quoted>[^']*)'\]|\[(?<index>-?\d+)\]|\[(?<every>\*)\]/y;

/**
 * What a template such as `{.items[*].key}{"\n"}` gives: values are joined by spaces, texts between stand as they are.
 * The part of kubectl's JSONPath that people use; a path without braces is taken as one.
 */
export function jsonPathText(template: string, document: unknown): string {
  refuseUnfinished(template);
  const whole = template.includes("{") ? template : `{${template.startsWith(".") ? "" : "."}${template}}`;
  return whole.replaceAll(/\{([^}]*)\}/g, (_, inner: string) => {
    const text = inner.trim();
    const quoted = /^"(?<text>(?:[^"\\]|\\.)*)"$/.exec(text)?.groups?.["text"];
    if (quoted !== undefined) return JSON.parse(`"${quoted}"`) as string;
    return valuesAt(text, document).map(shown).join(" ");
  });
}

/** A template that is empty or ends inside braces would be written out as it stands, as if it were the answer. */
function refuseUnfinished(template: string): void {
  const rest = template.replaceAll(/\{[^{}]*\}/g, "");
  if (template.trim() !== "" && !/[{}]/.test(rest)) return;
  const what = template.trim() === "" ? "has no template" : `"${template}" has a brace without its other half`;
  throw new UsageError(`jsonpath ${what}`, "write it like jsonpath={.name} or jsonpath='{.items[*].key}'");
}

function valuesAt(path: string, document: unknown): readonly unknown[] {
  let values: readonly unknown[] = [document];
  let at = path.startsWith("$") ? 1 : 0;
  while (at < path.length) {
    if (path.slice(at) === ".") return values;
    STEP.lastIndex = at;
    const found = STEP.exec(path);
    if (!found?.groups) {
      throw new UsageError(
        `jsonpath "${path}" cannot be read at "${path.slice(at)}"`,
        "write paths like {.name} or {.clusters[*].cluster}",
      );
    }
    at += found[0].length;
    const { name, quoted, index } = found.groups;
    const key = name ?? quoted ?? (index === undefined ? undefined : Number(index));
    values = values.flatMap((value) => stepInto(value, key));
  }
  return values;
}

function stepInto(value: unknown, key: string | number | undefined): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (key === undefined) return Object.values(value);
  if (Array.isArray(value) && typeof key === "number") {
    const item: unknown = value.at(key);
    return item === undefined ? [] : [item];
  }
  return Object.hasOwn(value, key) ? [(value as Record<string | number, unknown>)[key]] : [];
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
