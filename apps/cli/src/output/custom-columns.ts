import { UsageError } from "../exit-code.ts";
import { jsonPathValues, jsonPathValueText } from "./jsonpath.ts";
import { splitOutside } from "./split-outside.ts";
import { tableText } from "./table.ts";

export interface CustomColumn {
  readonly header: string;
  readonly path: string;
}

/** Parses `NAME:.key,CLASS:.class_key`. A comma inside brackets belongs to the path. */
export function parseCustomColumns(text: string): readonly CustomColumn[] {
  const parts = splitOutside(text, ["[", "]"]).filter((part) => part !== "");
  if (parts.length === 0) throw invalidColumns("has no columns");
  return parts.map((part) => {
    const { header, path } = /^(?<header>[^:]+):(?<path>.+)$/s.exec(part)?.groups ?? {};
    if (header === undefined || path === undefined) throw invalidColumns(`has a column "${part}" without a path`);
    return { header, path };
  });
}

function invalidColumns(what: string): UsageError {
  return new UsageError(
    `custom-columns ${what}`,
    "use HEADER:PATH pairs such as custom-columns=NAME:.key,AGE:.created_at",
  );
}

/** A table of the given paths; a missing field is `<none>`. */
export function customColumnsText(
  items: readonly unknown[],
  columns: readonly CustomColumn[],
  hasHeaders: boolean,
): string {
  const cells = columns.map(({ header, path }) => ({
    header,
    cell: (item: unknown) => jsonPathValues(path, item).map(jsonPathValueText).join(",") || "<none>",
  }));
  return tableText(items, cells, { hasHeaders });
}
