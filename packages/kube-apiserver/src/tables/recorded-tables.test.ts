import { describe, expect, it } from "vitest";
import { formatApiVersion, type JsonValue } from "@oaas/kube-core";
import type { RecordedRow } from "../../test/recording/table-answers.ts";
import recorded from "../../testdata/recorded/tables.json" with { type: "json" };
import { builtInKinds } from "../kinds/built-in/built-in-kinds.ts";
import type { Column } from "../kinds/kind.ts";

const ROWS = recorded.rows as unknown as readonly RecordedRow[];

describe("matches recorded tables of the real server", () => {
  for (const of of new Set(ROWS.map((row) => row.of))) {
    it(of, () => {
      const rows = ROWS.filter((row) => row.of === of);
      const columns = columnsOf(of);
      expect(columns.map(({ name, type, format, priority }) => [name, type, format, priority])).toEqual(
        rows[0]?.columns,
      );
      const actual = rows.map(({ why, object }) => ({
        why,
        cells: columns.map((column) => normalizeCell(column.cell(object, now(object)))),
      }));
      expect(actual).toEqual(rows.map(({ why, cells }) => ({ why, cells: cells.map(normalizeCell) })));
    });
  }
});

function columnsOf(of: string): readonly Column[] {
  for (const kind of builtInKinds()) {
    for (const version of kind.versions) {
      if (`${formatApiVersion({ group: kind.group, version: version.name })}/${kind.resource}` === of)
        return version.columns;
    }
  }
  throw new Error(`no kind is ${of}`);
}

/** The time of the recording: the objects were seconds old, their other times months. */
function now(object: RecordedRow["object"]): number {
  return Date.parse((object["metadata"] as { creationTimestamp: string }).creationTimestamp) + 500;
}

/** Ages depend on the time of the recording. */
function normalizeCell(cell: JsonValue): JsonValue {
  return typeof cell === "string" ? cell.replaceAll(/\b\d+[ydhms](?:\d+[dhms])?\b/g, "<age>") : cell;
}
