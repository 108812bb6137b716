import type { JsonObject } from "@oaas/kube-core";
import type { Subject } from "../src/case.ts";
import {
  apply,
  configMap,
  create,
  installDefinition,
  deployment,
  get,
  mergePatch,
  remove,
  replace,
  schemaOf,
  service,
  thing,
  thingDefinition,
} from "../src/case-steps.ts";

function data(members: JsonObject, metadata: JsonObject = {}): JsonObject {
  return configMap("a", members, metadata);
}

const LISTS = {
  type: "object",
  properties: {
    atomic: { type: "array", "x-kubernetes-list-type": "atomic", items: { type: "string" } },
    set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    map: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: { type: "object", required: ["k"], properties: { k: { type: "string" }, v: { type: "string" } } },
    },
    whole: { type: "object", "x-kubernetes-map-type": "atomic", additionalProperties: { type: "string" } },
    n: { type: "integer", default: 7 },
  },
};

export const serverSideApply: Subject = {
  subject: "apply",
  needs: "api",
  cases: [
    {
      name: "creates a missing object",
      steps: [apply("one", "configmaps/a", data({ x: "1" }), { want: 201 }), get("configmaps/a")],
    },
    {
      name: "applying the same configuration again does not change the version",
      given: [apply("one", "configmaps/a", data({ x: "1" }))],
      steps: [get("configmaps/a"), apply("one", "configmaps/a", data({ x: "1" }), { want: 200 })],
    },
    {
      name: "removes a field that is no longer applied and has no other owner",
      given: [apply("one", "configmaps/a", data({ x: "1", y: "2" })), apply("two", "configmaps/a", data({ y: "2" }))],
      steps: [apply("one", "configmaps/a", data({}), { want: [200, { data: { y: "2" } }] })],
    },
    {
      name: "reports a conflict with the owner of a field",
      given: [apply("one", "configmaps/a", data({ x: "1" }))],
      steps: [
        apply("two", "configmaps/a", data({ x: "2" }), { want: [409, { reason: "Conflict" }] }),
        get("configmaps/a"),
      ],
    },
    {
      name: "reports many conflicts with many managers",
      given: [
        apply("one", "configmaps/a", data({ x: "1", y: "1" }, { labels: { l: "1" } })),
        apply("two", "configmaps/a", data({ z: "1" })),
        mergePatch("configmaps/a?fieldManager=three", { data: { q: "1" } }),
      ],
      steps: [
        apply("four", "configmaps/a", data({ x: "9", y: "9", z: "9", q: "9" }, { labels: { l: "9" } }), { want: 409 }),
      ],
    },
    {
      name: "shares ownership of an equal value",
      given: [apply("one", "configmaps/a", data({ x: "1" }))],
      steps: [
        apply("two", "configmaps/a", data({ x: "1" })),
        apply("two", "configmaps/a", data({}), { want: [200, { data: { x: "1" } }] }),
      ],
    },
    {
      name: "force takes over the field",
      given: [apply("one", "configmaps/a", data({ x: "1", y: "1" }))],
      steps: [
        apply("two", "configmaps/a", data({ x: "2" }), { force: true }),
        apply("one", "configmaps/a", data({ x: "3", y: "1" }), { want: 409 }),
        apply("one", "configmaps/a", data({ y: "1" }), { want: [200, { data: { x: "2", y: "1" } }] }),
      ],
    },
    {
      name: "an update takes over the fields it changes",
      given: [apply("one", "configmaps/a", data({ x: "1", y: "1" }))],
      steps: [
        replace("configmaps/a?fieldManager=editor", data({ x: "2", y: "1" })),
        apply("one", "configmaps/a", data({ x: "1", y: "1" }), { want: 409 }),
      ],
    },
    {
      name: "a patch takes over the fields it changes, and removal leaves no field",
      given: [apply("one", "configmaps/a", data({ x: "1", y: "1" }))],
      steps: [
        mergePatch("configmaps/a?fieldManager=editor", { data: { x: null, z: "1" } }),
        apply("one", "configmaps/a", data({ x: "1", y: "1" }), { want: 200 }),
      ],
    },
    {
      name: "update and apply of one manager are two entries",
      given: [create("configmaps?fieldManager=one", data({ x: "1" }))],
      steps: [
        apply("one", "configmaps/a", data({ x: "2" }), { want: 409 }),
        apply("one", "configmaps/a", data({ x: "2" }), { force: true }),
      ],
    },
    {
      name: "requires a field manager",
      steps: [{ do: "PATCH configmaps/a", type: "application/apply-patch+yaml", body: data({}), want: 422 }],
    },
    {
      name: "limits the name of a manager",
      steps: [
        apply("x".repeat(129), "configmaps/a", data({}), { want: 422 }),
        apply("a%00b", "configmaps/a", data({}), { want: 422 }),
      ],
    },
    {
      name: "rejects managedFields in the configuration",
      steps: [apply("one", "configmaps/a", data({}, { managedFields: [{ manager: "x" }] }), { want: 400 })],
    },
    {
      name: "requires apiVersion and kind",
      steps: [apply("one", "configmaps/a", { metadata: { name: "a" } }, { want: 400 })],
    },
    {
      name: "requires the name of the path",
      steps: [
        apply("one", "configmaps/a", { apiVersion: "v1", kind: "ConfigMap", data: { x: "1" } }, { want: 400 }),
        apply("one", "configmaps/a", configMap("b"), { want: 400 }),
      ],
    },
    {
      name: "accepts YAML and JSON",
      steps: [
        apply(
          "one",
          "configmaps/a",
          "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: |\n    lines\n  y: 'yes'\n",
          { want: 201 },
        ),
      ],
    },
    {
      name: "rejects invalid YAML",
      steps: [apply("one", "configmaps/a", "a: [", { want: 400 })],
    },
    {
      name: "resourceVersion is a precondition",
      steps: [
        create("configmaps", data({ x: "1" }), { save: { rv: "metadata.resourceVersion" } }),
        apply("one", "configmaps/a", data({ y: "1" }, { resourceVersion: "{rv}" })),
        apply("one", "configmaps/a", data({ y: "2" }, { resourceVersion: "{rv}" }), { want: 409 }),
      ],
    },
    {
      name: "resourceVersion is ignored for a missing object",
      steps: [apply("one", "configmaps/a", data({}, { resourceVersion: "1" }), { want: 201 })],
    },
    {
      name: "uid of a missing object is a conflict",
      steps: [apply("one", "configmaps/a", data({}, { uid: "00000000-0000-0000-0000-000000000000" }), { want: 409 })],
    },
    {
      name: "an update can clear managedFields",
      given: [apply("one", "configmaps/a", data({ x: "1" }))],
      steps: [
        mergePatch("configmaps/a", { metadata: { managedFields: [{}] } }),
        apply("two", "configmaps/a", data({ x: "2" }), { want: 409 }),
        apply("two", "configmaps/a", data({ x: "1" })),
      ],
    },
    {
      name: "merges containers and ports of a Deployment by key, and defaults have no owner",
      steps: [
        apply(
          "one",
          "deployments/web",
          deployment("web", {}, { ports: [{ containerPort: 80 }], env: [{ name: "A", value: "1" }] }),
          { want: 201 },
        ),
        apply("two", "deployments/web", {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name: "web" },
          spec: {
            replicas: 3,
            template: { spec: { containers: [{ name: "main", env: [{ name: "B", value: "2" }] }] } },
          },
        }),
        apply("one", "deployments/web", deployment("web", { replicas: 2 }), { want: 409 }),
        apply("one", "deployments/web", deployment("web"), { want: 200 }),
      ],
    },
    {
      name: "merges ports of a Service by port and protocol",
      steps: [
        apply(
          "one",
          "services/web",
          service("web", {
            ports: [
              { port: 53, protocol: "UDP", name: "dns" },
              { port: 53, protocol: "TCP", name: "dns-tcp" },
            ],
          }),
          { want: 201 },
        ),
        apply("one", "services/web", service("web", { ports: [{ port: 53, protocol: "TCP", name: "dns-tcp" }] })),
      ],
    },
    {
      name: "tracks managers of the status subresource separately",
      given: [apply("one", "deployments/web", deployment("web"))],
      steps: [
        apply("two", "deployments/web/status", {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name: "web" },
          status: { conditions: [{ type: "Available", status: "True" }] },
        }),
        apply(
          "one",
          "deployments/web",
          { ...deployment("web"), status: { replicas: 7 } },
          {
            want: [200, { status: { conditions: [{ type: "Available" }] } }],
            // Not the version: the real server writes a new time in another second and nothing in the same one.
            show: ["status", "metadata.generation", "metadata.managedFields"],
          },
        ),
      ],
    },
    {
      name: "merges custom lists and maps by type: atomic, set, map, with defaults",
      given: installDefinition(thingDefinition(LISTS)),
      steps: [
        apply(
          "one",
          "things/a",
          thing("a", { atomic: ["a"], set: ["a", "b"], map: [{ k: "x", v: "1" }], whole: { a: "1" } }),
          { want: 201 },
        ),
        apply("two", "things/a", thing("a", { set: ["c"], map: [{ k: "y", v: "2" }] }), { want: 200 }),
        apply(
          "two",
          "things/a",
          thing("a", { atomic: ["b"], set: ["c"], map: [{ k: "x", v: "2" }], whole: { b: "1" } }),
          { want: 409 },
        ),
        apply("one", "things/a", thing("a", { set: ["b"] }), { want: 200 }),
        apply("two", "things/a", thing("a", { n: 8 }), { want: 200 }),
      ],
    },
    {
      name: "rejects a duplicate key in a custom list",
      given: installDefinition(thingDefinition(LISTS)),
      steps: [
        apply("one", "things/a", thing("a", { map: [{ k: "x" }, { k: "x" }] }), { want: 500 }),
        apply("one", "things/a", thing("a", { set: ["x", "x"] }), { want: 500 }),
        create("things", thing("a", { map: [{ k: "x" }, { k: "x" }], set: ["x", "x"] }), { want: 422 }),
      ],
    },
    {
      name: "rejects a type that violates the schema",
      given: installDefinition(thingDefinition(LISTS)),
      steps: [
        apply("one", "things/a", thing("a", { n: "seven" }), { want: 500 }),
        apply("one", "things/a", thing("a", { unknown: "seven" }), { want: 500 }),
        apply("one", "deployments/web", deployment("web", { replicas: "two" }), { want: 500 }),
      ],
    },
    {
      name: "a dry run returns the result without storing it",
      steps: [
        apply("one", "configmaps/a?dryRun=All", data({ x: "1" }), { want: 201 }),
        get("configmaps/a", { want: 404 }),
      ],
    },
    {
      name: "applies to an object that is being deleted",
      given: [create("configmaps", data({}, { finalizers: ["example.test/stay"] })), remove("configmaps/a")],
      steps: [
        apply("one", "configmaps/a", data({ x: "1" }), { want: 200 }),
        apply("one", "configmaps/a", data({ x: "1" }, { finalizers: ["example.test/more"] }), { want: 422 }),
      ],
    },
    {
      name: "merges labels, annotations, finalizers and owners by key",
      steps: [
        apply(
          "one",
          "configmaps/a",
          configMap("a", undefined, {
            labels: { a: "1" },
            annotations: { a: "1" },
            finalizers: ["example.test/a"],
            ownerReferences: [
              { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "11111111-1111-1111-1111-111111111111" },
            ],
          }),
        ),
        apply(
          "two",
          "configmaps/a",
          configMap("a", undefined, {
            labels: { b: "1" },
            annotations: { b: "1" },
            finalizers: ["example.test/b"],
            ownerReferences: [
              { apiVersion: "v1", kind: "ConfigMap", name: "p", uid: "22222222-2222-2222-2222-222222222222" },
            ],
          }),
        ),
        apply("one", "configmaps/a", configMap("a")),
      ],
    },
    {
      name: "applies a custom status by its schema",
      given: installDefinition({
        ...thingDefinition({}, {}),
        spec: {
          ...(thingDefinition({}) as { spec: JsonObject }).spec,
          versions: [
            {
              name: "v1",
              served: true,
              storage: true,
              subresources: { status: {} },
              ...schemaOf(
                { type: "object", properties: { n: { type: "integer" } } },
                { type: "object", properties: { ready: { type: "boolean" } } },
              ),
            },
          ],
        },
      }),
      steps: [
        apply("one", "things/a", thing("a", { n: 1 }, { status: { ready: true } }), { want: 201 }),
        apply("two", "things/a/status", thing("a", { n: 2 }, { status: { ready: true } })),
        apply("one", "things/a/status", thing("a", {}, { status: { ready: false } }), { want: 409 }),
      ],
    },
  ],
};
