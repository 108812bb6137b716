import type { Subject } from "../src/case.ts";
import {
  ANY_OBJECT,
  configMap,
  create,
  installDefinition,
  customDefinition,
  get,
  schemaOf,
  thing,
  thingDefinition,
  waitFor,
} from "../src/case-steps.ts";

const KINDS_WE_SERVE = [
  "namespaces",
  "nodes",
  "pods",
  "services",
  "configmaps",
  "secrets",
  "serviceaccounts",
  "persistentvolumeclaims",
  "events",
];
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const NO_OBJECT = ["columnDefinitions", "rows[*].cells"];
const SHAPE = [
  "kind",
  "columnDefinitions[*].name",
  "columnDefinitions[*].type",
  "columnDefinitions[*].priority",
  "columnDefinitions[*].format",
];

/** Discovery of the core kinds that both servers have. */
function discoveryCase(resource: string): Subject["cases"][number] {
  return {
    name: `discovery of ${resource}`,
    steps: [{ do: "GET /api/v1", show: [`resources[?${resource}]`] }],
  };
}

export const discovery: Subject = {
  subject: "discovery",
  needs: "api",
  cases: [
    ...KINDS_WE_SERVE.map(discoveryCase),
    ...[
      "apps/v1",
      "batch/v1",
      "autoscaling/v2",
      "policy/v1",
      "networking.k8s.io/v1",
      "coordination.k8s.io/v1",
      "discovery.k8s.io/v1",
      "rbac.authorization.k8s.io/v1",
      "apiextensions.k8s.io/v1",
    ].map((version) => ({
      name: `discovery of ${version}`,
      steps: [get(`/apis/${version}`, { show: ["kind", "groupVersion"] })],
    })),
    {
      name: "discovery of a custom kind",
      given: installDefinition(
        thingDefinition(
          ANY_OBJECT,
          {
            ...schemaOf({ type: "object", properties: { replicas: { type: "integer" } } }),
            subresources: {
              status: {},
              scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
            },
          },
          { names: { plural: "things", singular: "thing", kind: "Thing", shortNames: ["th"], categories: ["all"] } },
        ),
      ),
      steps: [
        waitFor("/apis/{ns}.test/v1", {}, { show: ["groupVersion", "resources"] }),
        get("/apis/{ns}.test", { want: [200, { kind: "APIGroup" }] }),
        get("/apis/{ns}.test/v2", { want: 404 }),
      ],
    },
    {
      name: "lists the preferred version of a group first",
      given: installDefinition(
        customDefinition({
          versions: ["v1beta1", "v2alpha1", "v1", "v2", "v10", "foo1"].map((name) => ({
            name,
            served: true,
            storage: name === "v1",
            ...schemaOf(ANY_OBJECT),
          })),
        }),
      ),
      steps: [
        waitFor(
          "/apis/{ns}.test",
          { versions: [{ version: "foo1" }] },
          { show: ["versions[*].version", "preferredVersion"] },
        ),
      ],
    },
    {
      name: "lists the groups",
      steps: [get("/apis", { show: ["kind", "apiVersion", "groups[0]"] }), get("/api", { show: ["kind", "versions"] })],
    },
    {
      name: "aggregated discovery",
      steps: [
        get("/apis", {
          accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
          show: ["kind", "apiVersion"],
        }),
        get("/api", {
          accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
          show: ["kind", "apiVersion"],
        }),
      ],
    },
    {
      name: "returns 404 for unknown groups and versions",
      steps: [
        get("/apis/none.test", { want: 404 }),
        get("/apis/none.test/v1", { want: 404 }),
        get("/apis/apps/v9", { want: 404 }),
        get("/api/v2", { want: 404 }),
      ],
    },
    {
      name: "version and health endpoints",
      steps: [
        get("/version", { show: ["major", "minor", "gitVersion"] }),
        get("/healthz", { accept: "*/*" }),
        get("/readyz", { accept: "*/*" }),
        get("/livez", { accept: "*/*" }),
        get("/nothing-here", { want: 404 }),
      ],
    },
    {
      name: "OpenAPI v3 lists its documents",
      steps: [
        get("/openapi/v3", { show: ["paths[api/v1].serverRelativeURL[x]"] }),
        get("/openapi/v3/apis/apps/v1", { show: ["openapi", "info.title"] }),
      ],
    },
    {
      name: "OpenAPI v3 has the schema of a custom kind",
      given: installDefinition(
        thingDefinition({
          type: "object",
          description: "desired state",
          required: ["n"],
          properties: { n: { type: "integer", description: "how many" } },
        }),
      ),
      steps: [
        waitFor(
          "/openapi/v3/apis/{ns}.test/v1",
          {},
          {
            show: [
              "openapi",
              "components.schemas[test.{ns}.v1.Thing].properties.spec",
              "components.schemas[test.{ns}.v1.Thing].x-kubernetes-group-version-kind",
            ],
          },
        ),
      ],
    },
    {
      name: "OpenAPI v3 has the fields of built-in kinds",
      steps: [
        get("/openapi/v3/apis/apps/v1", {
          show: [
            "components.schemas[io.k8s.api.apps.v1.DeploymentSpec].properties.replicas.type",
            "components.schemas[io.k8s.api.apps.v1.DeploymentSpec].required",
            "components.schemas[io.k8s.api.apps.v1.Deployment].x-kubernetes-group-version-kind",
            "components.schemas[io.k8s.api.core.v1.Container].required",
          ],
        }),
      ],
    },
  ],
};

