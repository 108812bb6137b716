import type { JsonObject, JsonValue } from "@oaas/kube-core";
import type { Case, Subject } from "../src/case.ts";
import {
  ANY_OBJECT,
  apply,
  create,
  installDefinition,
  customDefinition,
  get,
  mergePatch,
  remove,
  replace,
  schemaOf,
  thing,
  thingDefinition,
  waitFor,
} from "../src/case-steps.ts";

const DEFINITIONS = "customresourcedefinitions";

/** A rejected definition. */
function rejectedDefinition(name: string, body: JsonValue): Case {
  return { name: `rejects a definition: ${name}`, steps: [create(DEFINITIONS, body, { want: 422 })] };
}

/** A property of `spec` with valid and invalid values. */
function propertyCase(name: string, schema: JsonValue, good: JsonValue, ...bad: readonly JsonValue[]): Case {
  return {
    name: `validates values: ${name}`,
    given: installDefinition(thingDefinition({ type: "object", properties: { p: schema } })),
    steps: [
      create("things", thing("good", { p: good })),
      ...bad.map((value, index) => create("things", thing(`bad${index}`, { p: value }), { want: 422 })),
    ],
  };
}

const INT = { type: "object", properties: { n: { type: "integer" } } };

function celCase(name: string, schema: JsonObject, good: JsonValue, bad: JsonValue): Case {
  return {
    name: `rules: ${name}`,
    given: installDefinition(thingDefinition(schema)),
    steps: [create("things", thing("good", good)), create("things", thing("bad", bad), { want: 422 })],
  };
}

function version(name: string, others: JsonObject = {}): JsonObject {
  return { name, served: true, storage: false, ...schemaOf(ANY_OBJECT), ...others };
}

