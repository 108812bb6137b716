import {
  type CrdVersion,
  type CustomResourceDefinition,
  equalJson,
  isJsonObject,
  isValidName,
  type JsonObject,
  type JsonValue,
} from "@oaas/kube-core";
import type { FieldError } from "../../schema/field-error.ts";
import { validateSchema as validateValue } from "../../schema/validation/schema-validation.ts";
import type { StructuralSchema } from "../../schema/structural-schema.ts";
import { validateStructurality } from "../../schema/definition/structurality.ts";
import { parseJsonPath } from "../json-path.ts";

type Errors = readonly FieldError[];

const DNS_1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const COLUMN_TYPES: readonly string[] = ["boolean", "date", "integer", "number", "string"];

/** Violations of a definition, with the server's messages. */
export function validateDefinition(definition: CustomResourceDefinition, live?: JsonObject): Errors {
  const { spec, metadata } = definition;
  const versions = spec.versions ?? [];
  const names = spec.names ?? { plural: "", kind: "" };
  const storage = versions.filter((version) => version.storage);
  return [
    // For an existing one, immutable fields are checked instead.
    ...(live !== undefined || metadata.name === `${names.plural}.${spec.group}`
      ? []
      : [invalidField("metadata.name", metadata.name, 'must be spec.names.plural+"."+spec.group')]),
    ...validateGroup(spec.group ?? ""),
    ...(spec.scope === "Namespaced" || spec.scope === "Cluster"
      ? []
      : [unsupportedField("spec.scope", spec.scope ?? "", ["Cluster", "Namespaced"])]),
    ...(storage.length === 1
      ? []
      : [
          invalidField(
            "spec.versions",
            formatVersions(versions),
            "must have exactly one version marked as storage version",
          ),
        ]),
    ...(spec.preserveUnknownFields === true
      ? [
          invalidField(
            "spec.preserveUnknownFields",
            true,
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
          ),
        ]
      : []),
    ...(storage.length === 0
      ? [invalidField("status.storedVersions", null, "must have at least one stored version")]
      : []),
    ...(storage.length > 1 && live === undefined
      ? [
          invalidField(
            "status.storedVersions",
            [storage[0]?.name],
            `must have the storage version ${storage.at(-1)?.name ?? ""}`,
          ),
        ]
      : []),
    ...validateOldVersion(versions),
    ...validateName(names),
    ...validateConversion(spec.conversion),
    ...validateVersion(versions),
  ];
}

/** Fields that cannot change once a definition is served. */
export function validateDefinitionUpdate(next: CustomResourceDefinition, live: CustomResourceDefinition): Errors {
  const isEstablished = live.status?.conditions?.some(
    ({ type, status }) => type === "Established" && status === "True",
  );
  const { group, scope, names } = next.spec;
  const frozen: readonly (readonly [string, JsonValue, JsonValue])[] = [
    ["spec.group", group, live.spec.group],
    ["spec.names.plural", names.plural, live.spec.names.plural],
    ...(isEstablished === true
      ? ([
          ["spec.scope", scope, live.spec.scope],
          ["spec.names.kind", names.kind, live.spec.names.kind],
        ] as const)
      : []),
  ];
  const remaining = new Set(next.spec.versions.map(({ name }) => name));
  const lost = (next.status?.storedVersions ?? []).filter((version) => !remaining.has(version));
  return [
    ...frozen
      .filter(([, now, before]) => !equalJson(now, before))
      .map(([field, now]) => invalidField(field, now, "field is immutable")),
    ...lost.map((version) =>
      invalidField(
        `status.storedVersions[${(next.status?.storedVersions ?? []).indexOf(version)}]`,
        version,
        "missing from spec.versions; " +
          `${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`,
      ),
    ),
  ];
}

/** The first version is also checked under its former top-level fields. */
function validateOldVersion([first]: readonly CrdVersion[]): Errors {
  const name = first?.name ?? "";
  return first === undefined || isValidName("dns-1035-label", name)
    ? []
    : [invalidField("spec.version", name, DNS_1035)];
}

