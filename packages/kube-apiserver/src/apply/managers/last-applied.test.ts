import { expect, it } from "vitest";
import { type JsonObject, LAST_APPLIED_ANNOTATION } from "@oaas/kube-core";
import { applyConfiguration } from "../server-side-apply.ts";

const CONFIG = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x: "2", y: "1" } };
const SCHEMA = {
  type: "object",
  properties: { data: { type: "object", additionalProperties: { type: "string" } } },
} as const;

/** As kubectl leaves it after a client-side apply. */
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

function apply(manager: string, object: JsonObject): ReturnType<typeof applyConfiguration> {
  const writer = { manager, apiVersion: "v1", time: "t" };
  return applyConfiguration({ live: object, schema: SCHEMA, writer }, CONFIG, false);
}

it("server-side kubectl apply takes over client-side applied fields and keeps the annotation current", () => {
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
  ["fields not applied before", "kubectl", JSON.stringify({ ...CONFIG, data: { z: "1" } })],
  ["an unreadable annotation", "kubectl", "no json"],
  ["anybody else", "argocd", JSON.stringify({ ...CONFIG, data: { x: "1" } })],
])("keeps the conflict for %s", (_, manager, annotation) => {
  expect(apply(manager, live(annotation))).toMatchObject({ ok: false, error: { code: 409 } });
});