export const schemas: Subject = {
  subject: "schemas",
  needs: "api",
  cases: [
    rejectedDefinition("no versions", customDefinition({ versions: [] })),
    rejectedDefinition("no storage version", customDefinition({ versions: [version("v1")] })),
    rejectedDefinition(
      "two storage versions",
      customDefinition({ versions: [version("v1", { storage: true }), version("v2", { storage: true })] }),
    ),
    rejectedDefinition("no schema", customDefinition({ versions: [{ name: "v1", served: true, storage: true }] })),
    rejectedDefinition("a name that is not plural.group", {
      ...thingDefinition(ANY_OBJECT),
      metadata: { name: "stuff.{ns}.test" },
    }),
    rejectedDefinition("an unknown scope", thingDefinition(ANY_OBJECT, {}, { scope: "Everywhere" })),
    rejectedDefinition(
      "a lower-case kind is accepted, an upper-case plural is not",
      thingDefinition(ANY_OBJECT, {}, { names: { plural: "Things", kind: "Thing" } }),
    ),
    rejectedDefinition("an invalid version name", customDefinition({ versions: [version("V_1", { storage: true })] })),
    rejectedDefinition("a property without a type", thingDefinition({ properties: { a: { type: "string" } } })),
    rejectedDefinition("an array without items", thingDefinition({ type: "array" })),
    rejectedDefinition("an unknown type", thingDefinition({ type: "thing" })),
    rejectedDefinition(
      "additionalProperties beside properties",
      thingDefinition({
        type: "object",
        properties: { a: { type: "string" } },
        additionalProperties: { type: "string" },
      }),
    ),
    rejectedDefinition("an invalid pattern", thingDefinition({ type: "string", pattern: "(" })),
    rejectedDefinition(
      "a default of the wrong type",
      thingDefinition({ type: "object", properties: { n: { type: "integer", default: "seven" } } }),
    ),
    rejectedDefinition(
      "a map list without keys",
      thingDefinition({ type: "array", "x-kubernetes-list-type": "map", items: { type: "object" } }),
    ),
    rejectedDefinition("$ref", thingDefinition({ $ref: "#/definitions/x" })),
    rejectedDefinition("uniqueItems", thingDefinition({ type: "array", uniqueItems: true, items: { type: "string" } })),
    rejectedDefinition(
      "a scale subresource with invalid paths",
      thingDefinition(ANY_OBJECT, {
        subresources: { scale: { specReplicasPath: "spec.replicas", statusReplicasPath: ".spec.replicas" } },
      }),
    ),
    rejectedDefinition(
      "a column without a path",
      thingDefinition(ANY_OBJECT, { additionalPrinterColumns: [{ name: "a", type: "string" }] }),
    ),
    rejectedDefinition(
      "a rule that does not compile",
      thingDefinition({ type: "object", "x-kubernetes-validations": [{ rule: "self.nope == 1" }] }),
    ),
    rejectedDefinition("preserveUnknownFields", thingDefinition(ANY_OBJECT, {}, { preserveUnknownFields: true })),
    {
      name: "a definition becomes established with its names accepted",
      given: installDefinition(thingDefinition(ANY_OBJECT)),
      steps: [get(`${DEFINITIONS}/things.{ns}.test`)],
    },
    {
      name: "fills in names of a definition",
      steps: [
        create(DEFINITIONS, thingDefinition(ANY_OBJECT, {}, { names: { plural: "things", kind: "Thing" } }), {
          want: [201, { spec: { names: { singular: "thing", listKind: "ThingList" } } }],
        }),
      ],
    },
    {
      name: "scope and group of a definition are immutable",
      given: installDefinition(thingDefinition(ANY_OBJECT)),
      steps: [
        mergePatch(`${DEFINITIONS}/things.{ns}.test`, { spec: { scope: "Cluster" } }, { want: 422 }),
        mergePatch(`${DEFINITIONS}/things.{ns}.test`, { spec: { group: "other.test" } }, { want: 422 }),
      ],
    },
    {
      name: "returns 404 for an undefined kind",
      steps: [get("things", { want: 404 }), create("things", thing("a", {}), { want: 404 })],
    },
    {
      name: "a deleted definition removes its kind",
      given: [...installDefinition(thingDefinition(ANY_OBJECT)), create("things", thing("a", {}))],
      steps: [
        remove(`${DEFINITIONS}/things.{ns}.test`, undefined, { show: ["metadata.name", "metadata.finalizers"] }),
        waitFor(`${DEFINITIONS}/things.{ns}.test`, {}, { code: 404 }),
        waitFor("things", "/./", { code: 404 }),
      ],
    },
    {
      name: "prunes unknown fields",
      given: installDefinition(thingDefinition(INT)),
      steps: [
        create("things", { ...thing("a", { n: 1, more: { x: 1 } }), extra: 1 }),
        mergePatch("things/a", { spec: { other: 2 } }),
      ],
    },
    {
      name: "keeps unknown fields where the schema preserves them",
      given: installDefinition(
        thingDefinition({ type: "object", properties: { keep: ANY_OBJECT, drop: { type: "object" } } }),
      ),
      steps: [create("things", thing("a", { keep: { x: { y: [1] } }, drop: { x: 1 } }))],
    },
    {
      name: "fills in defaults, nested ones where their parents exist",
      given: installDefinition(
        thingDefinition({
          type: "object",
          default: {},
          properties: {
            n: { type: "integer", default: 7 },
            o: { type: "object", properties: { s: { type: "string", default: "x" } } },
            l: { type: "array", items: { type: "object", properties: { b: { type: "boolean", default: true } } } },
            nul: { type: "string", default: "d" },
            nullable: { type: "string", nullable: true, default: "d" },
          },
        }),
      ),
      steps: [
        create("things", { apiVersion: "{ns}.test/v1", kind: "Thing", metadata: { name: "a" } }),
        create("things", thing("b", { o: {}, l: [{}, { b: false }], nul: null, nullable: null })),
      ],
    },
    {
      name: "a later default applies to stored objects",
      given: [...installDefinition(thingDefinition(INT)), create("things", thing("a", {}))],
      steps: [
        mergePatch(
          `${DEFINITIONS}/things.{ns}.test`,
          {
            spec: {
              versions: [
                {
                  name: "v1",
                  served: true,
                  storage: true,
                  ...schemaOf({
                    type: "object",
                    properties: { n: { type: "integer" }, d: { type: "string", default: "new" } },
                  }),
                },
              ],
            },
          },
          { show: [] },
        ),
        waitFor("things/a", { spec: { d: "new" } }, { show: ["spec"] }),
      ],
    },
    propertyCase("integers", { type: "integer", minimum: 1, maximum: 5 }, 3, 0, 6, 1.5, "1"),
    propertyCase(
      "exclusive bounds and multiples",
      { type: "integer", minimum: 0, exclusiveMinimum: true, multipleOf: 2 },
      4,
      0,
      3,
    ),
    propertyCase("numbers", { type: "number", maximum: 1.5 }, 1.25, 2, "x"),
    propertyCase(
      "strings",
      { type: "string", minLength: 2, maxLength: 3, pattern: "^a" },
      "abc",
      "a",
      "abcd",
      "bbb",
      1,
    ),
    propertyCase("enumerations", { type: "string", enum: ["a", "b"] }, "a", "c"),
    propertyCase("formats", { type: "string", format: "date-time" }, "2026-01-01T00:00:00Z", "yesterday"),
    propertyCase(
      "more formats",
      {
        type: "object",
        properties: {
          ip: { type: "string", format: "ipv4" },
          u: { type: "string", format: "uuid" },
          b: { type: "string", format: "byte" },
          x: { type: "string", format: "unknown-format" },
        },
      },
      { ip: "1.2.3.4", x: "anything" },
      { ip: "x" },
      { u: "x" },
      { b: "%" },
    ),
    propertyCase(
      "arrays",
      { type: "array", minItems: 1, maxItems: 2, items: { type: "string" } },
      ["a"],
      [],
      ["a", "b", "c"],
      [1],
      "a",
    ),
    propertyCase(
      "sets",
      { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
      ["a", "b"],
      ["a", "a"],
    ),
    propertyCase(
      "map lists",
      {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        items: { type: "object", required: ["k"], properties: { k: { type: "string" } } },
      },
      [{ k: "a" }],
      [{ k: "a" }, { k: "a" }],
      [{}],
    ),
    propertyCase(
      "objects",
      { type: "object", required: ["a"], properties: { a: { type: "string" } }, maxProperties: 1 },
      { a: "x" },
      {},
      { a: null },
    ),
    propertyCase(
      "maps",
      { type: "object", additionalProperties: { type: "integer" }, minProperties: 1 },
      { a: 1 },
      {},
      { a: "x" },
    ),
    propertyCase("integers or strings", { "x-kubernetes-int-or-string": true }, "50%", true, 1.5),
    propertyCase("nullable fields", { type: "string", nullable: true }, null, 1),
    propertyCase(
      "allOf, anyOf, oneOf and not",
      {
        type: "integer",
        allOf: [{ minimum: 1 }],
        anyOf: [{ maximum: 3 }, { minimum: 10 }],
        oneOf: [{ maximum: 2 }, { minimum: 2 }],
        not: { enum: [11] },
      },
      1,
      0,
      5,
      2,
      11,
    ),
    propertyCase(
      "an embedded object",
      { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } },
      { kind: "ConfigMap" },
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "%" } },
    ),
    {
      name: "reports all errors together",
      given: installDefinition(
        thingDefinition({
          type: "object",
          required: ["a", "b"],
          properties: { a: { type: "string" }, b: { type: "integer" }, c: { type: "boolean" } },
        }),
      ),
      steps: [create("things", thing("a", { a: 1, c: "x" }), { want: 422 })],
    },
    {
      name: "rejects a spec of the wrong type",
      given: installDefinition(thingDefinition(INT)),
      steps: [create("things", thing("a", "text"), { want: 422 }), create("things", thing("a", null))],
    },
    celCase(
      "comparing two fields",
      {
        type: "object",
        properties: { min: { type: "integer" }, max: { type: "integer" } },
        "x-kubernetes-validations": [{ rule: "self.min <= self.max", message: "min must not exceed max" }],
      },
      { min: 1, max: 2 },
      { min: 3, max: 2 },
    ),
    celCase(
      "a rule without a message",
      { type: "object", properties: { n: { type: "integer" } }, "x-kubernetes-validations": [{ rule: "self.n > 0" }] },
      { n: 1 },
      { n: 0 },
    ),
    celCase(
      "presence and size",
      {
        type: "object",
        properties: {
          a: { type: "string", maxLength: 10 },
          l: { type: "array", maxItems: 5, items: { type: "string", maxLength: 5 } },
        },
        "x-kubernetes-validations": [{ rule: "has(self.a) || size(self.l) > 0" }],
      },
      { a: "x", l: [] },
      { l: [] },
    ),
    celCase(
      "all and exists",
      {
        type: "object",
        properties: {
          l: {
            type: "array",
            maxItems: 5,
            items: { type: "integer" },
            "x-kubernetes-validations": [{ rule: "self.all(x, x > 0) && self.exists(x, x == 1)" }],
          },
        },
      },
      { l: [1, 2] },
      { l: [2, 0] },
    ),
    celCase(
      "texts",
      {
        type: "object",
        properties: {
          s: {
            type: "string",
            maxLength: 20,
            "x-kubernetes-validations": [
              { rule: "self.startsWith('a') && self.matches('^[a-z]+$')", messageExpression: "'not good: ' + self" },
            ],
          },
        },
      },
      { s: "abc" },
      { s: "Abc" },
    ),
    {
      name: "rules: immutable fields",
      given: [
        ...installDefinition(
          thingDefinition({
            type: "object",
            properties: {
              n: {
                type: "integer",
                "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "stays as it is" }],
              },
              m: { type: "integer" },
            },
          }),
        ),
        create("things", thing("a", { n: 1 })),
      ],
      steps: [mergePatch("things/a", { spec: { n: 2 } }, { want: 422 }), mergePatch("things/a", { spec: { m: 2 } })],
    },
    {
      name: "rules: reason and fieldPath",
      given: installDefinition(
        thingDefinition({
          type: "object",
          properties: { a: { type: "string" }, b: { type: "string" } },
          "x-kubernetes-validations": [
            {
              rule: "!(has(self.a) && has(self.b))",
              reason: "FieldValueForbidden",
              fieldPath: ".b",
              message: "not both",
            },
          ],
        }),
      ),
      steps: [create("things", thing("a", { a: "1", b: "2" }), { want: 422 })],
    },
    {
      name: "several versions: stores one and reads each",
      given: installDefinition(
        customDefinition({
          versions: [version("v1beta1"), version("v1", { storage: true }), version("v2alpha1", { served: false })],
        }),
      ),
      steps: [
        create(
          "v1beta1:things",
          { ...thing("a", { n: 1 }), apiVersion: "{ns}.test/v1beta1" },
          { want: [201, { apiVersion: "{ns}.test/v1beta1" }] },
        ),
        get("things/a", { want: [200, { apiVersion: "{ns}.test/v1" }] }),
        get("v2alpha1:things/a", { want: 404 }),
        create("things", { ...thing("b", {}), apiVersion: "{ns}.test/v1beta1" }, { want: 400 }),
      ],
    },
    {
      name: "several versions: each has a separate schema",
      given: installDefinition(
        customDefinition({
          versions: [
            version("v1", { storage: true, ...schemaOf({ type: "object", properties: { a: { type: "string" } } }) }),
            version("v2", schemaOf({ type: "object", properties: { b: { type: "string" } } })),
          ],
        }),
      ),
      steps: [
        create("things", thing("a", { a: "1", b: "2" })),
        get("v2:things/a"),
        mergePatch("v2:things/a", { spec: { b: "3" } }),
        get("things/a"),
      ],
    },
    {
      name: "a deprecated version warns",
      given: installDefinition(
        customDefinition({
          versions: [
            version("v1", { storage: true }),
            version("v1beta1", { deprecated: true }),
            version("v1alpha1", { deprecated: true, deprecationWarning: "use v1 instead" }),
          ],
        }),
      ),
      steps: [get("v1beta1:things"), get("v1alpha1:things"), get("things")],
    },
    {
      name: "status is a subresource when the definition enables it",
      given: installDefinition(
        thingDefinition(ANY_OBJECT, { subresources: { status: {} }, ...schemaOf(ANY_OBJECT, ANY_OBJECT) }),
      ),
      steps: [
        create("things", { ...thing("a", { n: 1 }), status: { ready: true } }),
        mergePatch("things/a", { status: { ready: true } }),
        mergePatch("things/a/status", { spec: { n: 2 }, status: { ready: true } }),
        get("things/a/status", { save: { rv: "metadata.resourceVersion" } }),
        replace("things/a/status", { ...thing("a", { n: 3 }), status: { ready: false } }, { want: 422 }),
        replace("things/a/status", {
          ...thing("a", { n: 3 }, { metadata: { resourceVersion: "{rv}", labels: { l: "ignored" } } }),
          status: { ready: false },
        }),
        mergePatch("things/a", { spec: { n: 4 } }),
      ],
    },
    {
      name: "status is a normal field when the definition does not",
      given: installDefinition(thingDefinition(ANY_OBJECT, schemaOf(ANY_OBJECT, ANY_OBJECT))),
      steps: [
        create("things", { ...thing("a", { n: 1 }), status: { ready: true } }),
        get("things/a/status", { want: 404 }),
        mergePatch("things/a", { status: { ready: false } }),
      ],
    },
    {
      name: "defaults of a definition apply to a scaled object",
      given: [
        ...installDefinition(
          thingDefinition(ANY_OBJECT, {
            ...schemaOf({
              type: "object",
              properties: { replicas: { type: "integer" }, a: { type: "string", default: "d" } },
            }),
            subresources: {
              status: {},
              scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
            },
          }),
        ),
        create("things?fieldManager=m1", { apiVersion: "{ns}.test/v1", kind: "Thing", metadata: { name: "a" } }),
      ],
      steps: [
        mergePatch("things/a/scale", {}, { want: 400 }),
        mergePatch("things/a/scale?fieldManager=m2", { spec: { replicas: 0 } }),
        get("things"),
        get("things/a"),
        apply(
          "m3",
          "things/a/scale",
          { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a" }, spec: { replicas: 2 } },
          { want: 500 },
        ),
        mergePatch("things/a", { spec: { replicas: -1 } }, { want: 422 }),
        remove("things/a", { propagationPolicy: "Orphan" }),
      ],
    },
    {
      name: "scale of a custom kind",
      given: [
        ...installDefinition(
          thingDefinition(ANY_OBJECT, {
            ...schemaOf(
              { type: "object", properties: { replicas: { type: "integer", minimum: 0 }, other: { type: "integer" } } },
              { type: "object", properties: { replicas: { type: "integer" }, selector: { type: "string" } } },
            ),
            subresources: {
              status: {},
              scale: {
                specReplicasPath: ".spec.replicas",
                statusReplicasPath: ".status.replicas",
                labelSelectorPath: ".status.selector",
              },
            },
          }),
        ),
        create("things", thing("a", { replicas: 2 })),
        mergePatch("things/a/status", { status: { replicas: 1, selector: "app=a" } }),
      ],
      steps: [
        get("things/a/scale"),
        mergePatch("things/a/scale", { spec: { replicas: 5 } }),
        get("things/a"),
        replace(
          "things/a/scale",
          { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a" }, spec: { replicas: -1 } },
          { want: 422 },
        ),
        get("things/none/scale", { want: 404 }),
      ],
    },
    {
      name: "scale of an object without replicas",
      given: [
        ...installDefinition(
          thingDefinition(ANY_OBJECT, {
            subresources: { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
          }),
        ),
        create("things", thing("a", {})),
      ],
      steps: [get("things/a/scale", { want: 500 })],
    },
    {
      name: "a cluster-scoped custom kind",
      given: installDefinition(thingDefinition(ANY_OBJECT, {}, { scope: "Cluster" }), "/apis/{ns}.test/v1/things"),
      steps: [
        create("/apis/{ns}.test/v1/things", thing("a", { n: 1 })),
        get("/apis/{ns}.test/v1/things/a"),
        get("things", { want: 404 }),
      ],
    },
    {
      name: "selectable fields of a custom kind",
      given: [
        ...installDefinition(
          thingDefinition(
            { type: "object", properties: { color: { type: "string" } } },
            { selectableFields: [{ jsonPath: ".spec.color" }] },
          ),
        ),
        create("things", thing("a", { color: "red" })),
        create("things", thing("b", { color: "blue" })),
      ],
      steps: [
        { ...get("things?fieldSelector=spec.color%3Dred"), show: ["items[*].metadata.name"] },
        get("things?fieldSelector=spec.size%3D1", { want: 400 }),
      ],
    },
    {
      name: "validates names of custom objects",
      given: installDefinition(thingDefinition(ANY_OBJECT)),
      steps: [
        create("things", thing("Bad_Name", {}), { want: 422 }),
        create("things", thing("a".repeat(254), {}), { want: 422 }),
        create("things", { apiVersion: "{ns}.test/v1", kind: "Thing", metadata: {} }, { want: 422 }),
      ],
    },
    {
      name: "requires the apiVersion of the path",
      given: installDefinition(thingDefinition(ANY_OBJECT)),
      steps: [
        create("things", { ...thing("a", {}), kind: "Stuff" }, { want: 422 }),
        create("things", { ...thing("a", {}), apiVersion: "v1" }, { want: 400 }),
        create("things", { metadata: { name: "a" } }, { want: 400 }),
      ],
    },
    {
      name: "reads an object that the schema no longer allows, and accepts changes of its valid fields",
      given: [...installDefinition(thingDefinition(INT)), create("things", thing("a", { n: 50 }))],
      steps: [
        mergePatch(
          `${DEFINITIONS}/things.{ns}.test`,
          {
            spec: {
              versions: [
                {
                  name: "v1",
                  served: true,
                  storage: true,
                  ...schemaOf({
                    type: "object",
                    properties: { n: { type: "integer", maximum: 10 }, m: { type: "integer" } },
                  }),
                },
              ],
            },
          },
          { show: [] },
        ),
        { until: "customresourcedefinitions/things.{ns}.test", has: { status: { storedVersions: ["v1"] } } },
        get("things/a", { want: [200, { spec: { n: 50 } }] }),
      ],
    },
  ],
};
