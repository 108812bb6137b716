import { expect, it } from "vitest";
import { type JsonObject, LAST_APPLIED_ANNOTATION } from "@oaas/kube-core";
import { applied } from "./server-side-apply.ts";

const CONFIG = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x: "2", y: "1" } };
const SCHEMA = {
  type: "object",
  properties: { data: { type: "object", additionalProperties: { type: "string" } } },
} as const;

/** As kubectl leaves it when it applies on its own side. */
function live(lastApplied: string): JsonObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: "a",
      annotations: { [LAST_APPLIED_ANNOTATION]: lastApplied },
      managedFields: [
        {
          manager: "kubectl-client-side-apply",
          operation: "Update",
          apiVersion: "v1",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:data": { ".": {}, "f:x": {} } },
        },
      ],
    },
    data: { x: "1" },
  };
}

function apply(manager: string, object: JsonObject): ReturnType<typeof applied> {
  const writer = { manager, apiVersion: "v1", time: "t" };
  return applied({ live: object, schema: SCHEMA, writer }, CONFIG, false);
}

it("kubectl takes over on the server's side what it applied on its own, and keeps the annotation true", () => {
  const result = apply("kubectl", live(JSON.stringify({ ...CONFIG, data: { x: "1" } })));
  expect(result).toMatchObject({
    ok: true,
    value: {
      data: { x: "2", y: "1" },
      metadata: {
        annotations: {
          [LAST_APPLIED_ANNOTATION]:
            '{"apiVersion":"v1","data":{"x":"2","y":"1"},"kind":"ConfigMap","metadata":{"name":"a"}}\n',
        },
      },
    },
  });
});

it.each([
  ["what it did not apply before", "kubectl", JSON.stringify({ ...CONFIG, data: { z: "1" } })],
  ["an annotation that says nothing", "kubectl", "no json"],
  ["anybody else", "argocd", JSON.stringify({ ...CONFIG, data: { x: "1" } })],
])("a conflict stays a conflict for %s", (_, manager, annotation) => {
  expect(apply(manager, live(annotation))).toMatchObject({ ok: false, error: { code: 409 } });
});
