import { equalJson, err, ok, type Result } from "@oaas/foundation";
import type { JsonObject, Status } from "@oaas/kube-core";
import type { StructuralSchema } from "../schema/structural-schema.ts";
import { limitUpdaters } from "./managers/limit-updaters.ts";
import { compareFields, getChangedFields, type Comparison } from "./merge/compare-fields.ts";
import { validateConfiguration } from "./merge/config-errors.ts";
import { createConflictStatus, type ManagerConflict } from "./managers/conflict-status.ts";
import {
  difference,
  differenceBelow,
  createFieldSet,
  intersection,
  isEmptySet,
  NO_FIELDS,
  union,
  type FieldSet,
} from "./fields/field-set.ts";
import {
  resetsManagers,
  managerKey,
  readManagers,
  setManagers,
  removeManagers,
  type FieldManager,
  type FieldManagers,
} from "./managers/managed-fields.ts";
import { getLastAppliedFields, updateLastApplied } from "./managers/last-applied.ts";
import { mergeConfiguration } from "./merge/merge-configuration.ts";
import { addCommonFields } from "./merge/merge-shape.ts";
import { collectOwnedFields, addDeclaredFields } from "./merge/owned-fields.ts";
import { memberElement } from "./fields/path-element.ts";
import { removeFields } from "./merge/remove-fields.ts";

/** The writer: manager, version of the kind, subresource and time. */
export interface FieldWriter {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource?: string;
  readonly time: string;
  /** Fields this endpoint resets, so that a write here does not own them, such as `status`. */
  readonly resets?: FieldSet;
}

/** The context of a write for ownership: the previous state and the schema of the kind. */
export interface WriteContext {
  /** Empty when the object is being created. */
  readonly live: JsonObject;
  /** Initial contents of an object of the kind, which no manager owns; empty by default. */
  readonly blank?: JsonObject;
  readonly schema: StructuralSchema;
  readonly writer: FieldWriter;
}

/** Owner of fields that existed before the first apply and had no recorded manager. */
const BEFORE_FIRST_APPLY = "before-first-apply";

/** Fields that the server sets or every write repeats; not owned. */
const UNOWNED: FieldSet = createFieldSet(
  [
    ["apiVersion"],
    ["kind"],
    ["metadata"],
    ...[
      "name",
      "namespace",
      "creationTimestamp",
      "selfLink",
      "uid",
      "clusterName",
      "generation",
      "managedFields",
      "resourceVersion",
    ].map((name) => ["metadata", name]),
  ].map((path) => path.map(memberElement)),
);

/**
 * Applies a configuration to the live object: the given fields are set and owned, and fields given before and now
 * missing are removed unless another manager owns them. With force, other managers lose conflicting fields.
 *
 * Rejects conflicts (409) without force, and (500, as the server does) configurations that do not match the schema.
 * Does not default or validate.
 */
export function applyConfiguration(
  { live, schema, writer }: WriteContext,
  config: JsonObject,
  force: boolean,
): Result<JsonObject, Status> {
  const shape = addCommonFields(schema);
  const errors = validateConfiguration(config, shape);
  if (errors.length > 0) return err(createInvalidStatus(config, errors));

  const before = getManagersBeforeApply(live, shape, writer);
  const liveObject = removeManagers(live);
  const requested: FieldManager = {
    ...createIdentity(writer, "Apply"),
    fields: differenceBelow(collectOwnedFields(config, shape), writer.resets ?? NO_FIELDS),
  };
  const key = managerKey(requested);
  const last = before.get(key)?.fields ?? NO_FIELDS;
  const managers = new Map([...before, [key, requested]]);
  const next = removeAbandonedFields(
    mergeConfiguration(liveObject, config, shape) as JsonObject,
    managers,
    last,
    shape,
  );

  const change = compareStates(writer, liveObject, next, shape);
  const conflicts = findConflicts(managers, key, getChangedFields(change), getLastAppliedFields(writer, live, shape));
  if (!force && conflicts.length > 0) return err(createConflictStatus(conflicts));

  const applier = { ...requested, fields: difference(requested.fields, UNOWNED) };
  const after = omitEmptyManagers(new Map([...releaseFields(managers, key, change), [key, applier]]));
  // As in the server: a manager that only joins existing ownership gets no time.
  const time = equalJson(liveObject, next) ? before.get(key)?.time : writer.time;
  return ok(setManagers(updateLastApplied(writer, next, config), setTime(after, key, time)));
}

/**
 * The next state of an updated or patched object with new ownership: changed fields belong to the writer, and other
 * managers lose them. An object may bring its own list of managers, or request to reset them.
 */
export function trackUpdate({ live, blank = {}, schema, writer }: WriteContext, next: JsonObject): JsonObject {
  const before = getManagersBeforeUpdate(live, next, writer);
  const isNew = Object.keys(live).length === 0;
  if (before.size === 0 && !isNew) return setManagers(next, before);
  const withoutLast = isNew ? blank : removeManagers(live);
  const after = updateManagers(withoutLast, removeManagers(next), addCommonFields(schema), before, writer);
  return setManagers(next, limitUpdaters(after));
}

