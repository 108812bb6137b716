import type { JsonValue } from "@oaas/kube-core";
import type { Case, Subject } from "../src/case.ts";
import {
  ANY,
  configMap,
  create,
  defined,
  deployment,
  get,
  jsonPatch,
  merge,
  service,
  strategic,
  thing,
  things,
} from "../src/words.ts";

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

/** One strategic merge patch of a Deployment, and what it leaves. */
function strategically(name: string, patch: JsonValue, want?: number, show: readonly string[] = [CONTAINERS]): Case {
  const step = strategic("deployments/web", patch);
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
function json(name: string, patch: JsonValue, want?: number): Case {
  const step = jsonPatch("configmaps/a", patch);
  return { name: `json: ${name}`, given: [A], steps: [want === undefined ? step : { ...step, want }] };
}

export const patches: Subject = {
  subject: "patches",
  needs: "api",
  cases: [
    json("add, replace and remove", [
      { op: "add", path: "/data/z", value: "3" },
      { op: "replace", path: "/data/x", value: "9" },
      { op: "remove", path: "/data/y" },
    ]),
    json("a test that holds lets the rest through", [
      { op: "test", path: "/data/x", value: "1" },
      { op: "replace", path: "/data/x", value: "2" },
    ]),
    json(
      "a test that fails refuses all",
      [
        { op: "replace", path: "/data/y", value: "9" },
        { op: "test", path: "/data/x", value: "0" },
      ],
      422,
    ),
    json("removing what is not there", [{ op: "remove", path: "/data/none" }], 422),
    json("replacing what is not there adds it", [{ op: "replace", path: "/data/none", value: "1" }]),
    json("adding below what is not there", [{ op: "add", path: "/metadata/annotations/a", value: "1" }], 422),
    json("copy and move", [
      { op: "copy", from: "/data/x", path: "/data/copied" },
      { op: "move", from: "/data/y", path: "/data/moved" },
    ]),
    json("escaped keys", [{ op: "add", path: "/metadata/labels/example.test~1a", value: "1" }]),
    json("an operation that is none", [{ op: "frobnicate", path: "/data/x" }], 422),
    json("no list at all", { op: "add" }, 400),
    json("an empty patch changes nothing", []),
    {
      name: "json: a value of the wrong type",
      given: [A],
      // The message has the whole patched object as text.
      steps: [
        jsonPatch("configmaps/a", [{ op: "add", path: "/data/z", value: 3 }], {
          want: 422,
          show: ["reason", "details.causes[*].field"],
        }),
      ],
    },
    {
      name: "json: the present version can be tested",
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
      name: "merge: members are set, null takes away, lists are replaced",
      given: [A],
      steps: [
        merge(
          "configmaps/a",
          { data: { x: null, z: "3" }, metadata: { labels: { m: "2" } } },
          {
            want: [200, { data: { y: "2", z: "3" } }],
          },
        ),
      ],
    },
    {
      name: "merge: the whole map can be taken away",
      given: [A],
      steps: [merge("configmaps/a", { data: null })],
    },
    {
      name: "merge: an empty patch changes nothing",
      given: [A],
      steps: [{ ...A, want: 409, show: [] }, merge("configmaps/a", {}), get("configmaps/a")],
    },
    {
      name: "merge: a version in the patch is a precondition",
      steps: [
        { ...A, save: { rv: "metadata.resourceVersion" } },
        merge("configmaps/a", { metadata: { resourceVersion: "{rv}" }, data: { x: "2" } }),
        merge("configmaps/a", { metadata: { resourceVersion: "{rv}" }, data: { x: "3" } }, { want: 409 }),
      ],
    },
    {
      name: "merge: of what is not there",
      steps: [merge("configmaps/none", { data: { x: "1" } }, { want: 404 })],
    },
    {
      name: "merge: the name cannot change",
      given: [A],
      steps: [merge("configmaps/a", { metadata: { name: "b" } }, { want: 400 })],
    },
    {
      name: "merge: the namespace cannot change",
      given: [A],
      steps: [merge("configmaps/a", { metadata: { namespace: "other" } }, { want: 400 })],
    },
    {
      name: "merge: a uid of another",
      given: [A],
      steps: [merge("configmaps/a", { metadata: { uid: "00000000-0000-0000-0000-000000000000" } }, { want: 422 })],
    },
    {
      name: "merge: what is no JSON, and what is no object",
      given: [A],
      steps: [
        merge("configmaps/a", "{nope", { want: 400 }),
        merge("configmaps/a", "[]", { want: 400 }),
        merge("configmaps/a", "7", { want: 400 }),
        merge("configmaps/a", "null", { want: 400 }),
      ],
    },
    {
      name: "merge: replaces a list of a built-in kind whole",
      given: [WEB],
      steps: [{ ...merge("deployments/web", container({ image: "example.test/web:2" })), show: [CONTAINERS] }],
    },
    {
      name: "merge: the server's own fields stay",
      given: [A],
      steps: [merge("configmaps/a", { metadata: { creationTimestamp: null, generation: 9, managedFields: null } })],
    },
    strategically("a container is found by its name", container({ image: "example.test/web:2" })),
    strategically("a new container comes first", {
      spec: { template: { spec: { containers: [{ name: "side", image: "example.test/side:1" }] } } },
    }),
    strategically(
      "env is merged by name",
      container({
        env: [
          { name: "B", value: "9" },
          { name: "C", value: "3" },
        ],
      }),
    ),
    strategically("an element goes by $patch: delete", container({ env: [{ name: "A", $patch: "delete" }] })),
    strategically(
      "a list is replaced by $patch: replace",
      container({ env: [{ $patch: "replace" }, { name: "Z", value: "1" }] }),
    ),
    strategically("lists without a key are replaced", container({ args: ["c"] })),
    strategically(
      "$setElementOrder gives the order",
      container({
        env: [{ name: "C", value: "3" }],
        "$setElementOrder/env": [{ name: "C" }, { name: "B" }, { name: "A" }],
      }),
    ),
    strategically(
      "a map is replaced by $patch: replace",
      {
        metadata: { labels: { $patch: "replace", only: "1" } },
      },
      undefined,
      ["metadata.labels"],
    ),
    strategically(
      "$retainKeys keeps only the named",
      {
        spec: { strategy: { $retainKeys: ["type"], type: "Recreate", rollingUpdate: null } },
      },
      undefined,
      ["spec.strategy"],
    ),
    strategically("null takes away", { spec: { template: { spec: { containers: [{ name: "main", env: null }] } } } }),
    strategically(
      "an element without its key",
      { spec: { template: { spec: { containers: [{ image: "x" }] } } } },
      500,
    ),
    strategically("a directive that is none", { spec: { $patch: "frobnicate" } }, 500),
    strategically("a text where a number belongs", { spec: { replicas: "two" } }, 422),
    {
      name: "strategic: ports of a Service by port",
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
        { ...strategic("services/web", { spec: { ports: [{ port: 80, targetPort: 8080 }] } }), show: ["spec.ports"] },
      ],
    },
    {
      name: "strategic: finalizers and owners merge, and go by $deleteFromPrimitiveList",
      given: [create("configmaps", configMap("a", {}, { finalizers: ["example.test/a", "example.test/b"] }))],
      steps: [
        {
          ...strategic("configmaps/a", { metadata: { finalizers: ["example.test/c"] } }),
          show: ["metadata.finalizers"],
        },
        {
          ...strategic("configmaps/a", { metadata: { "$deleteFromPrimitiveList/finalizers": ["example.test/a"] } }),
          show: ["metadata.finalizers"],
        },
        merge("configmaps/a", { metadata: { finalizers: null } }, { show: ["metadata.finalizers"] }),
      ],
    },
    {
      name: "strategic: kinds of definitions have none",
      given: [...defined(things(ANY)), create("things", thing("a", { x: 1 }))],
      steps: [strategic("things/a", { spec: { x: 2 } }, { want: 415 })],
    },
    {
      name: "merge and json patches of a kind of a definition",
      given: [...defined(things(ANY)), create("things", thing("a", { x: 1, list: [1, 2] }))],
      steps: [
        merge("things/a", { spec: { x: null, list: [3] } }),
        jsonPatch("things/a", [
          { op: "add", path: "/spec/list/0", value: 9 },
          { op: "add", path: "/spec/list/-", value: 10 },
        ]),
      ],
    },
    {
      name: "json: what is not there is as good as null to a test",
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
      name: "metadata of a wrong type in a patch of a kind of a definition",
      given: [...defined(things(ANY)), create("things", thing("a", {}))],
      steps: [
        merge("things/a", { metadata: { labels: ["x"] } }, { want: 422 }),
        jsonPatch("things/a", [{ op: "add", path: "/metadata/labels", value: ["x"] }], { want: 422 }),
      ],
    },
    {
      name: "a content type that is no patch",
      given: [A],
      steps: [
        merge("configmaps/a", {}, { type: "application/json", want: 415 }),
        merge("configmaps/a", {}, { type: "text/plain", want: 415 }),
      ],
    },
  ],
};
