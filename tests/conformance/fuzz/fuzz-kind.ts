import type { JsonObject } from "@oaas/kube-core";
import { eventually } from "@oaas/testkit";
import type { Target } from "../src/target.ts";

const TEXT = { type: "string" };

/** A custom kind with every kind of list, defaults, status and scale. */
export const MIX: JsonObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "mixes.fuzz.test" },
  spec: {
    group: "fuzz.test",
    scope: "Namespaced",
    names: { plural: "mixes", singular: "mix", kind: "Mix", listKind: "MixList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  a: { type: "string", default: "d" },
                  b: { type: "integer", maximum: 5 },
                  replicas: { type: "integer" },
                  o: { type: "object", properties: { x: TEXT, y: { type: "string", default: "d" } } },
                  atomic: { type: "array", "x-kubernetes-list-type": "atomic", items: TEXT },
                  set: { type: "array", "x-kubernetes-list-type": "set", items: TEXT },
                  list: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"],
                    items: { type: "object", required: ["k"], properties: { k: TEXT, v: TEXT } },
                  },
                  any: { "x-kubernetes-preserve-unknown-fields": true },
                },
              },
              status: {
                type: "object",
                properties: { ready: { type: "boolean" }, replicas: { type: "integer" } },
              },
            },
          },
        },
      },
    ],
  },
};

/** Creates the definition on a server. */
export async function defineMix(target: Target): Promise<void> {
  const headers = { authorization: `Bearer ${target.tokens["admin"] ?? ""}`, accept: "application/json" };
  const body = JSON.stringify(MIX);
  await target.wire.send({
    method: "POST",
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    headers: { ...headers, "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) },
    body,
  });
  await eventually(
    async () => (await target.wire.send({ method: "GET", path: "/apis/fuzz.test/v1/mixes", headers })).code === 200,
    { what: `mixes on the ${target.name} server` },
  );
}
