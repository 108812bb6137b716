import type { Draft } from "./draft.ts";

/** A field that differs between two documents. */
export interface ChangedField {
  readonly path: string;
  readonly change: "added" | "removed" | "changed";
  readonly before?: unknown;
  readonly after?: unknown;
}

/** The fields that differ, by path. Lists are compared as a whole. */
export function changedFields(before: Draft, after: Draft, path = "$"): readonly ChangedField[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return names.flatMap((name): readonly ChangedField[] => {
    const [was, is, at] = [before[name], after[name], `${path}.${name}`];
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    if (isObject(was) && isObject(is)) return changedFields(was, is, at);
    if (was === undefined) return [{ path: at, change: "added", after: is }];
    return is === undefined
      ? [{ path: at, change: "removed", before: was }]
      : [{ path: at, change: "changed", before: was, after: is }];
  });
}

function isObject(value: unknown): value is Draft {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
