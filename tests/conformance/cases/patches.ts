import type { JsonValue } from "@oaas/kube-core";
import type { Case, Subject } from "../src/case.ts";
import {
  ANY_OBJECT,
  configMap,
  create,
  installDefinition,
  deployment,
  get,
  jsonPatch,
  mergePatch,
  service,
  strategicMergePatch,
  thing,
  thingDefinition,
} from "../src/case-steps.ts";

const A = create("configmaps", configMap("a", { x: "1", y: "2" }, { labels: { l: "1" } }));
const WEB = create(
  "deployments",
  deployment(
    "web",
    {},
    {
      env: [
        { name: "A", value: "1" },
        { name: "B", value: "2" },
      ],
      ports: [{ containerPort: 80, name: "http" }],
      args: ["a", "b"],
    },
  ),
);
const CONTAINERS = "spec.template.spec.containers";

/** One strategic merge patch of a Deployment and its result. */
function strategicPatchCase(
  name: string,
  patch: JsonValue,
  want?: number,
  show: readonly string[] = [CONTAINERS],
): Case {
  const step = strategicMergePatch("deployments/web", patch);
  return {
    name: `strategic: ${name}`,
    given: [WEB],
    steps: [want === undefined ? { ...step, show } : { ...step, want }],
  };
}

function container(members: Record<string, JsonValue>): JsonValue {
  return { spec: { template: { spec: { containers: [{ name: "main", ...members }] } } } };
}

/** One JSON patch of a ConfigMap. */
function jsonPatchCase(name: string, patch: JsonValue, want?: number): Case {
  const step = jsonPatch("configmaps/a", patch);
  return { name: `json: ${name}`, given: [A], steps: [want === undefined ? step : { ...step, want }] };
}

