import type { JsonObject, JsonValue } from "@oaas/kube-core";

/** Messages that are not JSON objects: their JSON form. */
export const SPECIAL: Readonly<Record<string, (fields: JsonObject) => JsonValue>> = {
  "k8s.io.apimachinery.pkg.apis.meta.v1.Time": (fields) => formatTime(fields, 0),
  "k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime": (fields) => formatTime(fields, 6),
  "k8s.io.apimachinery.pkg.apis.meta.v1.Timestamp": (fields) => formatTime(fields, 0),
  "k8s.io.apimachinery.pkg.apis.meta.v1.Duration": ({ duration = 0 }) => `${Number(duration) / 1e9}s`,
  "k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1": parseRawJson,
  "k8s.io.apimachinery.pkg.runtime.RawExtension": parseRawJson,
  "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON": parseRawJson,
  "k8s.io.apimachinery.pkg.api.resource.Quantity": ({ string = "0" }) => string,
  "k8s.io.apimachinery.pkg.util.intstr.IntOrString": ({ type = 0, intVal = 0, strVal = "" }) =>
    type === 0 ? intVal : strVal,
  "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": ({ allows = false, schema }) =>
    schema ?? allows,
  "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": ({ schema, jSONSchemas = [] }) =>
    schema ?? jSONSchemas,
  "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": ({
    schema,
    property = [],
  }) => schema ?? property,
};

/** Bytes that are already JSON, under a placeholder name. */
function parseRawJson({ "-": raw }: JsonObject): JsonValue {
  const text = typeof raw === "string" ? Buffer.from(raw, "base64").toString() : "";
  return text === "" ? null : (JSON.parse(text) as JsonValue);
}

function formatTime({ seconds, nanos = 0 }: JsonObject, digits: number): JsonValue {
  if (seconds === undefined) return null;
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  const fraction = String(Math.floor(Number(nanos) / 1000)).padStart(6, "0");
  return digits === 0 ? `${whole}Z` : `${whole}.${fraction}Z`;
}