function getManagersBeforeUpdate(live: JsonObject, next: JsonObject, { subresource = "" }: FieldWriter): FieldManagers {
  if (resetsManagers(next)) return new Map();
  const sent = subresource === "" ? readManagers(next) : undefined;
  return sent ?? readManagers(live) ?? new Map();
}

function getManagersBeforeApply(live: JsonObject, shape: StructuralSchema, writer: FieldWriter): FieldManagers {
  const managers = readManagers(live);
  if (managers !== undefined) return managers;
  return updateManagers({}, removeManagers(live), shape, new Map(), { ...writer, manager: BEFORE_FIRST_APPLY });
}

function updateManagers(
  live: JsonObject,
  next: JsonObject,
  shape: StructuralSchema,
  before: FieldManagers,
  writer: FieldWriter,
): FieldManagers {
  const change = compareStates(writer, live, next, shape);
  const after = omitEmptyManagers(releaseFields(before, undefined, change));
  const changed = difference(getChangedFields(change), UNOWNED);
  if (isEmptySet(changed)) return after;
  const identity = createIdentity(writer, "Update");
  const key = managerKey(identity);
  const fields = union(changed, after.get(key)?.fields ?? NO_FIELDS);
  return new Map([...after, [key, { ...identity, fields, time: writer.time }]]);
}

function createIdentity(writer: FieldWriter, operation: "Apply" | "Update"): Omit<FieldManager, "fields"> {
  const { manager, apiVersion, subresource = "" } = writer;
  return { manager, operation, apiVersion, subresource };
}

/** Removes fields that the writer applied last time and that have no owner any more. */
function removeAbandonedFields(
  whole: JsonObject,
  managers: FieldManagers,
  last: FieldSet,
  shape: StructuralSchema,
): JsonObject {
  if (isEmptySet(last)) return whole;
  const includeDeclared = (set: FieldSet): FieldSet => addDeclaredFields(set, shape);
  const removeSet = (set: FieldSet): JsonObject => removeFields(whole, set, shape) as JsonObject;
  const all = includeDeclared(collectOwnedFields(whole, shape));
  const owned = [...managers.values()].reduce((set, { fields }) => union(set, fields), NO_FIELDS);

  const liveObject = removeSet(includeDeclared(last)) ?? {};
  const remaining =
    removeSet(difference(all, union(includeDeclared(collectOwnedFields(liveObject, shape)), includeDeclared(owned)))) ??
    {};
  return (
    removeSet(
      intersection(difference(all, includeDeclared(collectOwnedFields(remaining, shape))), includeDeclared(last)),
    ) ?? {}
  );
}

/** The changes of a write, without fields that its endpoint resets. */
function compareStates(
  writer: FieldWriter,
  before: JsonObject,
  after: JsonObject,
  shape: StructuralSchema,
): Comparison {
  const change = compareFields(before, after, shape);
  const { resets } = writer;
  if (resets === undefined) return change;
  return {
    added: differenceBelow(change.added, resets),
    modified: differenceBelow(change.modified, resets),
    removed: differenceBelow(change.removed, resets),
  };
}

function findConflicts(
  managers: FieldManagers,
  self: string,
  changed: FieldSet,
  allowed: FieldSet,
): readonly ManagerConflict[] {
  return [...managers]
    .filter(([key]) => key !== self)
    .map(([, manager]) => ({ manager, fields: difference(intersection(manager.fields, changed), allowed) }))
    .filter(({ fields }) => !isEmptySet(fields));
}

/** Removes changed fields from all managers except the writer. */
function releaseFields(managers: FieldManagers, self: string | undefined, change: Comparison): FieldManagers {
  const changed = union(getChangedFields(change), change.removed);
  return new Map(
    [...managers].map(([key, manager]) => [
      key,
      key === self ? manager : { ...manager, fields: difference(manager.fields, changed) },
    ]),
  );
}

function omitEmptyManagers(managers: FieldManagers): FieldManagers {
  return new Map([...managers].filter(([, { fields }]) => !isEmptySet(fields)));
}

function setTime(managers: FieldManagers, key: string, time: string | undefined): FieldManagers {
  const manager = managers.get(key);
  return manager === undefined || time === undefined ? managers : new Map([...managers, [key, { ...manager, time }]]);
}

function createInvalidStatus(config: JsonObject, errors: readonly string[]): Status {
  const {
    apiVersion = "",
    kind = "",
    metadata = {},
  } = config as {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly metadata?: { readonly namespace?: string; readonly name?: string };
  };
  const groupVersion = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
  const objectId = `${metadata.namespace ?? ""}/${metadata.name ?? ""}; ${groupVersion}, Kind=${kind}`;
  const [only = "", ...more] = errors;
  const error = more.length === 0 ? only : `errors:${errors.map((one) => `\n  ${one}`).join("")}`;
  return { status: "Failure", code: 500, message: `failed to create typed patch object (${objectId}): ${error}` };
}
