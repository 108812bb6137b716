import { UsageError } from "../exit-code.ts";
import { customColumnsText, parseCustomColumns, type CustomColumn } from "./custom-columns.ts";
import { jsonPathText } from "./jsonpath.ts";
import { tableText, type Column } from "./table.ts";

/** An output format. */
export type Format =
  | { readonly as: "table" | "wide"; readonly hasHeaders: boolean }
  | { readonly as: "json" | "name" }
  | { readonly as: "yaml"; readonly write: (value: unknown) => string }
  | { readonly as: "jsonpath"; readonly template: string }
  | { readonly as: "custom-columns"; readonly columns: readonly CustomColumn[]; readonly hasHeaders: boolean };

const FORMATS = ["table", "wide", "json", "yaml", "name"] as const;

/** Parses the value of `--output`. The YAML writer loads only if needed. */
export async function parseFormat(text: string, { hasHeaders = true } = {}): Promise<Format> {
  const word = FORMATS.find((known) => known === text);
  if (word === "yaml") return { as: word, write: (await import("yaml")).stringify };
  if (word === "table" || word === "wide") return { as: word, hasHeaders };
  if (word) return { as: word };
  const { kind, rest = "" } = /^(?<kind>jsonpath|custom-columns)=(?<rest>.*)$/s.exec(text)?.groups ?? {};
  if (kind === "jsonpath") return { as: kind, template: rest };
  if (kind === "custom-columns") return { as: kind, columns: parseCustomColumns(rest), hasHeaders };
  throw new UsageError(
    `unknown output format "${text}"`,
    `use one of ${FORMATS.join(", ")}, jsonpath=TEMPLATE or custom-columns=HEADER:PATH,…`,
  );
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
    return tableText(items, view.columns, { isWide: format.as === "wide", hasHeaders: format.hasHeaders });
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
    const options = { isWide: format.as === "wide", hasHeaders: format.hasHeaders };
    return text?.() ?? tableText([item], view.columns, options);
  }
  return machineText(item, [fullName(view, item)], format);
}

/** `package/shop`; views of mixed kinds have an empty kind and return the whole name. */
export function fullName<T>({ kind, nameOf }: Pick<View<T>, "kind" | "nameOf">, item: T): string {
  return kind === "" ? nameOf(item) : `${kind}/${nameOf(item)}`;
}

/** Formats a value for a program; empty for tables. */
export function machineText(value: unknown, names: readonly string[], format: Format): string {
  switch (format.as) {
    case "json":
      return `${JSON.stringify(value, undefined, 2)}\n`;
    case "yaml":
      return format.write(value);
    case "name":
      return names.map((name) => `${name}\n`).join("");
    case "jsonpath":
      return `${jsonPathText(format.template, value)}\n`;
    case "custom-columns":
      return customColumnsText(itemsOf(value), format.columns, format.hasHeaders);
    case "table":
    case "wide":
      return "";
  }
}

/** The rows of a value: the items of a list, else the value itself. */
function itemsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  const { kind, items } = (value ?? {}) as { readonly kind?: unknown; readonly items?: unknown };
  return kind === "List" && Array.isArray(items) ? (items as unknown[]) : [value];
}
