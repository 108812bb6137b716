import { equalJson, err, ok, type Result } from "@oaas/foundation";
import type { JsonObject, Status } from "@oaas/kube-core";
import type { StructuralSchema } from "../schema/structural-schema.ts";
import { limitUpdaters } from "./managers/limit-updaters.ts";
import { compareFields, setFields, type Comparison } from "./merge/compare-fields.ts";
import { configErrors } from "./merge/config-errors.ts";
import { conflictStatus, type ManagerConflict } from "./managers/conflict-status.ts";
import {
  difference,
  differenceBelow,
  fieldSetOf,
  intersection,
  isEmptySet,
  NO_FIELDS,
  union,
  type FieldSet,
} from "./fields/field-set.ts";
import {
  forgetsManagers,
  managerKey,
  managersOf,
  withManagers,
  withoutManagers,
  type FieldManager,
  type FieldManagers,
} from "./managers/managed-fields.ts";
import { lastApplied, withLastApplied } from "./managers/last-applied.ts";
import { mergeConfiguration } from "./merge/merge-configuration.ts";
import { objectSchema } from "./merge/merge-shape.ts";
import { ownedFields, withDeclaredFields } from "./merge/owned-fields.ts";
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
const UNOWNED: FieldSet = fieldSetOf(
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
  const shape = objectSchema(schema);
  const errors = configErrors(config, shape);
  if (errors.length > 0) return err(invalidConfiguration(config, errors));

  const before = managersBeforeApply(live, shape, writer);
  const bare = withoutManagers(live);
  const own: FieldManager = {
    ...identityOf(writer, "Apply"),
    fields: differenceBelow(ownedFields(config, shape), writer.resets ?? NO_FIELDS),
  };
  const key = managerKey(own);
  const last = before.get(key)?.fields ?? NO_FIELDS;
  const managers = new Map([...before, [key, own]]);
  const next = withoutLeftOvers(mergeConfiguration(bare, config, shape) as JsonObject, managers, last, shape);

  const change = changeBy(writer, bare, next, shape);
  const conflicts = conflictsWith(managers, key, setFields(change), lastApplied(writer, live, shape));
  if (!force && conflicts.length > 0) return err(conflictStatus(conflicts));

  const mine = { ...own, fields: difference(own.fields, UNOWNED) };
  const after = withoutEmpty(new Map([...yielded(managers, key, change), [key, mine]]));
  // As in the server: a manager that only joins existing ownership gets no time.
  const time = equalJson(bare, next) ? before.get(key)?.time : writer.time;
  return ok(withManagers(withLastApplied(writer, next, config), timed(after, key, time)));
}

/**
 * The next state of an updated or patched object with new ownership: changed fields belong to the writer, and other
 * managers lose them. An object may bring its own list of managers, or request to reset them.
 */
export function trackUpdate({ live, blank = {}, schema, writer }: WriteContext, next: JsonObject): JsonObject {
  const before = managersBeforeUpdate(live, next, writer);
  const isNew = Object.keys(live).length === 0;
  if (before.size === 0 && !isNew) return withManagers(next, before);
  const bare = isNew ? blank : withoutManagers(live);
  const after = tracked(bare, withoutManagers(next), objectSchema(schema), before, writer);
  return withManagers(next, limitUpdaters(after));
}

function managersBeforeUpdate(live: JsonObject, next: JsonObject, { subresource = "" }: FieldWriter): FieldManagers {
  if (forgetsManagers(next)) return new Map();
  const given = subresource === "" ? managersOf(next) : undefined;
  return given ?? managersOf(live) ?? new Map();
}

function managersBeforeApply(live: JsonObject, shape: StructuralSchema, writer: FieldWriter): FieldManagers {
  const managers = managersOf(live);
  if (managers !== undefined) return managers;
  return tracked({}, withoutManagers(live), shape, new Map(), { ...writer, manager: BEFORE_FIRST_APPLY });
}

