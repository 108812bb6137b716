import type { StructuralSchema } from "../../schema/structural-schema.ts";

const TEXT: StructuralSchema = { type: "string" };
const NUMBER: StructuralSchema = { type: "integer" };
const TEXTS: StructuralSchema = { type: "object", additionalProperties: TEXT };

/** The metadata of every kind, as far as merging and ownership need it. */
export const OBJECT_META_SCHEMA: StructuralSchema = {
  type: "object",
  properties: {
    annotations: TEXTS,
    creationTimestamp: TEXT,
    deletionGracePeriodSeconds: NUMBER,
    deletionTimestamp: TEXT,
    finalizers: { type: "array", items: TEXT, "x-kubernetes-list-type": "set" },
    generateName: TEXT,
    generation: NUMBER,
    labels: TEXTS,
    managedFields: { type: "array", items: { type: "object" }, "x-kubernetes-list-type": "atomic" },
    name: TEXT,
    namespace: TEXT,
    ownerReferences: {
      type: "array",
      items: {
        type: "object",
        "x-kubernetes-map-type": "atomic",
        required: ["apiVersion", "kind", "name", "uid"],
        properties: {
          apiVersion: TEXT,
          blockOwnerDeletion: { type: "boolean" },
          controller: { type: "boolean" },
          kind: TEXT,
          name: TEXT,
          uid: TEXT,
        },
      },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
    },
    resourceVersion: TEXT,
    selfLink: TEXT,
    uid: TEXT,
  },
};
