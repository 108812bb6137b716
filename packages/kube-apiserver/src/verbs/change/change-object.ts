import { err, ok, type Result } from "@oaas/foundation";
import { equalJson, isJsonArray, isJsonObject, type JsonObject, type JsonValue, type Status } from "@oaas/kube-core";
import { matchesSchema } from "../../apply/merge/config-errors.ts";
import { readManagers } from "../../apply/managers/managed-fields.ts";
import { type FieldWriter, trackUpdate } from "../../apply/server-side-apply.ts";
import type { AdmissionRejection, PartialWrite } from "../../kinds/kind.ts";
import type { FieldError } from "../../schema/field-error.ts";
import { validateObject } from "../../admission/admit-body.ts";
import { finalizersOf, isBeingDeleted, metadataOf, withMetadata } from "../../admission/metadata.ts";
import type { WriteOptions } from "../../request/query/options.ts";
import { forbidden, invalid, notFound } from "../../request/response/status-errors.ts";
import type { Decision, Written } from "../../store/object-store.ts";
import { objectKey, type StoredObject } from "../../store/stored-object.ts";
import { validateMetadataChange, checkName, checkNamespace, checkVersion } from "./change-errors.ts";
import { admissionContextOf } from "../verb-context.ts";
import { prepareNewObject, createWriter } from "./new-object.ts";
import {
  apiVersionOf,
  convertToVersion,
  storageApiVersionOf,
  storeKindOf,
  type Target,
  type VerbContext,
} from "../verb-context.ts";

/** The definition of a change. */
export interface ObjectChange {
  readonly name: string;
  /**
   * `status` writes only the status, other paths everything except it. Other subresources (scale, resize) own their
   * writes under their name.
   */
  readonly subresource?: string;
  /**
   * Computes the new object from the live one, in the requested version; the live one is empty when it does not exist.
   */
  next(live: JsonObject): Result<JsonObject, Status>;
  /** Whether `next` already set the field managers, or they stay unchanged. */
  readonly keepsManagers?: boolean;
  /** Whether the whole object is written, bypassing rules: for internal writes (binding). */
  readonly writesWhole?: boolean;
  /** Whether a missing object is created. */
  readonly createsMissing?: boolean;
  /** Whether the version is required, unless the kind allows to omit it: for updates, not for patches. */
  readonly needsVersion?: boolean;
}

/** Changes an object, or creates it on request. */
export async function changeObject(
  context: VerbContext,
  target: Target,
  change: ObjectChange,
  options: WriteOptions,
): Promise<Result<Written & { readonly isNew: boolean }, Status>> {
  let isNew = false;
  const key = objectKey(target.namespace, change.name);
  const written = await context.store.write(storeKindOf(target.kind), key, (live) => {
    isNew = live === undefined;
    return live === undefined
      ? createMissing(context, target, change, options)
      : changeExisting(context, target, change, options, live);
  });
  return written.ok ? ok({ ...written.value, isNew }) : written;
}

function createMissing(
  context: VerbContext,
  target: Target,
  change: ObjectChange,
  options: WriteOptions,
): Result<Decision, Status> {
  if (change.createsMissing !== true) return err(notFound(target.kind, change.name));
  const next = change.next({});
  if (!next.ok) return next;
  const mismatch = checkName(next.value, change.name);
  if (mismatch !== undefined) return err(mismatch);
  const object = prepareNewObject(
    context,
    target,
    withMetadata(next.value, { name: change.name }),
    options,
    change.keepsManagers,
  );
  if (!object.ok) return object;
  return ok(options.isDryRun ? { keep: true, response: object.value } : { put: object.value });
}

