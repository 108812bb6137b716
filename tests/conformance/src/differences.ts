import { readFileSync } from "node:fs";
import { join } from "node:path";

const FILE = join(import.meta.dirname, "..", "..", "..", "docs", "apiserver-differences.md");

/** The ids of the table in docs/apiserver-differences.md: the first cell of each row, in backquotes. */
export function listedDifferences(markdown = readFileSync(FILE, "utf8")): readonly string[] {
  return [...markdown.matchAll(/^\| `([a-z0-9-]+)` +\|/gm)].map(([, id = ""]) => id);
}

/** Mismatches between the listed and the observed differences, as text. */
export function disagreements(listed: readonly string[], seen: ReadonlySet<string>): readonly string[] {
  return [
    ...listed
      .filter((id) => !seen.has(id))
      .map((id) => `docs/apiserver-differences.md lists ${id}, which no case shows any more: remove it`),
    ...[...seen]
      .filter((id) => !listed.includes(id))
      .map((id) => `a case names the difference ${id}, which docs/apiserver-differences.md does not list`),
    ...listed.filter((id, index) => listed.indexOf(id) !== index).map((id) => `${id} is listed twice`),
  ];
}
