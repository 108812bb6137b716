import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { timestamp } from "@oaas/foundation";
import { driftSummary } from "@oaas/models";
import type { DriftFields, ForeignEdit } from "./drift-fields.ts";

/** A correction of one child. */
export interface Correction extends DriftFields {
  readonly kind: string;
  readonly name: string;
  /** Absent if the managed fields do not tell. */
  readonly edit?: ForeignEdit | undefined;
  readonly correctedAtMs: number;
}

/** A correction and its repetitions, as stored in the status of a class. */
export type DriftRecord = NonNullable<ClassRuntimeStatus["drift_corrections"]>[number];

/** Records per class. */
export const MAX_DRIFT_RECORDS = 5;

/** Whether two records are of the same fields of the same child, changed by the same manager. */
export function isSameDrift(one: DriftRecord, other: DriftRecord): boolean {
  return (
    one.kind === other.kind &&
    one.name === other.name &&
    one.changed_by === other.changed_by &&
    one.fields.length === other.fields.length &&
    one.fields.every(({ path }, index) => path === other.fields[index]?.path)
  );
}

export function driftRecord({ kind, name, fields, moreFields, edit, correctedAtMs }: Correction): DriftRecord {
  const at = timestamp(correctedAtMs);
  return {
    kind,
    name,
    fields: [...fields],
    ...(moreFields === 0 ? {} : { more_fields: moreFields }),
    ...(edit === undefined ? {} : { changed_by: edit.manager.slice(0, MAX_MANAGER_LENGTH) }),
    first_at: at,
    last_at: at,
    ...(edit?.atMs === undefined ? {} : { duration_ms: Math.max(0, Math.round(correctedAtMs - edit.atMs)) }),
    count: 1,
  };
}

const MAX_MANAGER_LENGTH = 128;

/** Adds newer records to older ones, newest first. A repetition is counted. */
export function mergeDrift(older: readonly DriftRecord[], newer: readonly DriftRecord[]): DriftRecord[] {
  const merged = newer.map((record) => {
    const before = older.find((each) => isSameDrift(each, record));
    return before === undefined ? record : { ...record, first_at: before.first_at, count: before.count + record.count };
  });
  const rest = older.filter((each) => !newer.some((record) => isSameDrift(each, record)));
  return [...merged, ...rest].slice(0, MAX_DRIFT_RECORDS);
}

/** A record in one sentence, for Events. */
export function driftText(record: DriftRecord): string {
  const { more_fields: moreFields, changed_by: changedBy, duration_ms: durationMs } = record;
  return driftSummary({
    ...record,
    firstAt: record.first_at,
    lastAt: record.last_at,
    ...(moreFields === undefined ? {} : { moreFields }),
    ...(changedBy === undefined ? {} : { changedBy }),
    ...(durationMs === undefined ? {} : { durationMs }),
  });
}
