import type { JsonObject } from "@oaas/kube-core";
import type { Subject } from "../src/case.ts";
import {
  ANY_OBJECT,
  apply,
  configMap,
  create,
  installDefinition,
  deployment,
  get,
  jsonPatch,
  mergePatch,
  replace,
  schemaOf,
  service,
  thing,
  thingDefinition,
} from "../src/case-steps.ts";

const IMAGE = "example.test/web:1";
/** Valid pod specs that cause warnings. */
const SPECS_WITH_WARNINGS: readonly JsonObject[] = [
  {
    containers: [
      { name: "a", image: IMAGE, ports: [{ containerPort: 80, name: "p" }, { containerPort: 81 }] },
      {
        name: "b",
        image: IMAGE,
        ports: [
          { containerPort: 80, name: "q" },
          { containerPort: 82, name: "p" },
        ],
      },
    ],
  },
  {
    containers: [
      {
        name: "a",
        image: IMAGE,
        env: [
          { name: "X", value: "1" },
          { name: "X", value: "$(X)2" },
          { name: "X", value: "3" },
        ],
        ports: [{ containerPort: 80, hostPort: 8080 }, { containerPort: 80, hostPort: 8081 }, { containerPort: 80 }],
      },
    ],
  },
];

function deploymentOf(name: string, spec: JsonObject): JsonObject {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

export const metadata: Subject = {
  subject: "metadata",
  needs: "api",
  cases: [
    {
      name: "warns about valid but unusual pod fields",
      steps: SPECS_WITH_WARNINGS.flatMap((spec) => [
        create("pods?dryRun=All", { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec }, { show: ["kind"] }),
        create("deployments", deploymentOf("web", spec), {
          want: spec === SPECS_WITH_WARNINGS[0] ? 201 : 409,
          show: ["kind", "reason"],
        }),
        replace("deployments/web", deploymentOf("web", spec), { show: ["kind"] }),
        mergePatch("deployments/web", { metadata: { labels: { l: "1" } } }, { show: ["kind"] }),
        mergePatch(
          "deployments/web/scale",
          { spec: { replicas: 1 + SPECS_WITH_WARNINGS.indexOf(spec) } },
          { show: ["kind"] },
        ),
      ]),
    },
    {
      name: "reports metadata errors of an update more than once",
      given: [
        create("configmaps", configMap("a")),
        create("deployments", deployment("web")),
        ...installDefinition(thingDefinition(ANY_OBJECT)),
        create("things", thing("a", {})),
      ],
      steps: ["configmaps/a", "deployments/web", "things/a"].flatMap((path) => [
        mergePatch(path, { metadata: { labels: { a: "-" }, annotations: { "-": "" } } }, { want: 422 }),
        mergePatch(path, { metadata: { finalizers: ["a/b/c"] } }, { want: 422 }),
      ]),
    },
    {
      name: "keeps empty fields of an apply until the next write",
      given: installDefinition(thingDefinition(ANY_OBJECT)),
      steps: [
        apply(
          "m",
          "things/a",
          { ...thing("a", {}), metadata: { name: "a", finalizers: [], labels: {} } },
          { want: 201 },
        ),
        apply("m", "things/a", thing("a", {})),
        mergePatch("things/a", {}),
      ],
    },
    {
      name: "generates a name from generateName",
      steps: [
        create("configmaps", { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "gen-" } }),
        create("configmaps", { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "gen-" } }),
      ],
    },
    {
      name: "prefers name to generateName",
      steps: [
        create("configmaps", configMap("given", {}, { generateName: "gen-" }), {
          want: [201, { metadata: { name: "given" } }],
        }),
      ],
    },
    {
      name: "truncates a long generateName",
      steps: [
        create(
          "configmaps",
          { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: `${"x".repeat(70)}-` } },
          {
            show: ["metadata.generateName"],
          },
        ),
        create(
          "configmaps",
          { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "Bad_" } },
          { want: 422, show: ["reason", "details.causes[*].field"] },
        ),
      ],
    },
    {
      name: "rejects an object without a name",
      steps: [
        create("configmaps", { apiVersion: "v1", kind: "ConfigMap" }, { want: 422 }),
        create("configmaps", { apiVersion: "v1", kind: "ConfigMap", metadata: {} }, { want: 422 }),
      ],
    },
    {
      name: "validates names by kind",
      steps: [
        create("configmaps", configMap("Upper"), { want: 422 }),
        create("configmaps", configMap("under_score"), { want: 422 }),
        create("configmaps", configMap("-dash"), { want: 422 }),
        create("configmaps", configMap("a".repeat(254)), { want: 422 }),
        create("configmaps", configMap("dots.are.fine")),
        create("services", service("dots.are.not"), { want: 422 }),
        create("services", service("1starts-with-a-digit"), { show: ["metadata.name", "reason", "details.causes"] }),
        create(
          "namespaces",
          { apiVersion: "v1", kind: "Namespace", metadata: { name: "dots.are.not" } },
          { want: 422 },
        ),
      ],
    },
    {
      name: "validates labels",
      steps: [
        create("configmaps", configMap("a", {}, { labels: { "bad key": "x" } }), { want: 422 }),
        create("configmaps", configMap("a", {}, { labels: { a: "bad value!" } }), { want: 422 }),
        create("configmaps", configMap("a", {}, { labels: { a: "x".repeat(64) } }), { want: 422 }),
        create("configmaps", configMap("a", {}, { labels: { "UPPER.test/a": "x" } }), { want: 422 }),
        create("configmaps", configMap("a", {}, { labels: { "example.test/a": "" } })),
      ],
    },
    {
      name: "requires labels to be strings",
      steps: [
        create("configmaps", configMap("a", {}, { labels: { a: 1 } }), { want: 400 }),
        create("configmaps", configMap("a", {}, { labels: ["a"] }), { want: 400 }),
        create("configmaps", configMap("a", {}, { labels: { a: null } })),
      ],
    },
    {
      name: "validates annotations",
      steps: [
        create("configmaps", configMap("a", {}, { annotations: { "bad key": "x" } }), { want: 422 }),
        create("configmaps", configMap("a", {}, { annotations: { a: "x".repeat(300_000) } }), {
          want: 422,
          show: ["reason", "details"],
        }),
        create("configmaps", configMap("a", {}, { annotations: { "example.test/a": "anything at all: {}" } })),
      ],
    },
    {
      name: "increments the generation of a Deployment with its spec",
      given: [create("deployments", deployment("web"))],
      steps: [
        { ...mergePatch("deployments/web", { spec: { replicas: 3 } }), show: ["metadata.generation"] },
        { ...mergePatch("deployments/web", { metadata: { labels: { a: "1" } } }), show: ["metadata.generation"] },
        {
          ...mergePatch("deployments/web/status", { status: { replicas: 3 } }),
          show: ["metadata.generation", "status"],
        },
        { ...mergePatch("deployments/web", { spec: { replicas: 3 } }), show: ["metadata.generation"] },
        { ...mergePatch("deployments/web", { metadata: { annotations: { a: "1" } } }), show: ["metadata.generation"] },
      ],
    },
    {
      name: "sets no generation on a ConfigMap",
      given: [create("configmaps", configMap("a"))],
      steps: [{ ...mergePatch("configmaps/a", { data: { x: "1" } }), show: ["metadata.generation"] }],
    },
    {
      name: "sets the generation of custom kinds, with and without status",
      given: [
        ...installDefinition(
          thingDefinition(ANY_OBJECT, { subresources: { status: {} }, ...schemaOf(ANY_OBJECT, ANY_OBJECT) }),
        ),
        create("things", thing("a", { n: 1 })),
      ],
      steps: [
        { ...mergePatch("things/a", { spec: { n: 2 } }), show: ["metadata.generation"] },
        { ...mergePatch("things/a", { metadata: { labels: { a: "1" } } }), show: ["metadata.generation"] },
        { ...mergePatch("things/a/status", { status: { n: 1 } }), show: ["metadata.generation"] },
        { ...mergePatch("things/a", { spec: { n: 2 } }), show: ["metadata.generation"] },
      ],
    },
    {
      name: "counts everything but metadata without a status subresource",
      given: [
        ...installDefinition(thingDefinition(ANY_OBJECT, schemaOf(ANY_OBJECT, ANY_OBJECT))),
        create("things", thing("a", { n: 1 })),
      ],
      steps: [
        { ...mergePatch("things/a", { status: { n: 1 } }), show: ["metadata.generation"] },
        { ...mergePatch("things/a", { metadata: { labels: { a: "1" } } }), show: ["metadata.generation"] },
      ],
    },
    {
      name: "records managed fields by manager name",
      steps: [
        create("configmaps?fieldManager=maker", configMap("a", { x: "1" }, { labels: { l: "1" } })),
        mergePatch("configmaps/a?fieldManager=patcher", { data: { y: "1" } }),
        replace("configmaps/a?fieldManager=updater", configMap("a", { x: "2", y: "1" }, { labels: { l: "1" } })),
        jsonPatch("configmaps/a?fieldManager=patcher", [{ op: "remove", path: "/metadata/labels/l" }]),
      ],
    },
    {
      name: "derives the manager from the user agent",
      steps: [
        create("configmaps", configMap("a", { x: "1" }), { headers: { "user-agent": "my-tool/1.2 (linux) extra" } }),
        mergePatch("configmaps/a", { data: { y: "1" } }, { headers: { "user-agent": "" } }),
      ],
    },
    {
      name: "limits the name of a manager",
      steps: [
        create(`configmaps?fieldManager=${"x".repeat(129)}`, configMap("a"), { want: 422 }),
        create("configmaps?fieldManager=a%0ab", configMap("a"), { want: 422 }),
        create("configmaps?fieldManager=%C3%A4", configMap("a")),
      ],
    },
    {
      name: "a dry run does everything except storing",
      steps: [
        create("configmaps?dryRun=All", configMap("a", { x: "1" })),
        get("configmaps/a", { want: 404 }),
        create("configmaps", configMap("a", { x: "1" })),
        mergePatch("configmaps/a?dryRun=All", { data: { x: "2" } }),
        replace("configmaps/a?dryRun=All", configMap("a", { x: "3" })),
        get("configmaps/a", { want: [200, { data: { x: "1" } }] }),
        create("configmaps?dryRun=All", configMap("a"), { want: 409 }),
        create("configmaps?dryRun=All", configMap("Bad"), { want: 422 }),
        create("configmaps?dryRun=Some", configMap("b"), { want: 422 }),
        create("configmaps?dryRun=", configMap("b"), { show: ["reason", "message", "metadata.name"], want: 422 }),
      ],
    },
    {
      name: "field validation: ignores, warns about or rejects unknown fields",
      steps: [
        create("configmaps?fieldValidation=Ignore", { ...configMap("a"), extra: 1 }),
        create("configmaps?fieldValidation=Warn", { ...configMap("b"), extra: 1, more: { x: 1 } }),
        create("configmaps?fieldValidation=Strict", { ...configMap("c"), extra: 1, more: { x: 1 } }, { want: 400 }),
        create("configmaps", { ...configMap("d"), extra: 1 }),
        create("configmaps?fieldValidation=Maybe", configMap("e"), { want: 422 }),
      ],
    },
    {
      name: "field validation: duplicate fields",
      steps: [
        create("configmaps?fieldValidation=Warn", '{"metadata":{"name":"a"},"data":{"x":"1","x":"2"}}'),
        create("configmaps?fieldValidation=Strict", '{"metadata":{"name":"b"},"data":{"x":"1","x":"2"}}', {
          want: 400,
        }),
        create("configmaps?fieldValidation=Strict", '{"metadata":{"name":"b"},"metadata":{"name":"c"}}', { want: 400 }),
      ],
    },
    {
      name: "field validation: nested in a Deployment",
      steps: [
        create("deployments?fieldValidation=Strict", deployment("web", { replica: 3 }, { imagePulPolicy: "Always" }), {
          want: 400,
        }),
        create("deployments?fieldValidation=Warn", deployment("web", { replica: 3 }, { imagePulPolicy: "Always" })),
      ],
    },
    {
      name: "field validation: patches",
      given: [create("deployments", deployment("web"))],
      steps: [
        mergePatch(
          "deployments/web?fieldValidation=Strict",
          { spec: { replica: 3 } },
          { want: 422, show: ["reason", "message"] },
        ),
        { ...mergePatch("deployments/web?fieldValidation=Warn", { spec: { replica: 3 } }), show: [] },
      ],
    },
    {
      name: "field validation: custom kinds",
      given: installDefinition(thingDefinition({ type: "object", properties: { n: { type: "integer" } } })),
      steps: [
        create("things?fieldValidation=Strict", { ...thing("a", { n: 1, x: 1, y: { z: 1 } }), top: 1 }, { want: 400 }),
        create("things?fieldValidation=Warn", { ...thing("a", { n: 1, x: 1 }), top: 1 }),
        create("things?fieldValidation=Ignore", thing("b", { n: 1, x: 1 })),
        create("things?fieldValidation=Strict", thing("c", { n: 1 })),
        mergePatch("things/c?fieldValidation=Strict", { spec: { x: 1 } }, { want: 422, show: ["reason", "message"] }),
      ],
    },
    {
      name: "rejects changes of immutable fields",
      given: [create("deployments", deployment("web"))],
      steps: [
        mergePatch("deployments/web", { spec: { selector: { matchLabels: { app: "other" } } } }, { want: 422 }),
        mergePatch(
          "deployments/web",
          { metadata: { creationTimestamp: "2001-01-01T00:00:00Z" } },
          { show: ["metadata.generation"] },
        ),
      ],
    },
    {
      name: "requires selector and labels of a Deployment to match",
      steps: [
        create("deployments", deployment("web", { selector: { matchLabels: { app: "other" } } }), { want: 422 }),
        create("deployments", deployment("web", { selector: {} }), { want: 422 }),
        create(
          "deployments",
          { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec: {} },
          { want: 422 },
        ),
      ],
    },
    {
      name: "returns partial metadata",
      given: [create("configmaps", configMap("a", { x: "1" }, { labels: { l: "1" } }))],
      steps: [
        get("configmaps/a", { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" }),
        get("configmaps", { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" }),
      ],
    },
    {
      name: "labels a namespace with its name",
      steps: [
        get("namespaces/{ns}", { want: [200, { metadata: { labels: { "kubernetes.io/metadata.name": "{ns}" } } }] }),
        mergePatch(
          "namespaces/{ns}",
          { metadata: { labels: { "kubernetes.io/metadata.name": null } } },
          { show: ["metadata.labels"] },
        ),
      ],
    },
  ],
};
