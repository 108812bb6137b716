import { fieldPathToJsonPath } from "./field-path.ts";
import type { Status } from "./status.ts";

/** A field that server-side apply would have taken from another manager. */
export interface FieldConflict {
  readonly manager: string;
  /** Location of the field, as JSONPath. */
  readonly path: string;
  /** The field as the server wrote it. */
  readonly field: string;
  readonly subresource?: string;
  /** API version used by the other manager, if its operation is Update. */
  readonly apiVersion?: string;
  readonly time?: string;
}

const CONFLICT_CAUSE = "FieldManagerConflict";

// conflict with "manager"[ with subresource "status"][ using apps/v1[ at 2026-01-02T03:04:05Z]]
const MESSAGE =
  /^conflict with "(?<manager>(?:[^"\\]|\\.)*)"(?: with subresource "(?<subresource>(?:[^"\\]|\\.)*)")?(?: using (?<apiVersion>\S+))?(?: at (?<time>\S+))?/;

/** Returns the fields and managers of a failed apply; empty when the status is about something else. */
export function fieldConflictsIn(status: Status): readonly FieldConflict[] {
  const causes = status.details?.causes ?? [];
  return causes
    .filter((cause) => cause.reason === CONFLICT_CAUSE)
    .map(({ message = "", field = "" }) => {
      const { manager, subresource, apiVersion, time } = MESSAGE.exec(message)?.groups ?? {};
      return {
        manager: manager === undefined ? message : unquoted(manager),
        path: fieldPathToJsonPath(field),
        field,
        ...(subresource === undefined ? {} : { subresource: unquoted(subresource) }),
        ...(apiVersion === undefined ? {} : { apiVersion }),
        ...(time === undefined ? {} : { time }),
      };
    });
}

/** One sentence that names every manager once with its fields. */
export function fieldConflictText(conflicts: readonly FieldConflict[]): string {
  const byManager = new Map<string, string[]>();
  for (const { manager, path } of conflicts) byManager.set(manager, [...(byManager.get(manager) ?? []), path]);
  return [...byManager].map(([manager, paths]) => `"${manager}" holds ${paths.join(", ")}`).join("; ");
}

function unquoted(text: string): string {
  return text.replaceAll(/\\(.)/g, "$1");
}
