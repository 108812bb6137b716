import type { Status, StatusCause } from "@oaas/kube-core";
import { listPaths, formatPath, type FieldSet } from "../fields/field-set.ts";
import { managerKey, type FieldManager } from "./managed-fields.ts";

/** The fields an apply would take from one other manager. */
export interface ManagerConflict {
  readonly manager: FieldManager;
  readonly fields: FieldSet;
}

/** The server's rejection of an apply with conflicts: the inverse of `fieldConflictsIn`. */
export function createConflictStatus(conflicts: readonly ManagerConflict[]): Status {
  const inOrder = [...conflicts].sort((a, b) => (managerKey(a.manager) < managerKey(b.manager) ? -1 : 1));
  const byManager = inOrder.map(({ manager, fields }) => ({
    name: formatManager(manager),
    paths: [...listPaths(fields)].map(formatPath),
  }));
  const causes = byManager.flatMap(({ name, paths }) =>
    paths.map((field): StatusCause => ({ reason: "FieldManagerConflict", message: `conflict with ${name}`, field })),
  );
  const [only, ...more] = causes;
  const message =
    only !== undefined && more.length === 0
      ? `Apply failed with 1 conflict: ${only.message}: ${only.field}`
      : `Apply failed with ${causes.length} conflicts: ${byManager.map(formatConflicts).join("\n")}`;
  return { status: "Failure", code: 409, reason: "Conflict", message, details: { causes } };
}

function formatConflicts({ name, paths }: { readonly name: string; readonly paths: readonly string[] }): string {
  return [`conflicts with ${name}:`, ...paths.map((path) => `- ${path}`)].join("\n");
}

/** The version matters only for updaters: an applier is the same in all versions. */
function formatManager({ manager, operation, apiVersion, subresource }: FieldManager): string {
  const subresourceText = subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`;
  const versionText = operation === "Update" ? ` using ${apiVersion}` : "";
  return `${JSON.stringify(manager)}${subresourceText}${versionText}`;
}