export const patches: Subject = {
  subject: "patches",
  needs: "api",
  cases: [
    jsonPatchCase("add, replace and remove", [
      { op: "add", path: "/data/z", value: "3" },
      { op: "replace", path: "/data/x", value: "9" },
      { op: "remove", path: "/data/y" },
    ]),
    jsonPatchCase("continues after a successful test", [
      { op: "test", path: "/data/x", value: "1" },
      { op: "replace", path: "/data/x", value: "2" },
    ]),
    jsonPatchCase(
      "rejects the whole patch when a test fails",
      [
        { op: "replace", path: "/data/y", value: "9" },
        { op: "test", path: "/data/x", value: "0" },
      ],
      422,
    ),
    jsonPatchCase("rejects remove of a missing member", [{ op: "remove", path: "/data/none" }], 422),
    jsonPatchCase("replace of a missing member adds it", [{ op: "replace", path: "/data/none", value: "1" }]),
    jsonPatchCase(
      "rejects add below a missing member",
      [{ op: "add", path: "/metadata/annotations/a", value: "1" }],
      422,
    ),
    jsonPatchCase("copy and move", [
      { op: "copy", from: "/data/x", path: "/data/copied" },
      { op: "move", from: "/data/y", path: "/data/moved" },
    ]),
    jsonPatchCase("escaped keys", [{ op: "add", path: "/metadata/labels/example.test~1a", value: "1" }]),
    jsonPatchCase("rejects an unknown operation", [{ op: "frobnicate", path: "/data/x" }], 422),
    jsonPatchCase("rejects a patch that is not a list", { op: "add" }, 400),
    jsonPatchCase("an empty patch changes nothing", []),
    {
      name: "json: rejects a value of the wrong type",
      given: [A],
      // The message contains the whole patched object as text.
      steps: [
        jsonPatch("configmaps/a", [{ op: "add", path: "/data/z", value: 3 }], {
          want: 422,
          show: ["reason", "details.causes[*].field"],
        }),
      ],
    },
    {
      name: "json: tests the current version",
      steps: [
        { ...A, save: { rv: "metadata.resourceVersion" } },
        jsonPatch("configmaps/a", [
          { op: "test", path: "/metadata/resourceVersion", value: "{rv}" },
          { op: "add", path: "/data/q", value: "1" },
        ]),
        jsonPatch(
          "configmaps/a",
          [
            { op: "test", path: "/metadata/resourceVersion", value: "{rv}" },
            { op: "add", path: "/data/q", value: "2" },
          ],
          { want: 422 },
        ),
      ],
    },
    {
      name: "merge: sets members, null removes, lists are replaced",
      given: [A],
      steps: [
        mergePatch(
          "configmaps/a",
          { data: { x: null, z: "3" }, metadata: { labels: { m: "2" } } },
          {
            want: [200, { data: { y: "2", z: "3" } }],
          },
        ),
      ],
    },
    {
      name: "merge: null removes a whole map",
      given: [A],
      steps: [mergePatch("configmaps/a", { data: null })],
    },
    {
      name: "merge: an empty patch changes nothing",
      given: [A],
      steps: [{ ...A, want: 409, show: [] }, mergePatch("configmaps/a", {}), get("configmaps/a")],
    },
    {
      name: "merge: a version in the patch is a precondition",
      steps: [
        { ...A, save: { rv: "metadata.resourceVersion" } },
        mergePatch("configmaps/a", { metadata: { resourceVersion: "{rv}" }, data: { x: "2" } }),
        mergePatch("configmaps/a", { metadata: { resourceVersion: "{rv}" }, data: { x: "3" } }, { want: 409 }),
      ],
    },
    {
      name: "merge: returns 404 for a missing object",
      steps: [mergePatch("configmaps/none", { data: { x: "1" } }, { want: 404 })],
    },
    {
      name: "merge: rejects a changed name",
      given: [A],
      steps: [mergePatch("configmaps/a", { metadata: { name: "b" } }, { want: 400 })],
    },
    {
      name: "merge: rejects a changed namespace",
      given: [A],
      steps: [mergePatch("configmaps/a", { metadata: { namespace: "other" } }, { want: 400 })],
    },
    {
      name: "merge: rejects another uid",
      given: [A],
      steps: [mergePatch("configmaps/a", { metadata: { uid: "00000000-0000-0000-0000-000000000000" } }, { want: 422 })],
    },
    {
      name: "merge: rejects invalid JSON and values that are not objects",
      given: [A],
      steps: [
        mergePatch("configmaps/a", "{nope", { want: 400 }),
        mergePatch("configmaps/a", "[]", { want: 400 }),
        mergePatch("configmaps/a", "7", { want: 400 }),
        mergePatch("configmaps/a", "null", { want: 400 }),
      ],
    },
    {
      name: "merge: replaces a list of a built-in kind",
      given: [WEB],
      steps: [{ ...mergePatch("deployments/web", container({ image: "example.test/web:2" })), show: [CONTAINERS] }],
    },
    {
      name: "merge: ignores server-owned fields",
      given: [A],
      steps: [
        mergePatch("configmaps/a", { metadata: { creationTimestamp: null, generation: 9, managedFields: null } }),
      ],
    },
    strategicPatchCase("merges a container by name", container({ image: "example.test/web:2" })),
    strategicPatchCase("puts a new container first", {
      spec: { template: { spec: { containers: [{ name: "side", image: "example.test/side:1" }] } } },
    }),
    strategicPatchCase(
      "merges env by name",
      container({
        env: [
          { name: "B", value: "9" },
          { name: "C", value: "3" },
        ],
      }),
    ),
    strategicPatchCase("$patch: delete removes an element", container({ env: [{ name: "A", $patch: "delete" }] })),
    strategicPatchCase(
      "$patch: replace replaces a list",
      container({ env: [{ $patch: "replace" }, { name: "Z", value: "1" }] }),
    ),
    strategicPatchCase("replaces lists without a merge key", container({ args: ["c"] })),
    strategicPatchCase(
      "$setElementOrder sets the order",
      container({
        env: [{ name: "C", value: "3" }],
        "$setElementOrder/env": [{ name: "C" }, { name: "B" }, { name: "A" }],
      }),
    ),
    strategicPatchCase(
      "$patch: replace replaces a map",
      {
        metadata: { labels: { $patch: "replace", only: "1" } },
      },
      undefined,
      ["metadata.labels"],
    ),
    strategicPatchCase(
      "$retainKeys keeps only the listed keys",
      {
        spec: { strategy: { $retainKeys: ["type"], type: "Recreate", rollingUpdate: null } },
      },
      undefined,
      ["spec.strategy"],
    ),
    strategicPatchCase("null removes a member", {
      spec: { template: { spec: { containers: [{ name: "main", env: null }] } } },
    }),
    strategicPatchCase(
      "rejects an element without its merge key",
      { spec: { template: { spec: { containers: [{ image: "x" }] } } } },
      500,
    ),
    strategicPatchCase("rejects an unknown directive", { spec: { $patch: "frobnicate" } }, 500),
    strategicPatchCase("rejects a string instead of a number", { spec: { replicas: "two" } }, 422),
    {
      name: "strategic: merges ports of a Service by port",
      given: [
        create(
          "services",
          service("web", {
            ports: [
              { port: 80, name: "http" },
              { port: 443, name: "https" },
            ],
          }),
        ),
      ],
      steps: [
        {
          ...strategicMergePatch("services/web", { spec: { ports: [{ port: 80, targetPort: 8080 }] } }),
          show: ["spec.ports"],
        },
      ],
    },
    {
      name: "strategic: merges finalizers and owners, and $deleteFromPrimitiveList removes them",
      given: [create("configmaps", configMap("a", {}, { finalizers: ["example.test/a", "example.test/b"] }))],
      steps: [
        {
          ...strategicMergePatch("configmaps/a", { metadata: { finalizers: ["example.test/c"] } }),
          show: ["metadata.finalizers"],
        },
        {
          ...strategicMergePatch("configmaps/a", {
            metadata: { "$deleteFromPrimitiveList/finalizers": ["example.test/a"] },
          }),
          show: ["metadata.finalizers"],
        },
        mergePatch("configmaps/a", { metadata: { finalizers: null } }, { show: ["metadata.finalizers"] }),
      ],
    },
    {
      name: "strategic: is rejected for custom kinds",
      given: [...installDefinition(thingDefinition(ANY_OBJECT)), create("things", thing("a", { x: 1 }))],
      steps: [strategicMergePatch("things/a", { spec: { x: 2 } }, { want: 415 })],
    },
    {
      name: "merge and JSON patches of a custom kind",
      given: [...installDefinition(thingDefinition(ANY_OBJECT)), create("things", thing("a", { x: 1, list: [1, 2] }))],
      steps: [
        mergePatch("things/a", { spec: { x: null, list: [3] } }),
        jsonPatch("things/a", [
          { op: "add", path: "/spec/list/0", value: 9 },
          { op: "add", path: "/spec/list/-", value: 10 },
        ]),
      ],
    },
    {
      name: "json: test treats a missing member as null",
      given: [A],
      steps: [
        jsonPatch("configmaps/a", [{ op: "test", path: "/data/none", value: null }]),
        jsonPatch("configmaps/a", [{ op: "test", path: "/data/none/deeper", value: null }], { want: 422 }),
        jsonPatch("configmaps/a", [{ op: "test", path: "/data/none", value: "x" }], { want: 422 }),
        jsonPatch("configmaps/a", [{ op: "copy", from: "/data/none/0", path: "/data/y" }], { want: 422 }),
        jsonPatch("configmaps/a", [{ op: "copy", from: "/data", path: "/data/y" }], { want: 422 }),
      ],
    },
    {
      name: "rejects metadata of a wrong type in a patch of a custom kind",
      given: [...installDefinition(thingDefinition(ANY_OBJECT)), create("things", thing("a", {}))],
      steps: [
        mergePatch("things/a", { metadata: { labels: ["x"] } }, { want: 422 }),
        jsonPatch("things/a", [{ op: "add", path: "/metadata/labels", value: ["x"] }], { want: 422 }),
      ],
    },
    {
      name: "rejects a content type that is not a patch",
      given: [A],
      steps: [
        mergePatch("configmaps/a", {}, { type: "application/json", want: 415 }),
        mergePatch("configmaps/a", {}, { type: "text/plain", want: 415 }),
      ],
    },
  ],
};
