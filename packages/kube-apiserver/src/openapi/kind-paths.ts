import { formatApiVersion, type JsonObject } from "@oaas/kube-core";
import type { ServedKind } from "../discovery/group-versions.ts";
import { subresourcesOf } from "../discovery/resource-lists.ts";
import { reference, type KindSchemas } from "./kind-schemas.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1.";
const PATCH_TYPES = ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];
const STRATEGIC = "application/strategic-merge-patch+json";
/** The first three announce support of dry run and field validation to clients. */
const WRITE_PARAMETERS = ["dryRun", "fieldManager", "fieldValidation"];

interface Operation {
  readonly action: string;
  readonly parameters?: readonly JsonObject[];
  readonly takes?: JsonObject;
  readonly gives: string;
  readonly of: JsonObject;
}

/** The paths of a kind with their operations. */
export function kindPaths(served: ServedKind, { name, listName }: KindSchemas): Record<string, JsonObject> {
  const { kind, version } = served;
  const apiVersion = formatApiVersion({ group: kind.group, version: version.name });
  const base = `${kind.group === "" ? "/api" : "/apis"}/${apiVersion}`;
  const collection = `${base}${kind.isNamespaced ? "/namespaces/{namespace}" : ""}/${kind.resource}`;
  const of = { group: kind.group, version: version.name, kind: kind.kind };
  const can = new Set(kind.verbs);
  const isStrategic = version.subresources !== undefined;
  const paths: Record<string, JsonObject> = {};
  const list =
    can.has("list") && listName !== undefined ? { get: operation({ action: "list", gives: listName, of }) } : {};
  if (kind.isNamespaced && can.has("list")) paths[`${base}/${kind.resource}`] = list;
  paths[collection] = {
    ...list,
    ...(can.has("create")
      ? {
          post: operation({
            action: "post",
            parameters: queries(WRITE_PARAMETERS),
            takes: { "*/*": { schema: reference(name) } },
            gives: name,
            of,
          }),
        }
      : {}),
    ...(can.has("deletecollection")
      ? {
          delete: operation({
            action: "deletecollection",
            parameters: queries(["dryRun"]),
            gives: `${META}Status`,
            of,
          }),
        }
      : {}),
    parameters: kind.isNamespaced ? [inPath("namespace")] : [],
  };
  if (!can.has("get")) return paths;
  const parameters = [inPath("name"), ...(kind.isNamespaced ? [inPath("namespace")] : [])];
  paths[`${collection}/{name}`] = { ...itemOperations(can, name, of, isStrategic), parameters };
  for (const each of subresourcesOf(kind, version)) {
    const gives = each.kind === kind.kind ? name : schemaNameOf(each);
    const own = { group: each.group, version: each.version, kind: each.kind };
    if (each.name === "log" || each.name === "proxy") {
      const end = each.name === "log" ? ["log"] : ["proxy", "proxy/{path}"];
      for (const last of end) {
        const named = last.includes("{path}") ? [...parameters, inPath("path")] : parameters;
        paths[`${collection}/{name}/${last}`] = { ...connectOperations(each.verbs, own), parameters: named };
      }
      continue;
    }
    paths[`${collection}/{name}/${each.name}`] = {
      ...itemOperations(new Set(each.verbs), gives, own, isStrategic),
      ...(each.verbs.includes("create")
        ? {
            post: operation({
              action: "post",
              parameters: queries(WRITE_PARAMETERS),
              takes: { "*/*": { schema: reference(gives) } },
              gives,
              of: own,
            }),
          }
        : {}),
      parameters,
    };
  }
  return paths;
}

const METHODS: Readonly<Record<string, string>> = {
  create: "post",
  delete: "delete",
  get: "get",
  patch: "patch",
  update: "put",
};

/** Operations whose response is text of a container. */
function connectOperations(verbs: readonly string[], of: JsonObject): Record<string, JsonObject> {
  const content = { "*/*": { schema: { type: "string" } } };
  const connect = {
    responses: { "200": { description: "OK", content } },
    "x-kubernetes-action": "connect",
    "x-kubernetes-group-version-kind": of,
  };
  return Object.fromEntries(verbs.flatMap((verb) => (METHODS[verb] === undefined ? [] : [[METHODS[verb], connect]])));
}

/** Types of other groups used by subresources. */
function schemaNameOf({
  group,
  version,
  kind,
}: {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}): string {
  return `io.k8s.api.${group === "" ? "core" : group.split(".")[0]}.${version}.${kind}`;
}

function itemOperations(
  can: ReadonlySet<string>,
  gives: string,
  of: JsonObject,
  isStrategic: boolean,
): Record<string, JsonObject> {
  const patches = [...PATCH_TYPES, ...(isStrategic ? [STRATEGIC] : [])].map((type) => [
    type,
    { schema: reference(`${META}Patch`) },
  ]);
  return {
    ...(can.has("get") ? { get: operation({ action: "get", gives, of }) } : {}),
    ...(can.has("update")
      ? {
          put: operation({
            action: "put",
            parameters: queries(WRITE_PARAMETERS),
            takes: { "*/*": { schema: reference(gives) } },
            gives,
            of,
          }),
        }
      : {}),
    ...(can.has("patch")
      ? {
          patch: operation({
            action: "patch",
            parameters: [...queries(WRITE_PARAMETERS), query("force", "boolean")],
            takes: Object.fromEntries(patches) as JsonObject,
            gives,
            of,
          }),
        }
      : {}),
    ...(can.has("delete")
      ? { delete: operation({ action: "delete", parameters: queries(["dryRun"]), gives: `${META}Status`, of }) }
      : {}),
  };
}

function operation({ action, parameters, takes, gives, of }: Operation): JsonObject {
  return {
    ...(parameters === undefined ? {} : { parameters: [...parameters] }),
    ...(takes === undefined ? {} : { requestBody: { content: takes, required: true } }),
    responses: { "200": { description: "OK", content: { "application/json": { schema: reference(gives) } } } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": of,
  };
}

function queries(names: readonly string[]): readonly JsonObject[] {
  return names.map((name) => query(name, "string"));
}

function query(name: string, type: string): JsonObject {
  return { name, in: "query", schema: { type, uniqueItems: true } };
}

function inPath(name: string): JsonObject {
  return { name, in: "path", required: true, schema: { type: "string", uniqueItems: true } };
}
