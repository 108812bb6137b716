import { applyMergePatch, type JsonObject, type JsonValue } from "@oaas/kube-core";
import { placeOf } from "./kind-answers.ts";
import { MINIMAL } from "./minimal-objects.ts";
import type { SendRequest } from "./real-server.ts";
import { TABLE_CASES, type TableCase } from "./table-cases.ts";

/** The table row that the real server returns for an object. */
export interface RecordedRow {
  readonly of: string;
  readonly why: string;
  readonly object: JsonObject;
  readonly cells: readonly JsonValue[];
  /** Name, type, format and priority of each column. */
  readonly columns: readonly (readonly [string, string, string, number])[];
}

const TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1";

/** Placeholder for the time of the recording. */
const MADE = "2026-01-01T00:00:00Z";

interface Table {
  readonly columnDefinitions: readonly { name: string; type: string; format: string; priority: number }[];
  readonly rows: readonly { cells: readonly JsonValue[]; object: JsonObject }[];
}

/** Creates every object, reads its row and deletes it again. */
export async function recordTables(send: SendRequest): Promise<RecordedRow[]> {
  const rows: RecordedRow[] = [];
  for (const [index, tableCase] of TABLE_CASES.entries()) rows.push(await recordRow(send, tableCase, `row-${index}`));
  return rows;
}

async function recordRow(
  send: SendRequest,
  { of, why, with: patch = {}, status }: TableCase,
  name: string,
): Promise<RecordedRow> {
  const { path, typeMeta } = placeOf(of);
  const body = applyMergePatch({ ...typeMeta, metadata: { name }, ...MINIMAL[of] }, patch) as JsonObject;
  const made = await send("POST", path, { body });
  if (made.code !== 201) throw new Error(`${of}, ${why}: ${JSON.stringify(made.body)}`);
  if (status !== undefined) {
    const sent = applyMergePatch(made.body, { status }) as JsonObject;
    const written = await send("PUT", `${path}/${name}/status`, { body: sent });
    if (written.code !== 200) throw new Error(`${of}, ${why}: ${JSON.stringify(written.body)}`);
  }
  const { body: answer } = await send("GET", `${path}/${name}?includeObject=Object`, { accept: TABLE });
  await send("DELETE", `${path}/${name}?gracePeriodSeconds=0`);
  const { columnDefinitions, rows } = answer as unknown as Table;
  const { cells = [], object = {} } = rows[0] ?? {};
  const { managedFields: _, uid: _uid, resourceVersion: _version, ...metadata } = object["metadata"] as JsonObject;
  return {
    of,
    why,
    object: { ...object, metadata: { ...metadata, creationTimestamp: MADE } },
    cells: cells.map((cell) => (cell === metadata["creationTimestamp"] ? MADE : cell)),
    columns: columnDefinitions.map(({ name: column, type, format, priority }) => [column, type, format, priority]),
  };
}

/** The table as the text of its file: one line per row. */
export function tablesText(rows: readonly RecordedRow[]): string {
  const note = "Made from the real kube-apiserver by `npm run kindgen`; not edited by hand.";
  return `{"note":${JSON.stringify(note)},\n"rows":[\n${rows.map((each) => JSON.stringify(each)).join(",\n")}\n]}\n`;
}
