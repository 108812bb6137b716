import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ManagedFieldsEntry,
  memberOf,
} from "@oaas/kube-core";
import { isEmptySet, type FieldSet } from "../fields/field-set.ts";
import { decodeFields, encodeFields } from "../fields/fields-v1.ts";

/** One field manager: name, operation and owned fields. */
export interface FieldManager {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time?: string;
  readonly fields: FieldSet;
}

/** All field managers of an object, by `managerKey`. */
export type FieldManagers = ReadonlyMap<string, FieldManager>;

/** Identifies a manager. An applier is the same in every version of the kind; an updater is not. */
export function managerKey(of: Omit<FieldManager, "fields">): string {
  const { manager, operation, apiVersion, subresource } = of;
  return JSON.stringify({
    ...(manager === "" ? {} : { manager }),
    operation,
    ...(operation === "Apply" ? {} : { apiVersion }),
    ...(subresource === "" ? {} : { subresource }),
  });
}

/** The managers recorded in an object; undefined when there are none, or in an invalid form. */
export function readManagers(object: JsonObject): FieldManagers | undefined {
  const entries = memberOf(getMetadata(object), "managedFields");
  if (!isJsonArray(entries) || entries.length === 0) return undefined;
  const managers = entries.map(decodeManager);
  const valid = managers.filter((manager) => manager !== undefined);
  return valid.length < managers.length ? undefined : new Map(valid.map((manager) => [managerKey(manager), manager]));
}

/** Whether an object requests to reset its managers: a single empty entry. */
export function resetsManagers(object: JsonObject): boolean {
  const entries = memberOf(getMetadata(object), "managedFields");
  const [only, ...more] = isJsonArray(entries) ? entries : [];
  return more.length === 0 && isJsonObject(only) && Object.keys(only).length === 0;
}

function decodeManager(entry: JsonValue): FieldManager | undefined {
  if (!isJsonObject(entry)) return undefined;
  const {
    manager = "",
    operation,
    apiVersion,
    subresource = "",
    time,
    fieldsType,
    fieldsV1,
  } = entry as ManagedFieldsEntry;
  if ((operation !== "Apply" && operation !== "Update") || apiVersion === undefined || fieldsType !== "FieldsV1") {
    return undefined;
  }
  const fields = decodeFields(fieldsV1);
  return { manager, operation, apiVersion, subresource, fields, ...(time === undefined ? {} : { time }) };
}

/** The object with these managers in its metadata, in the server's order; with none, without the list. */
export function setManagers(object: JsonObject, managers: FieldManagers): JsonObject {
  const { managedFields: _before, ...metadata } = getMetadata(object);
  const owners = [...managers.values()].filter(({ fields }) => !isEmptySet(fields)).sort(compareManagers);
  if (owners.length === 0) return { ...object, metadata };
  return { ...object, metadata: { ...metadata, managedFields: owners.map(encodeManager) } };
}

/** The object without its managers. */
export function removeManagers(object: JsonObject): JsonObject {
  return Object.hasOwn(getMetadata(object), "managedFields") ? setManagers(object, new Map()) : object;
}

function encodeManager({ manager, operation, apiVersion, subresource, time, fields }: FieldManager): JsonObject {
  return {
    ...(manager === "" ? {} : { manager }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: "FieldsV1",
    fieldsV1: encodeFields(fields),
    ...(subresource === "" ? {} : { subresource }),
  };
}

function compareManagers(a: FieldManager, b: FieldManager): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? "", b.time ?? "") ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function getMetadata(object: JsonObject): JsonObject {
  const metadata = memberOf(object, "metadata");
  return isJsonObject(metadata) ? metadata : {};
}