function tracked(
  live: JsonObject,
  next: JsonObject,
  shape: StructuralSchema,
  before: FieldManagers,
  writer: FieldWriter,
): FieldManagers {
  const change = changeBy(writer, live, next, shape);
  const after = withoutEmpty(yielded(before, undefined, change));
  const taken = difference(setFields(change), UNOWNED);
  if (isEmptySet(taken)) return after;
  const identity = identityOf(writer, "Update");
  const key = managerKey(identity);
  const fields = union(taken, after.get(key)?.fields ?? NO_FIELDS);
  return new Map([...after, [key, { ...identity, fields, time: writer.time }]]);
}

function identityOf(writer: FieldWriter, operation: "Apply" | "Update"): Omit<FieldManager, "fields"> {
  const { manager, apiVersion, subresource = "" } = writer;
  return { manager, operation, apiVersion, subresource };
}

/** Removes fields that the writer applied last time and that have no owner any more. */
function withoutLeftOvers(
  whole: JsonObject,
  managers: FieldManagers,
  last: FieldSet,
  shape: StructuralSchema,
): JsonObject {
  if (isEmptySet(last)) return whole;
  const named = (set: FieldSet): FieldSet => withDeclaredFields(set, shape);
  const without = (set: FieldSet): JsonObject => removeFields(whole, set, shape) as JsonObject;
  const all = named(ownedFields(whole, shape));
  const wanted = [...managers.values()].reduce((set, { fields }) => union(set, fields), NO_FIELDS);

  const bare = without(named(last)) ?? {};
  const kept = without(difference(all, union(named(ownedFields(bare, shape)), named(wanted)))) ?? {};
  return without(intersection(difference(all, named(ownedFields(kept, shape))), named(last))) ?? {};
}

/** The changes of a write, without fields that its endpoint resets. */
function changeBy(writer: FieldWriter, before: JsonObject, after: JsonObject, shape: StructuralSchema): Comparison {
  const change = compareFields(before, after, shape);
  const { resets } = writer;
  if (resets === undefined) return change;
  return {
    added: differenceBelow(change.added, resets),
    modified: differenceBelow(change.modified, resets),
    removed: differenceBelow(change.removed, resets),
  };
}

function conflictsWith(
  managers: FieldManagers,
  self: string,
  taken: FieldSet,
  allowed: FieldSet,
): readonly ManagerConflict[] {
  return [...managers]
    .filter(([key]) => key !== self)
    .map(([, manager]) => ({ manager, fields: difference(intersection(manager.fields, taken), allowed) }))
    .filter(({ fields }) => !isEmptySet(fields));
}

/** Removes changed fields from all managers except the writer. */
function yielded(managers: FieldManagers, self: string | undefined, change: Comparison): FieldManagers {
  const gone = union(setFields(change), change.removed);
  return new Map(
    [...managers].map(([key, manager]) => [
      key,
      key === self ? manager : { ...manager, fields: difference(manager.fields, gone) },
    ]),
  );
}

function withoutEmpty(managers: FieldManagers): FieldManagers {
  return new Map([...managers].filter(([, { fields }]) => !isEmptySet(fields)));
}

function timed(managers: FieldManagers, key: string, time: string | undefined): FieldManagers {
  const manager = managers.get(key);
  return manager === undefined || time === undefined ? managers : new Map([...managers, [key, { ...manager, time }]]);
}

function invalidConfiguration(config: JsonObject, errors: readonly string[]): Status {
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
  const what = `${metadata.namespace ?? ""}/${metadata.name ?? ""}; ${groupVersion}, Kind=${kind}`;
  const [only = "", ...more] = errors;
  const error = more.length === 0 ? only : `errors:${errors.map((one) => `\n  ${one}`).join("")}`;
  return { status: "Failure", code: 500, message: `failed to create typed patch object (${what}): ${error}` };
}
