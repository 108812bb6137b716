import type { JsonObject, JsonValue } from "@oaas/kube-core";
import type { RequestStep, Step, UntilStep } from "./case.ts";

/** Helpers to write cases. */

type Rest = Omit<RequestStep, "do" | "body">;

export function create(resource: string, body: JsonValue, rest: Rest = {}): RequestStep {
  return { do: `POST ${resource}`, body, ...rest };
}

export function get(path: string, rest: Rest = {}): RequestStep {
  return { do: `GET ${path}`, ...rest };
}

export function replace(path: string, body: JsonValue, rest: Rest = {}): RequestStep {
  return { do: `PUT ${path}`, body, ...rest };
}

export function remove(path: string, body?: JsonValue, rest: Rest = {}): RequestStep {
  return { do: `DELETE ${path}`, ...(body === undefined ? {} : { body }), ...rest };
}

export function mergePatch(path: string, body: JsonValue, rest: Rest = {}): RequestStep {
  return { do: `PATCH ${path}`, body, type: "application/merge-patch+json", ...rest };
}

export function strategicMergePatch(path: string, body: JsonValue, rest: Rest = {}): RequestStep {
  return { do: `PATCH ${path}`, body, type: "application/strategic-merge-patch+json", ...rest };
}

export function jsonPatch(path: string, body: JsonValue, rest: Rest = {}): RequestStep {
  return { do: `PATCH ${path}`, body, type: "application/json-patch+json", ...rest };
}

/** Server-side apply by this manager. */
export function apply(
  manager: string,
  path: string,
  body: JsonValue,
  rest: Rest & { force?: boolean } = {},
): RequestStep {
  const { force = false, ...others } = rest;
  const query = `fieldManager=${manager}${force ? "&force=true" : ""}`;
  const target = path.includes("?") ? `${path}&${query}` : `${path}?${query}`;
  return { do: `PATCH ${target}`, body, type: "application/apply-patch+yaml", ...others };
}

export function waitFor(path: string, has: JsonValue, rest: Omit<UntilStep, "until" | "has"> = {}): UntilStep {
  return { until: path, has, ...rest };
}

export function waitUntilGone(path: string): UntilStep {
  return { until: path, code: 404 };
}

export function configMap(name: string, data?: JsonObject, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, ...metadata },
    ...(data === undefined ? {} : { data }),
  };
}

export function pod(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...metadata },
    spec: { containers: [{ name: "main", image: "example.test/web:1" }], ...spec },
  };
}

export function deployment(name: string, spec: JsonObject = {}, container: JsonObject = {}): JsonObject {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: "main", image: "example.test/web:1", ...container }] },
      },
      ...spec,
    },
  };
}

export function service(name: string, spec: JsonObject = {}): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
  };
}

/** A definition of Things in the group of the case; `version` adds members to its only version besides a schema. */
export function thingDefinition(spec: JsonValue, version: JsonObject = {}, others: JsonObject = {}): JsonObject {
  return customDefinition({
    ...others,
    versions: [{ name: "v1", served: true, storage: true, ...schemaOf(spec), ...version }],
  });
}

/** The same with the given versions. */
export function customDefinition(others: JsonObject): JsonObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.{ns}.test" },
    spec: {
      group: "{ns}.test",
      scope: "Namespaced",
      names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
      ...others,
    },
  };
}

export function schemaOf(spec: JsonValue, status?: JsonValue): JsonObject {
  const properties = { spec, ...(status === undefined ? {} : { status }) };
  return { schema: { openAPIV3Schema: { type: "object", properties } } };
}

export function thing(name: string, spec: JsonValue, others: JsonObject = {}): JsonObject {
  const { metadata = {}, ...rest } = others;
  return { apiVersion: "{ns}.test/v1", kind: "Thing", metadata: { name, ...(metadata as JsonObject) }, spec, ...rest };
}

/** Setup steps that make a custom kind ready to use. */
export function installDefinition(crd: JsonObject, list = "things"): readonly Step[] {
  return [
    create("customresourcedefinitions", crd),
    waitFor("customresourcedefinitions/things.{ns}.test", {
      status: { conditions: [{ type: "Established", status: "True" }] },
    }),
    waitFor(list, {}),
  ];
}

export const ANY_OBJECT = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
