/** One field that was set back. Values are JSON, shortened, with secrets masked. */
export interface CorrectedField {
  /** Empty for the whole object. */
  readonly path: string;
  readonly was: string;
  readonly now: string;
}

/** A correction of an object that another client changed, with its repetitions. */
export interface DriftCorrection {
  readonly kind: string;
  readonly name: string;
  readonly fields: readonly CorrectedField[];
  /** Number of further fields. */
  readonly moreFields?: number;
  /** Field manager that changed it, if known. */
  readonly changedBy?: string;
  readonly firstAt: string;
  readonly lastAt: string;
  /** Between the last change, or its detection, and the correction. */
  readonly durationMs?: number;
  readonly count: number;
  /** The correction in one sentence. */
  readonly message: string;
}

/** A correction in one sentence. */
export function driftSummary(one: Omit<DriftCorrection, "message">): string {
  const { kind, name, fields, moreFields = 0, changedBy, durationMs, count, firstAt } = one;
  const listed = fields.map(({ path, was, now }) => `${path === "" ? "the object" : path} was ${was}, is ${now} again`);
  return [
    `${kind} ${name}: ${listed.join("; ")}${moreFields === 0 ? "" : `; and ${moreFields} more fields`}.`,
    ...(changedBy === undefined ? [] : [`Changed by ${changedBy}.`]),
    ...(durationMs === undefined ? [] : [`Corrected after ${(durationMs / 1000).toFixed(1)} s.`]),
    ...(count === 1 ? [] : [`Corrected ${count} times since ${firstAt}.`]),
  ].join(" ");
}
