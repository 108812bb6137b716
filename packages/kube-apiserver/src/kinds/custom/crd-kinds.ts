import {
  type CrdVersion,
  type CustomResourceDefinition,
  equalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type PrinterColumn,
} from "@oaas/kube-core";
import { admitCustomResource, pruneUnknownFields } from "../../schema/custom-resource.ts";
import type { StructuralSchema } from "../../schema/structural-schema.ts";
import { jsonPathText } from "../json-path.ts";
import type { Column, Kind, KindVersion, ScalePaths } from "../kind.ts";
import { createKindRules } from "../create-kind-rules.ts";

const VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/** The kind of a definition, under its accepted names. */
export function customKind(definition: CustomResourceDefinition): Kind {
  const { group, scope, versions } = definition.spec;
  const names = definition.status?.acceptedNames ?? definition.spec.names;
  const storage = versions.find((version) => version.storage) ?? versions[0];
  const { kind, plural } = names;
  return {
    group,
    kind,
    listKind: names.listKind ?? `${kind}List`,
    resource: plural,
    singular: names.singular ?? kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    isNamespaced: scope === "Namespaced",
    verbs: VERBS,
    versions: byPriority(versions).map((version) => versionOf(definition, version)),
    storageVersion: storage?.name ?? "",
    rules: createKindRules({
      // As in the real server: by the schema of the storage version, including defaults; another version then drops
      // unknown fields.
      readBack: (object) => admitCustomResource(object, schemaOf(definition, object)),
      convert: (object, apiVersion) =>
        object["apiVersion"] === apiVersion ? object : inVersion(definition, object, apiVersion),
      startsGeneration: (next, live) => !equalJson(countedPart(definition, next), countedPart(definition, live)),
    }),
  };
}

function inVersion(definition: CustomResourceDefinition, object: JsonObject, apiVersion: string): JsonObject {
  const converted = { ...object, apiVersion };
  return pruneUnknownFields(converted, schemaOf(definition, converted));
}

/** The schema of the version that an object states. */
function schemaOf({ spec }: CustomResourceDefinition, { apiVersion }: JsonObject): StructuralSchema {
  const version = spec.versions.find(({ name }) => apiVersion === `${spec.group}/${name}`);
  return version?.schema?.openAPIV3Schema ?? { type: "object" };
}

/** Changes that increment the generation: everything except metadata, and the status if it is a subresource. */
function countedPart(definition: CustomResourceDefinition, object: JsonObject): JsonObject {
  const { metadata: _metadata, apiVersion, ...rest } = object;
  const version = definition.spec.versions.find(({ name }) => apiVersion === `${definition.spec.group}/${name}`);
  if (version?.subresources?.status === undefined) return rest;
  const { status: _status, ...content } = rest;
  return content;
}

function versionOf(definition: CustomResourceDefinition, version: CrdVersion): KindVersion {
  const schema = schemaOf(definition, { apiVersion: `${definition.spec.group}/${version.name}` });
  const { scale, status } = version.subresources ?? {};
  return {
    name: version.name,
    isServed: version.served,
    schema,
    hasStatus: status !== undefined,
    ...(scale === undefined ? {} : { scale: scalePaths(scale) }),
    selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, "")),
    columns: columnsOf(version.additionalPrinterColumns ?? []),
    ...(version.deprecated === true
      ? { deprecationWarning: version.deprecationWarning ?? deprecationOf(definition, version) }
      : {}),
  };
}

/** The suggested replacement, by the names of newer versions. */
function deprecationOf({ spec: { group, names, versions } }: CustomResourceDefinition, { name }: CrdVersion): string {
  const text = `${group}/${name} ${names.kind} is deprecated`;
  const [newest] = versions
    .filter((other) => other.served && other.deprecated !== true && compareVersions(name, other.name) > 0)
    .map((other) => other.name)
    .sort(compareVersions);
  return newest === undefined ? text : `${text}; use ${group}/${newest} ${names.kind}`;
}

function scalePaths(scale: NonNullable<NonNullable<CrdVersion["subresources"]>["scale"]>): ScalePaths {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  return {
    specReplicas: specReplicasPath,
    statusReplicas: statusReplicasPath,
    ...(labelSelectorPath === undefined ? {} : { labelSelector: labelSelectorPath }),
  };
}

const AGE: PrinterColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };
const AGE_TEXT =
  "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
const NAME_TEXT =
  "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";

/** The columns of a definition after the name; the age without any. */
function columnsOf(columns: readonly PrinterColumn[]): readonly Column[] {
  const printed = columns.length === 0 ? [{ ...AGE, description: AGE_TEXT }] : columns;
  return [nameColumn(), ...printed.map(columnOf)];
}

function nameColumn(): Column {
  return {
    name: "Name",
    type: "string",
    format: "name",
    description: NAME_TEXT,
    priority: 0,
    cell: (object) => (isJsonObject(object["metadata"]) ? (object["metadata"]["name"] ?? "") : ""),
  };
}

function columnOf({ name, type, format = "", description, priority = 0, jsonPath }: PrinterColumn): Column {
  return {
    name,
    type,
    format,
    description: description ?? `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority,
    cell: (object, now) => cellOf(type, jsonPathText(object, jsonPath), now),
  };
}

function cellOf(type: string, value: JsonValue | undefined, now: number): JsonValue {
  if (value === undefined) return null;
  if (type === "date") return typeof value === "string" ? ageText(now - Date.parse(value)) : null;
  if (type === "integer" || type === "number") return typeof value === "number" ? value : null;
  if (type === "boolean") return typeof value === "boolean" ? value : null;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Age as kubectl formats it: at most two units. */
export function ageText(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (Number.isNaN(seconds) || seconds < -2) return "<invalid>";
  if (seconds < 0) return "0s";
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86_400)];
  const both = (large: number, unit: string, small: number, smallUnit: string): string =>
    small === 0 ? `${large}${unit}` : `${large}${unit}${small}${smallUnit}`;
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return both(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return both(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  if (days < 8) return both(days, "d", hours % 24, "h");
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? both(years, "y", days % 365, "d") : `${years}y`;
}

/** Versions in discovery order: stable before beta before alpha, newer before older, others last by name. */
function byPriority(versions: readonly CrdVersion[]): readonly CrdVersion[] {
  return [...versions].sort((a, b) => compareVersions(a.name, b.name));
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [rankOf(a), rankOf(b)];
  for (const [index, rank] of left.entries()) {
    const difference = (right[index] ?? 0) - rank;
    if (difference !== 0) return difference;
  }
  return a < b ? -1 : 1;
}

const STAGES: Readonly<Record<string, number>> = { "": 3, beta: 2, alpha: 1 };

function rankOf(version: string): readonly number[] {
  const [, major, stage = "", minor = "0"] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  return major === undefined ? [0, 0, 0] : [STAGES[stage] ?? 0, Number(major), Number(minor)];
}
