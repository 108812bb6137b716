import { UsageError } from "../exit-code.ts";
import { jsonPathText } from "./jsonpath.ts";
import { tableText, type Column } from "./table.ts";

/** An output format. */
export type Format =
  | { readonly as: "table" | "wide" | "json" | "name" }
  | { readonly as: "yaml"; readonly write: (value: unknown) => string }
  | { readonly as: "jsonpath"; readonly template: string };

const FORMATS = ["table", "wide", "json", "yaml", "name"] as const;

/** Parses the value of `--output`. The YAML writer loads only if needed. */
export async function parseFormat(text: string): Promise<Format> {
  const word = FORMATS.find((known) => known === text);
  if (word === "yaml") return { as: word, write: (await import("yaml")).stringify };
  if (word) return { as: word };
  if (text.startsWith("jsonpath=")) return { as: "jsonpath", template: text.slice("jsonpath=".length) };
  throw new UsageError(`unknown output format "${text}"`, `use one of ${FORMATS.join(", ")} or jsonpath=TEMPLATE`);
}

/** The name and table columns of a kind of result. */
export interface View<T> {
  /** As in `package/shop`. */
  readonly kind: string;
  readonly nameOf: (item: T) => string;
  readonly columns: readonly Column<T>[];
}

/** Formats a list. An empty table becomes a sentence. */
export function listText<T>(items: readonly T[], view: View<T>, format: Format): string {
  if (format.as === "table" || format.as === "wide") {
    if (items.length === 0) return `No ${view.kind}${view.kind.endsWith("s") ? "es" : "s"}.\n`;
    return tableText(items, view.columns, format.as === "wide");
  }
  return machineText(
    items,
    items.map((item) => fullName(view, item)),
    format,
  );
}

/** Formats one item; `text` replaces the table. */
export function itemText<T>(item: T, view: View<T>, format: Format, text?: () => string): string {
  if (format.as === "table" || format.as === "wide") {
    return text?.() ?? tableText([item], view.columns, format.as === "wide");
  }
  return machineText(item, [fullName(view, item)], format);
}

/** `package/shop`; views of mixed kinds have an empty kind and return the whole name. */
function fullName<T>({ kind, nameOf }: Pick<View<T>, "kind" | "nameOf">, item: T): string {
  return kind === "" ? nameOf(item) : `${kind}/${nameOf(item)}`;
}

function machineText(value: unknown, names: readonly string[], format: Format): string {
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