/** Versions as Go prints them, with common fields hoisted. */
function formatVersions(versions: readonly CrdVersion[]): readonly JsonObject[] {
  const own = (part: (version: CrdVersion) => unknown, version: CrdVersion): JsonValue => {
    const isShared = versions.every((other) => equalJson(part(other) ?? null, part(version) ?? null));
    return isShared ? null : ((part(version) ?? null) as JsonValue);
  };
  return versions.map((version) => ({
    Name: version.name,
    Served: version.served,
    Storage: version.storage,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: own(({ schema }) => schema, version),
    Subresources: own(({ subresources }) => subresources, version),
    AdditionalPrinterColumns: own(({ additionalPrinterColumns }) => additionalPrinterColumns, version),
    SelectableFields: own(({ selectableFields }) => selectableFields, version),
  }));
}

function validateGroup(group: string): Errors {
  if (group === "") return [{ reason: "FieldValueRequired", field: "spec.group", message: "Required value" }];
  if (!isValidName("dns-1123-subdomain", group)) return [invalidField("spec.group", group, "must be a DNS subdomain")];
  return group.includes(".") ? [] : [invalidField("spec.group", group, "should be a domain with at least one dot")];
}

function validateName({
  plural,
  singular,
  kind,
  listKind,
  shortNames = [],
}: CustomResourceDefinition["spec"]["names"]): Errors {
  const label = (field: string, name: string): Errors =>
    isValidName("dns-1035-label", name) ? [] : [invalidField(field, name, DNS_1035)];
  const mixed = (field: string, name: string): Errors =>
    isValidName("dns-1035-label", name.toLowerCase())
      ? []
      : [invalidField(field, name, `may have mixed case, but should otherwise match: ${DNS_1035}`)];
  return [
    ...label("spec.names.plural", plural ?? ""),
    ...label("spec.names.singular", singular ?? ""),
    ...mixed("spec.names.kind", kind ?? ""),
    ...mixed("spec.names.listKind", listKind ?? ""),
    ...shortNames.flatMap((name, index) => label(`spec.names.shortNames[${index}]`, name)),
    ...(kind !== "" && kind === listKind
      ? [invalidField("spec.names.listKind", listKind, "kind and listKind may not be the same")]
      : []),
  ];
}

function validateConversion(conversion: CustomResourceDefinition["spec"]["conversion"]): Errors {
  const strategy = conversion?.strategy ?? "None";
  if (strategy === "None") return [];
  if (strategy === "Webhook") {
    const reason = "the embedded API server calls no webhooks; use None";
    return [{ reason: "FieldValueForbidden", field: "spec.conversion.strategy", message: `Forbidden: ${reason}` }];
  }
  return [unsupportedField("spec.conversion.strategy", strategy, ["None", "Webhook"])];
}

/** Fields equal in all versions are reported once. */
function validateVersion(versions: readonly CrdVersion[]): Errors {
  const isShared = (part: (version: CrdVersion) => unknown): boolean =>
    versions.every((version) => equalJson(part(version) ?? null, part(versions[0] as CrdVersion) ?? null));
  const shared = {
    schema: isShared(({ schema }) => schema),
    subresources: isShared(({ subresources }) => subresources),
    columns: isShared(({ additionalPrinterColumns }) => additionalPrinterColumns),
    fields: isShared(({ selectableFields }) => selectableFields),
  };
  return versions.flatMap((version, index) => {
    const at = `spec.versions[${index}]`;
    const isFirst = index === 0;
    const place = (isOne: boolean, one: string, own: string): string | undefined =>
      isOne ? (isFirst ? one : undefined) : `${at}.${own}`;
    const schemaAt = place(shared.schema, "spec.validation.openAPIV3Schema", "schema.openAPIV3Schema");
    return [
      ...(isValidName("dns-1035-label", version.name ?? "")
        ? []
        : [invalidField(`${at}.name`, version.name, DNS_1035)]),
      ...validateSchema(version, `${at}.schema.openAPIV3Schema`, schemaAt),
      ...inPlace(place(shared.subresources, "spec.subresources", "subresources"), (field) =>
        validateScale(version, field),
      ),
      ...inPlace(place(shared.columns, "spec.additionalPrinterColumns", "additionalPrinterColumns"), (field) =>
        validateColumn(version, field),
      ),
      ...inPlace(place(shared.fields, "spec.selectableFields", "selectableFields"), (field) =>
        validateSelectable(version, field),
      ),
    ];
  });
}

function inPlace(field: string | undefined, errors: (field: string) => Errors): Errors {
  return field === undefined ? [] : errors(field);
}

