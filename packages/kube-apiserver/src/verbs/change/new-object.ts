import { err, ok, type Result } from "@oaas/foundation";
import type { JsonObject, Status } from "@oaas/kube-core";
import { type FieldSet, createFieldSet } from "../../apply/fields/field-set.ts";
import { memberElement } from "../../apply/fields/path-element.ts";
import { type FieldWriter, trackUpdate } from "../../apply/server-side-apply.ts";
import { validateObject } from "../../admission/admit-body.ts";
import { isBeingDeleted, metadataOf, nameOf, withMetadata } from "../../admission/metadata.ts";
import { forbidden, internalError, invalid, notFound } from "../../request/response/status-errors.ts";
import type { WriteOptions } from "../../request/query/options.ts";
import { objectKey } from "../../store/stored-object.ts";
import { checkNamespace } from "./change-errors.ts";
import { admissionContextOf } from "../verb-context.ts";
import { wholeSeconds } from "../../controllers/objects/time.ts";
import { apiVersionOf, isBuiltIn, storageApiVersionOf, type Target, type VerbContext } from "../verb-context.ts";

const NAMESPACES = { group: "", resource: "namespaces" };
const NAME_LIMIT = 63;
const SUFFIX_LENGTH = 5;
const SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789";

const STATUS_FIELDS: FieldSet = createFieldSet([[memberElement("status")]]);

/** The writer, for managed fields. */
export function createWriter(context: VerbContext, target: Target, manager: string, subresource?: string): FieldWriter {
  return {
    manager,
    apiVersion: apiVersionOf(target),
    time: wholeSeconds(context.clock.now()),
    ...(subresource === undefined ? {} : { subresource }),
    ...(subresource === "status" ? { resets: listResetFields(target.kind) } : {}),
    ...(subresource === undefined && target.version.hasStatus ? { resets: STATUS_FIELDS } : {}),
  };
}

/** Fields that a status write resets. */
function listResetFields({ rules: { keptByStatus } }: Target["kind"]): FieldSet {
  const metadata = keptByStatus === "all" ? [["metadata"]] : keptByStatus.map((name) => ["metadata", name]);
  return createFieldSet([["spec"], ...metadata].map((path) => path.map(memberElement)));
}

/**
 * Prepares an admitted object for storage: name, ownership, server-set fields, validation. `hasManagers` when its
 * managed fields are already set (by an apply).
 */
export function prepareNewObject(
  context: VerbContext,
  target: Target,
  admitted: JsonObject,
  { manager }: Pick<WriteOptions, "manager">,
  hasManagers = false,
): Result<JsonObject, Status> {
  const { kind, version } = target;
  const admission = admissionContextOf(context);
  const error = checkNamespaceExists(context, target, admitted);
  if (error !== undefined) return err(error);
  const withoutOldStatus = version.hasStatus && !kind.rules.keepsNewStatus ? omitStatus(admitted) : admitted;
  const identified = withMetadata(withoutOldStatus, createMetadata(context, target, withoutOldStatus));
  const write = {
    live: {},
    blank: createBlank(kind),
    schema: version.schema,
    writer: createWriter(context, target, manager),
  };
  const owned = hasManagers ? identified : trackUpdate(write, identified);
  const reason = kind.rules.forbiddenReason(owned, admission);
  if (reason !== undefined) return err(forbidden(kind, nameOf(owned), reason));
  const prepared = kind.rules.prepareCreate(owned, admission);
  const errors = validateObject(target, prepared);
  if (errors.length > 0) return err(invalid(kind, nameOf(prepared), errors));
  const { resourceVersion } = metadataOf(admitted);
  if (!hasManagers && resourceVersion !== undefined && resourceVersion !== "") {
    return err(internalError("resourceVersion should not be set on objects to be created"));
  }
  return ok(kind.rules.convert(prepared, storageApiVersionOf(kind)));
}

/** The initial contents of a kind: Go's types always have some fields. */
function createBlank(kind: Target["kind"]): JsonObject {
  const blank = isBuiltIn(kind) ? kind.rules.decode({}) : ok({});
  return blank.ok ? blank.value : {};
}

function omitStatus({ status: _status, ...rest }: JsonObject): JsonObject {
  return rest;
}

/** The metadata of a new object: fields set by the server, without fields that clients cannot set. */
function createMetadata(
  context: VerbContext,
  { kind, namespace }: Target,
  object: JsonObject,
): Record<string, string | number | undefined> {
  const { name, generateName } = metadataOf(object);
  const isNamed = typeof name === "string" && name !== "";
  const prefix = typeof generateName === "string" ? generateName : "";
  return {
    ...(isNamed || prefix === "" ? {} : { name: createRandomName(context, prefix) }),
    namespace: kind.isNamespaced ? namespace : undefined,
    uid: context.ids.uuid(),
    creationTimestamp: wholeSeconds(context.clock.now()),
    generation: kind.rules.countsGenerations ? 1 : readGeneration(object),
    resourceVersion: undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
    selfLink: undefined,
  };
}

/** Kinds without generations keep the given value. */
function readGeneration(object: JsonObject): number | undefined {
  const { generation } = metadataOf(object);
  return typeof generation === "number" ? generation : undefined;
}

function createRandomName(context: VerbContext, prefix: string): string {
  const digits = context.ids.uuid().replaceAll("-", "");
  const suffix = Array.from({ length: SUFFIX_LENGTH }, (_, index) => {
    const number = Number.parseInt(digits.slice(index * 4, index * 4 + 4), 16);
    return SUFFIX_LETTERS[number % SUFFIX_LETTERS.length] ?? "";
  });
  return `${prefix.slice(0, NAME_LIMIT - SUFFIX_LENGTH)}${suffix.join("")}`;
}

/** Why nothing can be created in this namespace. */
function checkNamespaceExists(
  context: VerbContext,
  { kind, namespace }: Target,
  object: JsonObject,
): Status | undefined {
  if (!kind.isNamespaced) return undefined;
  const mismatch = checkNamespace({ kind, namespace }, object);
  if (mismatch !== undefined) return mismatch;
  const found = context.store.get("namespaces", objectKey("", namespace));
  if (found === undefined) return notFound(NAMESPACES, namespace);
  if (!isBeingDeleted(found.object)) return undefined;
  const reason = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const cause = {
    reason: "NamespaceTerminating",
    message: `namespace ${namespace} is being terminated`,
    field: "metadata.namespace",
  };
  return forbidden(kind, nameOf(object), reason, [cause]);
}
