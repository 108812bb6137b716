import type { JsonObject, JsonValue } from "@oaas/kube-core";
import type { ServedKind } from "../discovery/group-versions.ts";
import { KIND_DATA, type ResourceData } from "../kinds/built-in/kind-data.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1.";
const WITHOUT_PROSE =
  "This server knows the fields of its built-in kinds, not their descriptions: see https://kubernetes.io/docs/reference/kubernetes-api/";

/** Fields that the real server adds to every definition. */
const API_VERSION_PROSE =
  "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const KIND_PROSE =
  "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
const METADATA_PROSE =
  "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/** The schemas of a kind and of its list, by name; other names refer to built-in types. */
export interface KindSchemas {
  readonly name: string;
  readonly listName?: string;
  readonly schemas: Readonly<Record<string, JsonObject>>;
}

/** The OpenAPI schema of a kind in one version. */
export function kindSchemas({ kind, version }: ServedKind): KindSchemas {
  const own = KIND_DATA.resources.find(
    (each) => each.group === kind.group && each.version === version.name && each.resource === kind.resource,
  );
  return own === undefined ? definedSchemas({ kind, version }) : builtInSchemas(own);
}

function builtInSchemas({ schema, listSchema }: ResourceData): KindSchemas {
  const described = { description: WITHOUT_PROSE, ...KIND_DATA.schemas[schema] };
  return {
    name: schema,
    ...(listSchema === undefined ? {} : { listName: listSchema }),
    schemas: { [schema]: described },
  };
}

function definedSchemas({ kind, version }: ServedKind): KindSchemas {
  const prefix = [...kind.group.split(".").toReversed(), version.name].join(".");
  const [name, listName] = [`${prefix}.${kind.kind}`, `${prefix}.${kind.listKind}`];
  const of = { group: kind.group, kind: kind.kind, version: version.name };
  const shape = version.schema as unknown as JsonObject;
  const properties = (shape["properties"] ?? {}) as JsonObject;
  const text = { type: "string" };
  const [apiVersion, kindOf] = [
    { ...text, description: API_VERSION_PROSE },
    { ...text, description: KIND_PROSE },
  ];
  const own: JsonObject = {
    ...publishSchema(shape),
    type: "object",
    properties: {
      apiVersion,
      kind: kindOf,
      metadata: { description: METADATA_PROSE, allOf: [reference(`${META}ObjectMeta`)] },
      ...Object.fromEntries(
        Object.entries(properties)
          .filter(([member]) => !["apiVersion", "kind", "metadata"].includes(member))
          .map(([member, schema]) => [member, publishSchema(schema)]),
      ),
    },
    "x-kubernetes-group-version-kind": [of],
  };
  const list: JsonObject = {
    type: "object",
    required: ["items"],
    properties: {
      apiVersion: text,
      kind: text,
      items: { type: "array", items: reference(name) },
      metadata: { allOf: [reference(`${META}ListMeta`)] },
    },
    "x-kubernetes-group-version-kind": [{ ...of, kind: kind.listKind }],
  };
  return { name, listName, schemas: { [name]: own, [listName]: list } };
}

/** A definition's schema in OpenAPI form: int-or-string is spelled out. */
function publishSchema(schema: JsonValue): JsonObject {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return {};
  const object = schema as JsonObject;
  const members = Object.entries(object).map(([name, value]): [string, JsonValue] => {
    if (name === "properties" && typeof value === "object" && value !== null) {
      return [name, Object.fromEntries(Object.entries(value).map(([key, each]) => [key, publishSchema(each)]))];
    }
    const isSchema = name === "items" || (name === "additionalProperties" && typeof value === "object");
    return [name, isSchema ? publishSchema(value) : value];
  });
  const isEither = object["x-kubernetes-int-or-string"] === true && object["anyOf"] === undefined;
  return { ...(isEither ? { anyOf: [{ type: "integer" }, { type: "string" }] } : {}), ...Object.fromEntries(members) };
}

/** A reference to a type. */
export function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}
