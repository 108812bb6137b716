import type { JsonObject } from "@oaas/kube-core";
import { openApiSchemas } from "../../schema/openapi-schemas.ts";
import type { StructuralSchema } from "../../schema/structural-schema.ts";
import { KIND_DATA } from "./kind-data.ts";

/** Types with arbitrary contents: OpenAPI declares them as plain objects or not at all. */
const OPEN_TYPES: readonly string[] = [
  "io.k8s.apimachinery.pkg.runtime.RawExtension",
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray",
];

let schemas: ReadonlyMap<string, StructuralSchema> | undefined;

/** The schema of a type by its OpenAPI name. Created on first use and cached. */
export function builtInSchema(name: string): StructuralSchema {
  schemas ??= openApiSchemas({ components: { schemas: { ...KIND_DATA.schemas, ...openTypes() } } });
  return schemas.get(name) ?? {};
}

function openTypes(): Record<string, JsonObject> {
  return Object.fromEntries(
    OPEN_TYPES.map((name) => [name, { ...KIND_DATA.schemas[name], "x-kubernetes-preserve-unknown-fields": true }]),
  );
}
