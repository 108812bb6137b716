import { UsageError } from "../exit-code.ts";
import { jsonPathText } from "./jsonpath.ts";
import { tableText, type Column } from "./table.ts";

/** How a result is written. */
export type Format =
  | { readonly as: "table" | "wide" | "json" | "name" }
  | { readonly as: "yaml"; readonly write: (value: unknown) => string }
  | { readonly as: "jsonpath"; readonly template: string };

const WORDS = ["table", "wide", "json", "yaml", "name"] as const;

/** Reads the value of `--output`. What writes YAML is loaded for those who want it. */
export async function formatOf(text: string): Promise<Format> {
  const word = WORDS.find((known) => known === text);
  if (word === "yaml") return { as: word, write: (await import("yaml")).stringify };
  if (word) return { as: word };
  if (text.startsWith("jsonpath=")) return { as: "jsonpath", template: text.slice("jsonpath=".length) };
  throw new UsageError(`output "${text}" is not known`, `use one of ${WORDS.join(", ")} or jsonpath=TEMPLATE`);
}

/** What is known of a kind of result: its name, its columns. */
export interface View<T> {
  /** As in `package/shop`. */
  readonly kind: string;
  readonly nameOf: (item: T) => string;
  readonly columns: readonly Column<T>[];
}

/** A list as the person wants it. An empty table is a sentence, not a lonely header. */
export function listText<T>(items: readonly T[], view: View<T>, format: Format): string {
  if (format.as === "table" || format.as === "wide") {
    if (items.length === 0) return `No ${view.kind}s.\n`;
    return tableText(items, view.columns, format.as === "wide");
  }
  return otherText(
    items,
    items.map((item) => fullName(view, item)),
    format,
  );
}

/** One thing as the person wants it; `text` is what it looks like for a reader. */
export function itemText<T>(item: T, view: View<T>, format: Format, text?: () => string): string {
  if (format.as === "table" || format.as === "wide") {
    return text?.() ?? tableText([item], view.columns, format.as === "wide");
  }
  return otherText(item, [fullName(view, item)], format);
}

/** `package/shop`; things of several kinds name theirs themselves. */
function fullName<T>({ kind, nameOf }: Pick<View<T>, "kind" | "nameOf">, item: T): string {
  return kind === "" ? nameOf(item) : `${kind}/${nameOf(item)}`;
}

function otherText(value: unknown, names: readonly string[], format: Format): string {
  switch (format.as) {
    case "json":
      return `${JSON.stringify(value, undefined, 2)}\n`;
    case "yaml":
      return format.write(value);
    case "name":
      return names.map((name) => `${name}\n`).join("");
    case "jsonpath":
      return `${jsonPathText(format.template, value)}\n`;
    case "table":
    case "wide":
      return "";
  }
}
