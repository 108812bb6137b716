import type { JsonObject, JsonValue } from "@oaas/kube-core";
import type { KindData, ResourceData, SubresourceData } from "../../src/kinds/built-in/kind-data.ts";
import { CATALOGUE, EXTRA_SCHEMAS, SUBRESOURCES } from "./catalogue.ts";

/** Reads a path of the real server. */
export type ReadJson = (path: string) => Promise<JsonObject>;

type Table = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Facts from the Go types, by type and field. */
export interface GoFields {
  readonly marks: Table;
  readonly names: Table;
}

type Schemas = Record<string, JsonObject>;

/** Descriptions, and the list of kinds that use a type. */
const PROSE: ReadonlySet<string> = new Set(["description", "title", "externalDocs"]);

/** All facts about the built-in kinds, from the real server. */
export async function readKindData(read: ReadJson, goFields: GoFields): Promise<KindData> {
  const resources: ResourceData[] = [];
  const all: Schemas = {};
  for (const groupVersion of Object.keys(CATALOGUE)) {
    const base = groupVersion === "v1" ? "api/v1" : `apis/${groupVersion}`;
    const document = await read(`/openapi/v3/${base}`);
    const { schemas } = document["components"] as { schemas: Schemas };
    Object.assign(all, schemas);
    resources.push(...resourcesOf(groupVersion, await read(`/${base}`), schemas));
  }
  const version = (await read("/version")) as { gitVersion: string };
  const names = reachable(
    [...resources.flatMap(({ schema, listSchema }) => [schema, listSchema ?? schema]), ...EXTRA_SCHEMAS],
    all,
  );
  const kinds = new Set(resources.flatMap(({ schema, listSchema }) => [schema, listSchema]));
  return {
    version: version.gitVersion,
    groups: await groupsOf(read),
    resources,
    schemas: Object.fromEntries(names.map((name) => [name, withoutProse(all[name] ?? {}, kinds.has(name))])),
    goMarks: picked(worthSaying(goFields.marks, all), names),
    goNames: picked(goFields.names, names),
  } as KindData;
}

/** Omission of zero values is recorded only where it differs from OpenAPI. */
function worthSaying(marks: Table, schemas: Schemas): Table {
  return Object.fromEntries(
    Object.entries(marks).flatMap(([type, fields]) => {
      const properties = schemas[type]?.["properties"] as Schemas | undefined;
      const kept = Object.entries(fields).filter(
        ([name, mark]) => mark !== "omit" || [0, "", false].includes(properties?.[name]?.["default"] as number),
      );
      return kept.length === 0 ? [] : [[type, Object.fromEntries(kept)]];
    }),
  );
}

function picked(table: Table, names: readonly string[]): Table {
  return Object.fromEntries(names.flatMap((name) => (table[name] ? [[name, table[name]]] : [])));
}

/** The groups in the order of the real server's list. */
async function groupsOf(read: ReadJson): Promise<readonly string[]> {
  const { groups } = (await read("/apis")) as unknown as { groups: readonly { name: string }[] };
  const known = new Set(Object.keys(CATALOGUE).map((groupVersion) => groupVersion.split("/")[0]));
  return groups.map(({ name }) => name).filter((name) => known.has(name));
}

interface ApiResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
}

function resourcesOf(groupVersion: string, list: JsonObject, schemas: Schemas): readonly ResourceData[] {
  const listed = list["resources"] as unknown as readonly ApiResource[];
  const [group, version] = groupVersion.includes("/") ? groupVersion.split("/") : ["", groupVersion];
  return listed
    .filter(({ name }) => CATALOGUE[groupVersion]?.includes(name))
    .map((resource) => {
      const schema = schemaOf({ group, version, kind: resource.kind }, schemas);
      const listSchema = schemaOf({ group, version, kind: `${resource.kind}List` }, schemas);
      return {
        group: group ?? "",
        version: version ?? "",
        resource: resource.name,
        kind: resource.kind,
        singular: resource.singularName,
        namespaced: resource.namespaced,
        verbs: resource.verbs,
        ...(resource.shortNames ? { shortNames: resource.shortNames } : {}),
        ...(resource.categories ? { categories: resource.categories } : {}),
        ...(resource.storageVersionHash ? { storageVersionHash: resource.storageVersionHash } : {}),
        schema: schema ?? "",
        ...(listSchema ? { listSchema } : {}),
        subresources: subresourcesOf(resource.name, listed),
      };
    });
}

function subresourcesOf(resource: string, listed: readonly ApiResource[]): readonly SubresourceData[] {
  return listed
    .filter(({ name }) => name.startsWith(`${resource}/`))
    .filter(({ name }) => SUBRESOURCES.has(name) || SUBRESOURCES.has(name.slice(resource.length + 1)))
    .map(({ name, kind, group, version, verbs }) => ({
      name: name.slice(resource.length + 1),
      kind,
      ...(version === undefined ? {} : { group: group ?? "", version }),
      verbs,
    }));
}

function schemaOf(groupVersionKind: object, schemas: Schemas): string | undefined {
  const text = JSON.stringify(groupVersionKind, ["group", "kind", "version"]);
  return Object.keys(schemas).find((name) => {
    const kinds = schemas[name]?.["x-kubernetes-group-version-kind"] as readonly object[] | undefined;
    return kinds?.length === 1 && JSON.stringify(kinds[0], ["group", "kind", "version"]) === text;
  });
}

function reachable(roots: readonly string[], all: Schemas): readonly string[] {
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (name === "" || seen.has(name)) return;
    seen.add(name);
    for (const [, other] of JSON.stringify(all[name] ?? {}).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      visit(other ?? "");
  };
  roots.forEach(visit);
  return [...seen].sort();
}

/** A schema without descriptions; a single reference needs no `allOf`. */
function withoutProse(schema: JsonObject, isKind: boolean): JsonObject {
  const kept = Object.entries(schema).filter(
    ([name]) => !PROSE.has(name) && (isKind || name !== "x-kubernetes-group-version-kind"),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, plain(name, value)]));
}

function plain(name: string, value: JsonValue): JsonValue {
  if (name === "default" || name === "enum" || name === "required" || typeof value !== "object" || value === null)
    return value;
  if (Array.isArray(value)) return value.map((item) => plain("", item));
  const object = value as JsonObject;
  if (name === "properties") {
    return Object.fromEntries(
      Object.entries(object).map(([key, property]) => [key, withoutProse(property as JsonObject, false)]),
    );
  }
  return withoutProse(object, true);
}

/** The data as the text of its file: one line per resource and schema, so that a change shows as a line. */
export function kindDataText(data: KindData): string {
  const { resources, schemas, goMarks, goNames, ...rest } = data;
  const lines = (entries: readonly string[]): string => entries.join(",\n");
  const members = (object: object): string =>
    lines(Object.entries(object).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`));
  return `{${members(rest)},
"resources":[
${lines(resources.map((resource) => JSON.stringify(resource)))}
],
"schemas":{
${members(schemas)}
},
"goMarks":{
${members(goMarks)}
},
"goNames":{
${members(goNames)}
}}
`;
}