function validateSchema({ schema }: CrdVersion, required: string, place: string | undefined): Errors {
  const found = schema?.openAPIV3Schema;
  if (!isJsonObject(found)) return [{ reason: "FieldValueRequired", field: required, message: "Required value" }];
  if (place === undefined) return [];
  const structural = found as StructuralSchema;
  return [...validateStructurality(structural, place), ...validateDefault(structural, place)];
}

/** Defaults must match their schema. */
function validateDefault(schema: StructuralSchema, at: string): Errors {
  const { default: value, properties = {}, items } = schema;
  const own = value === undefined ? [] : validateValue(value, schema);
  return [
    ...own.map((error) => ({ ...error, field: `${at}.default${error.field === "" ? "" : `.${error.field}`}` })),
    ...Object.entries(properties).flatMap(([name, property]) => validateDefault(property, `${at}.properties[${name}]`)),
    ...(items === undefined ? [] : validateDefault(items, `${at}.items`)),
  ];
}

function validateScale({ subresources }: CrdVersion, field: string): Errors {
  const scale = subresources?.scale;
  if (scale === undefined) return [];
  const check = (name: "specReplicasPath" | "statusReplicasPath" | "labelSelectorPath", root: string): Errors => {
    const path = scale[name] ?? "";
    const at = `${field}.scale.${name}`;
    if (path === "")
      return name === "labelSelectorPath"
        ? []
        : [{ reason: "FieldValueRequired", field: at, message: "Required value" }];
    if (!path.startsWith(".")) return [invalidField(at, path, "must be a simple json path starting with .")];
    const isRight = parseJsonPath(path) !== undefined && !path.includes("[") && path.startsWith(root);
    const where = name === "labelSelectorPath" ? "either .spec or .status" : root;
    return isRight ? [] : [invalidField(at, path, `should be a json path under ${where}`)];
  };
  const selector = scale.labelSelectorPath?.startsWith(".spec") === true ? ".spec" : ".status";
  return [
    ...check("specReplicasPath", ".spec"),
    ...check("statusReplicasPath", ".status"),
    ...check("labelSelectorPath", selector),
  ];
}

function validateColumn({ additionalPrinterColumns = [] }: CrdVersion, field: string): Errors {
  return additionalPrinterColumns.flatMap(({ name, type, jsonPath }, index) => [
    ...((name ?? "") === ""
      ? [{ reason: "FieldValueRequired", field: `${field}[${index}].name`, message: "Required value" }]
      : []),
    ...(COLUMN_TYPES.includes(type)
      ? []
      : [invalidField(`${field}[${index}].type`, type, `must be one of ${COLUMN_TYPES.join(",")}`)]),
    ...((jsonPath ?? "") === ""
      ? [{ reason: "FieldValueRequired", field: `${field}[${index}].JSONPath`, message: "Required value" }]
      : jsonPath.startsWith(".") && parseJsonPath(jsonPath) !== undefined
        ? []
        : [invalidField(`${field}[${index}].JSONPath`, jsonPath, "must be a simple json path starting with .")]),
  ]);
}

function validateSelectable({ selectableFields = [], schema }: CrdVersion, field: string): Errors {
  return selectableFields.flatMap(({ jsonPath }, index) => {
    const of = fieldSchema(schema?.openAPIV3Schema, jsonPath);
    const isPlain = of !== undefined && ["string", "integer", "boolean"].includes(of.type ?? "");
    const at = `${field}[${index}].jsonPath`;
    if (of === undefined) return [invalidField(at, jsonPath, "is an invalid path: does not refer to a valid field")];
    return isPlain
      ? []
      : [
          invalidField(
            at,
            jsonPath,
            "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
          ),
        ];
  });
}

function fieldSchema(schema: StructuralSchema | undefined, path: string): StructuralSchema | undefined {
  let found = schema;
  for (const name of path.split(".").slice(1)) found = found?.properties?.[name];
  return found;
}

function invalidField(field: string, value: unknown, reason: string): FieldError {
  return {
    reason: "FieldValueInvalid",
    field,
    message: `Invalid value: ${JSON.stringify(value) ?? "null"}: ${reason}`,
  };
}

function unsupportedField(field: string, value: string, supported: readonly string[]): FieldError {
  const choices = supported.map((choice) => JSON.stringify(choice)).join(", ");
  return {
    reason: "FieldValueNotSupported",
    field,
    message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${choices}`,
  };
}