function changeExisting(
  context: VerbContext,
  target: Target,
  change: ObjectChange,
  options: WriteOptions,
  stored: StoredObject,
): Result<Decision, Status> {
  const { kind } = target;
  const partial = getPartialWrite(target, change);
  const live = convertToVersion(target, stored);
  const requested = change.next(live);
  if (!requested.ok) return requested;
  const error =
    checkName(requested.value, change.name) ??
    checkNamespace(target, requested.value) ??
    checkVersion(target, change, requested.value, live);
  if (error !== undefined) return err(error);
  const next = computeNextState(context, target, change, options, live, requested.value);
  const errors = [
    // Two parts of the real server report these.
    ...validateMetadataChange(requested.value, live),
    ...validateMetadataChange(requested.value, live),
    ...objectViolations(target, next, live),
    ...(change.writesWhole === true ? [] : (partial ?? kind.rules).updateErrors(next, live)),
    ...(change.subresource === "status" ? kind.rules.statusErrors(next, live) : []),
  ];
  if (errors.length > 0) return err(invalid(kind, change.name, errors));
  const rejection = partial?.rejection(next, live, admissionContextOf(context));
  if (rejection !== undefined) return err(createRejection(target, change.name, rejection));
  const converted = kind.rules.convert(next, storageApiVersionOf(kind));
  if (isUnchanged(converted, stored.object, equalJson(omitTimes(next), omitTimes(live)))) return ok({ keep: true });
  if (options.isDryRun) return ok({ keep: true, response: converted });
  return ok(isDeletable(target, next) ? { remove: true, response: converted } : { put: converted });
}

/**
 * Violations of the object; for updates the real server checks some metadata more than once and reports it as often.
 */
function objectViolations(target: Target, next: JsonObject, live: JsonObject): readonly FieldError[] {
  const errors = validateObject(target, next, live);
  const isOf = (...names: readonly string[]) => {
    return ({ field }: FieldError): boolean => names.some((name) => field.startsWith(`metadata.${name}`));
  };
  const labels = errors.filter(isOf("labels", "annotations"));
  const whole = target.kind.rules.isValidatedTwice ? errors.filter(isOf("labels", "annotations", "finalizers")) : [];
  return [...errors, ...labels, ...labels, ...whole];
}

/** The new object: each endpoint writes its part, server-managed fields stay, ownership and generation follow. */
function computeNextState(
  context: VerbContext,
  target: Target,
  change: ObjectChange,
  options: WriteOptions,
  live: JsonObject,
  requested: JsonObject,
): JsonObject {
  const { rules } = target.kind;
  const merged = keepServerMetadata(selectWrittenPart(target, change, requested, live), live);
  const writer = createWriter(context, target, options.manager, change.subresource);
  const owned = change.keepsManagers === true ? merged : updateManagers(target, merged, live, writer);
  const next = prepareChange(context, target, change, owned, live);
  const isCounted = rules.countsGenerations && change.subresource !== "status";
  if (!isCounted || !rules.startsGeneration(next, live)) return next;
  return withMetadata(next, { generation: Number(metadataOf(live)["generation"] ?? 0) + 1 });
}

function updateManagers(target: Target, next: JsonObject, live: JsonObject, writer: FieldWriter): JsonObject {
  if (clearsManagers(target, next, live)) return withMetadata(next, { managedFields: undefined });
  const owned = trackUpdate({ live, schema: target.version.schema, writer }, next);
  return withMetadata(next, { managedFields: metadataOf(owned)["managedFields"] });
}

function prepareChange(
  context: VerbContext,
  target: Target,
  change: ObjectChange,
  next: JsonObject,
  live: JsonObject,
): JsonObject {
  const { rules } = target.kind;
  const { subresource } = change;
  const partial = getPartialWrite(target, change);
  if (partial !== undefined) {
    const spec = partial.selectSpec(next, live, admissionContextOf(context));
    return { ...live, metadata: copyManagers(live, next), spec };
  }
  if (subresource === undefined) return rules.prepareUpdate(next, live, admissionContextOf(context));
  return subresource === "status" ? rules.prepareStatus(next, live) : next;
}

/**
 * Whether nothing needs to be written. A changed timestamp in managed fields alone is not a change if the object equals
 * what was read; fields added or dropped on read since the write are a change.
 */
