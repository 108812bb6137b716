import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";
import type { Group, GroupVersionKinds } from "../discovery/group-versions.ts";
import { KIND_DATA } from "../kinds/built-in/kind-data.ts";
import { kindPaths } from "./kind-paths.ts";
import { kindSchemas } from "./kind-schemas.ts";

const INFO = { title: "Kubernetes", version: KIND_DATA.version };
const REFERENCES = /"#\/components\/schemas\/([^"]+)"/g;

/** The document of one group version; rendered on first read. */
export interface OpenApiDocument {
  /** Below `/openapi/v3/`. */
  readonly path: string;
  /** Changes when the document does. */
  readonly hash: string;
  text(): string;
}

/** The documents of all groups. */
export function openApiDocuments(groups: readonly Group[]): readonly OpenApiDocument[] {
  return groups.flatMap(({ name, versions }) =>
    versions.map((version): OpenApiDocument => {
      let text: string | undefined;
      return {
        path: name === "" ? `api/${version.version}` : `apis/${name}/${version.version}`,
        hash: computeHash(name, version),
        text: () => (text ??= JSON.stringify(createDocument(version))),
      };
    }),
  );
}

/** Hashes the inputs of the document: hashing the document itself would render all of them. */
function computeHash(group: string, { version, kinds }: GroupVersionKinds): string {
  const parts = kinds.map(({ kind, version: of }) => {
    const isOwn = of.subresources !== undefined;
    return [
      kind.kind,
      kind.resource,
      kind.isNamespaced,
      of.hasStatus,
      of.scale ?? null,
      isOwn ? KIND_DATA.version : of.schema,
    ];
  });
  return createHash("sha512")
    .update(JSON.stringify([group, version, parts]))
    .digest("hex")
    .toUpperCase();
}

function createDocument({ kinds }: GroupVersionKinds): JsonObject {
  const paths: Record<string, JsonValue> = {};
  const schemas: Record<string, JsonObject> = {};
  for (const served of kinds) {
    const own = kindSchemas(served);
    Object.assign(schemas, own.schemas);
    Object.assign(paths, kindPaths(served, own));
  }
  return { openapi: "3.0.0", info: INFO, paths, components: { schemas: addReferred(schemas, JSON.stringify(paths)) } };
}

/** The schemas with everything they and the paths refer to, by name. */
function addReferred(schemas: Readonly<Record<string, JsonObject>>, text: string): JsonObject {
  const all: Record<string, JsonObject> = { ...schemas };
  const open = [text, ...Object.values(schemas).map((schema) => JSON.stringify(schema))];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const [, name = ""] of next.matchAll(REFERENCES)) {
      const found = KIND_DATA.schemas[name];
      if (all[name] !== undefined || found === undefined) continue;
      all[name] = found;
      open.push(JSON.stringify(found));
    }
  }
  return Object.fromEntries(Object.entries(all).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** OpenAPI v2: every type in one document, without paths. */
export function swagger(groups: readonly Group[]): JsonObject {
  const schemas: Record<string, JsonObject> = { ...KIND_DATA.schemas };
  for (const served of groups.flatMap(({ versions }) => versions.flatMap(({ kinds }) => kinds))) {
    Object.assign(schemas, kindSchemas(served).schemas);
  }
  const text = JSON.stringify(schemas).replaceAll("#/components/schemas/", "#/definitions/");
  return { swagger: "2.0", info: INFO, paths: {}, definitions: unwrapReference(JSON.parse(text) as JsonValue) };
}

/** Version 2 has no `allOf` around a single reference, no `nullable` and no `oneOf`. */
function unwrapReference(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(unwrapReference);
  if (!isJsonObject(value)) return value;
  const { allOf, oneOf: _one, anyOf: _any, nullable: _nullable, ...rest } = value;
  const only = Array.isArray(allOf) && allOf.length === 1 && isJsonObject(allOf[0]) ? allOf[0] : {};
  const members = Object.entries({ ...rest, ...only }).map(([name, each]) => [
    name,
    name === "default" ? each : unwrapReference(each),
  ]);
  return Object.fromEntries(members) as JsonObject;
}