export const tables: Subject = {
  subject: "tables",
  needs: "api",
  cases: [
    ...[
      "configmaps",
      "secrets",
      "pods",
      "services",
      "serviceaccounts",
      "persistentvolumeclaims",
      "deployments",
      "replicasets",
      "statefulsets",
      "jobs",
      "horizontalpodautoscalers",
      "poddisruptionbudgets",
      "networkpolicies",
      "leases",
      "endpointslices",
      "roles",
      "rolebindings",
      "events",
      "resourcequotas",
    ].map((resource) => ({
      name: `columns of ${resource}`,
      steps: [get(resource, { accept: TABLE, show: SHAPE })],
    })),
    {
      name: "rows of ConfigMaps",
      given: [create("configmaps", configMap("a", { x: "1", y: "2" })), create("configmaps", configMap("b"))],
      steps: [
        get("configmaps", {
          accept: TABLE,
          show: ["rows[*].cells[0]", "rows[*].cells[1]", "rows[*].object.kind", "rows[*].object.metadata.name"],
        }),
        get("configmaps/a", { accept: TABLE, show: ["kind", "rows[*].cells[0]"] }),
      ],
    },
    {
      name: "includeObject selects the object of a row",
      given: [create("configmaps", configMap("a", { x: "1" }))],
      steps: [
        get("configmaps?includeObject=Object", { accept: TABLE, show: ["rows[*].object.kind", "rows[*].object.data"] }),
        get("configmaps?includeObject=None", { accept: TABLE, show: ["rows[*].object"] }),
        get("configmaps?includeObject=Metadata", {
          accept: TABLE,
          show: ["rows[*].object.kind", "rows[*].object.apiVersion", "rows[*].object.data"],
        }),
        get("configmaps?includeObject=Everything", { accept: TABLE, want: 400 }),
      ],
    },
    {
      name: "additional printer columns of a custom kind",
      given: [
        ...installDefinition(
          thingDefinition(
            {
              type: "object",
              properties: {
                n: { type: "integer" },
                s: { type: "string" },
                when: { type: "string", format: "date-time" },
                l: { type: "array", items: { type: "string" } },
              },
            },
            {
              additionalPrinterColumns: [
                { name: "Count", type: "integer", jsonPath: ".spec.n", description: "how many" },
                { name: "Text", type: "string", jsonPath: ".spec.s", priority: 1 },
                { name: "List", type: "string", jsonPath: ".spec.l" },
                { name: "First", type: "string", jsonPath: ".spec.l[0]" },
                { name: "When", type: "date", jsonPath: ".spec.when" },
                { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
              ],
            },
          ),
        ),
        create("things", thing("a", { n: 1, s: "x", l: ["p", "q"] })),
        create("things", thing("b", {})),
      ],
      steps: [get("things", { accept: TABLE, show: NO_OBJECT })],
    },
    {
      name: "default columns of a custom kind",
      given: [...installDefinition(thingDefinition(ANY_OBJECT)), create("things", thing("a", {}))],
      steps: [get("things", { accept: TABLE, show: ["columnDefinitions", "rows[*].cells[0]"] })],
    },
    {
      name: "ignores the table request for a Status",
      steps: [get("configmaps/none", { accept: TABLE, want: 404 })],
    },
    {
      name: "rejects a table without a JSON alternative",
      steps: [
        get("configmaps", { accept: "application/json;as=Table;v=v1;g=meta.k8s.io", show: ["kind"] }),
        get("configmaps", { accept: "application/json;as=Table;v=v9;g=meta.k8s.io", want: 406 }),
        get("configmaps", { accept: "application/json;as=Frob;v=v1;g=meta.k8s.io", want: 406 }),
      ],
    },
    {
      name: "pages as tables",
      given: [
        create("configmaps", configMap("a")),
        create("configmaps", configMap("b")),
        create("configmaps", configMap("c")),
      ],
      steps: [get("configmaps?limit=2", { accept: TABLE, show: ["metadata", "rows[*].cells[0]"] })],
    },
  ],
};