function isUnchanged(next: JsonObject, stored: JsonObject, isAsRead: boolean): boolean {
  return isAsRead ? equalJson(omitTimes(next), omitTimes(stored)) : equalJson(next, stored);
}

function omitTimes(object: JsonObject): JsonObject {
  const { managedFields } = metadataOf(object);
  if (!isJsonArray(managedFields)) return object;
  const entries = managedFields.map((entry) => (isJsonObject(entry) ? { ...entry, time: null } : entry));
  return withMetadata(object, { managedFields: entries });
}

/**
 * As in the real server: ownership is tracked in the version of each manager; if one of these versions does not know
 * all fields of the object, all ownership is dropped.
 */
function clearsManagers({ kind, version }: Target, next: JsonObject, live: JsonObject): boolean {
  if (!kind.rules.isValidatedBySchema || kind.versions.length === 1) return false;
  const managers = [...(readManagers(live)?.values() ?? [])];
  const others = kind.versions.filter(
    (other) =>
      other !== version && managers.some(({ apiVersion }) => apiVersion === apiVersionOf({ kind, version: other })),
  );
  return others.some(({ schema }) => !matchesSchema(next, schema));
}

function getPartialWrite({ kind }: Target, { subresource = "" }: ObjectChange): PartialWrite | undefined {
  return kind.rules.partialWrites[subresource];
}

function createRejection({ kind }: Target, name: string, { reason, cause }: AdmissionRejection): Status {
  const status = forbidden(kind, name, reason);
  return cause === undefined ? status : { ...status, details: { ...status.details, causes: [{ reason: cause }] } };
}

function selectWrittenPart(target: Target, change: ObjectChange, requested: JsonObject, live: JsonObject): JsonObject {
  const { kind, version } = target;
  // As in the real server, the writer of a part owns all fields it sent, also those that are not written.
  if (change.writesWhole === true || getPartialWrite(target, change) !== undefined) return requested;
  if (change.subresource === "status") {
    return withMember({ ...live, metadata: mergeStatusMetadata(kind, requested, live) }, "status", requested["status"]);
  }
  return version.hasStatus ? withMember(requested, "status", live["status"]) : requested;
}

/** The metadata after a status write. */
function mergeStatusMetadata(
  { rules: { keptByStatus } }: Target["kind"],
  requested: JsonObject,
  live: JsonObject,
): JsonObject {
  if (keptByStatus === "all") return copyManagers(live, requested);
  const before = metadataOf(live);
  return metadataOf(withMetadata(requested, Object.fromEntries(keptByStatus.map((name) => [name, before[name]]))));
}

/** The existing metadata, with the managers of the write. */
function copyManagers(live: JsonObject, requested: JsonObject): JsonObject {
  const { managedFields: before, ...metadata } = metadataOf(live);
  const managedFields = metadataOf(requested)["managedFields"] ?? before;
  return managedFields === undefined ? metadata : { ...metadata, managedFields };
}

function withMember(object: JsonObject, name: string, value: JsonValue | undefined): JsonObject {
  if (value !== undefined) return { ...object, [name]: value };
  const { [name]: _gone, ...rest } = object;
  return rest;
}

const SERVER_FIELDS = [
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "selfLink",
  "resourceVersion",
] as const;

function keepServerMetadata(next: JsonObject, live: JsonObject): JsonObject {
  const before = metadataOf(live);
  const own = Object.fromEntries(SERVER_FIELDS.map((name) => [name, before[name]]));
  return withMetadata(next, { ...own, name: before["name"] });
}

/** Whether nothing holds a deleted object any longer. */
export function isDeletable({ kind }: Pick<Target, "kind">, object: JsonObject): boolean {
  const grace = metadataOf(object)["deletionGracePeriodSeconds"];
  return (
    isBeingDeleted(object) &&
    finalizersOf(object).length === 0 &&
    !kind.rules.isHeld(object) &&
    (grace === undefined || grace === 0)
  );
}
