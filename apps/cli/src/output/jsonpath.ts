import { UsageError } from "../exit-code.ts";

const STEP = /\.(?<name>[\w-]+)|\.(?<all>\*)|\['(?<quoted>[^']*)'\]|\[(?<index>-?\d+)\]|\[(?<every>\*)\]/y;

/**
 * Evaluates a template such as `{.items[*].key}{"\n"}`: values are joined with spaces, other text is copied.
 * Supports the common subset of kubectl's JSONPath; a template without braces is one path.
 */
export function jsonPathText(template: string, document: unknown): string {
  rejectUnbalanced(template);
  const whole = template.includes("{") ? template : `{${template.startsWith(".") ? "" : "."}${template}}`;
  return whole.replaceAll(/\{([^{}]*)\}/g, (_, inner: string) => {
    const text = inner.trim();
    const quoted = /^"(?<text>(?:[^"\\]|\\.)*)"$/.exec(text)?.groups?.["text"];
    if (quoted !== undefined) return JSON.parse(`"${quoted}"`) as string;
    return valuesAt(text, document).map(formatValue).join(" ");
  });
}

/** Rejects empty templates and unbalanced braces, which would otherwise be printed as a result. */
function rejectUnbalanced(template: string): void {
  const rest = template.replaceAll(/\{[^{}]*\}/g, "");
  if (template.trim() !== "" && !/[{}]/.test(rest)) return;
  const what = template.trim() === "" ? "template is empty" : `"${template}" has unbalanced braces`;
  throw new UsageError(`jsonpath ${what}`, "use a template such as jsonpath={.name} or jsonpath='{.items[*].key}'");
}

function valuesAt(path: string, document: unknown): readonly unknown[] {
  let values: readonly unknown[] = [document];
  let at = path.startsWith("$") ? 1 : 0;
  while (at < path.length) {
    if (path.slice(at) === ".") return values;
    STEP.lastIndex = at;
    const match = STEP.exec(path);
    if (!match?.groups) {
      throw new UsageError(
        `jsonpath "${path}" is invalid at "${path.slice(at)}"`,
        "use paths such as {.name} or {.clusters[*].cluster}",
      );
    }
    at += match[0].length;
    const { name, quoted, index } = match.groups;
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

function formatValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
