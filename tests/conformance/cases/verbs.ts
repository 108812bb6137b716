import type { JsonObject } from "@oaas/kube-core";
import type { Subject } from "../src/case.ts";
import { configMap, create, deployment, get, pod, remove, replace, service } from "../src/case-steps.ts";

function job(name: string): JsonObject {
  const spec = { restartPolicy: "Never", containers: [{ name: "main", image: "example.test/web:1" }] };
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec: { template: { spec } } };
}

export const verbs: Subject = {
  subject: "verbs",
  needs: "api",
  cases: [
    {
      name: "returns the created object and reads it back unchanged",
      steps: [
        create("configmaps", configMap("a", { x: "1" }), { want: [201, { data: { x: "1" } }] }),
        get("configmaps/a", { want: [200, { data: { x: "1" } }] }),
      ],
    },
    {
      name: "rejects a duplicate name",
      given: [create("configmaps", configMap("a"))],
      steps: [create("configmaps", configMap("a"), { want: [409, { reason: "AlreadyExists" }] })],
    },
    {
      name: "returns 404 for a missing object",
      steps: [get("configmaps/none", { want: [404, { reason: "NotFound" }] })],
    },
    {
      name: "returns 404 for a missing object of a named group",
      steps: [get("deployments/none", { want: [404, { details: { group: "apps", kind: "deployments" } }] })],
    },
    {
      name: "lists nothing in a missing namespace",
      steps: [
        get("/api/v1/namespaces/none-such/configmaps", { want: [200, { items: [] }] }),
        get("/api/v1/namespaces/none-such/configmaps/a", { want: 404 }),
      ],
    },
    {
      name: "rejects create in a missing namespace",
      steps: [
        create("/api/v1/namespaces/none-such/configmaps", configMap("a"), { want: [404, { reason: "NotFound" }] }),
      ],
    },
    {
      name: "requires the namespace of the path",
      steps: [create("configmaps", configMap("a", {}, { namespace: "other" }), { want: 400 })],
    },
    {
      name: "rejects a new object with a resource version",
      steps: [create("configmaps", configMap("a", {}, { resourceVersion: "5" }), { want: 500 })],
    },
    {
      name: "ignores uid, times and generation from a client",
      steps: [
        create(
          "configmaps",
          configMap("a", {}, { uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z", generation: 7, selfLink: "/x" }),
        ),
      ],
    },
    {
      name: "an update replaces everything except server-owned fields",
      given: [create("configmaps", configMap("a", { x: "1", y: "2" }, { labels: { l: "1" } }))],
      steps: [replace("configmaps/a", configMap("a", { x: "3" })), get("configmaps/a")],
    },
    {
      name: "an update without changes keeps the version",
      steps: [
        create("configmaps", configMap("a", { x: "1" }), { save: { rv: "metadata.resourceVersion" } }),
        replace("configmaps/a", configMap("a", { x: "1" })),
        get("configmaps/a"),
      ],
    },
    {
      name: "accepts an update with the current version and rejects an outdated one",
      steps: [
        create("configmaps", configMap("a", { x: "1" }), { save: { rv: "metadata.resourceVersion" } }),
        replace("configmaps/a", configMap("a", { x: "2" }, { resourceVersion: "{rv}" })),
        replace("configmaps/a", configMap("a", { x: "3" }, { resourceVersion: "{rv}" }), {
          want: [409, { reason: "Conflict" }],
        }),
      ],
    },
    {
      name: "an update requires the name of the path",
      given: [create("configmaps", configMap("a"))],
      steps: [replace("configmaps/a", configMap("b"), { want: 400 })],
    },
    {
      name: "an update of a missing object returns 404",
      steps: [replace("configmaps/a", configMap("a"), { want: 404 })],
    },
    {
      name: "an update of a missing object with a version returns 404",
      steps: [replace("configmaps/a", configMap("a", {}, { resourceVersion: "1" }), { want: 404 })],
    },
    {
      name: "an update creates a missing lease",
      steps: [
        replace(
          "leases/l",
          {
            apiVersion: "coordination.k8s.io/v1",
            kind: "Lease",
            metadata: { name: "l" },
            spec: { holderIdentity: "me" },
          },
          { want: 201 },
        ),
      ],
    },
    {
      name: "an update with another uid is a conflict",
      given: [create("configmaps", configMap("a"))],
      steps: [
        replace("configmaps/a", configMap("a", {}, { uid: "00000000-0000-0000-0000-000000000000" }), { want: 409 }),
      ],
    },
    {
      name: "rejects a resource version that is not a number",
      given: [create("configmaps", configMap("a"))],
      steps: [replace("configmaps/a", configMap("a", {}, { resourceVersion: "abc" }), { want: 500 })],
    },
    {
      name: "lists a namespace in the order of names",
      given: [
        create("configmaps", configMap("b")),
        create("configmaps", configMap("a")),
        create("configmaps", configMap("c")),
      ],
      steps: [get("configmaps", { want: [200, { kind: "ConfigMapList" }] })],
    },
    {
      name: "returns an empty list",
      steps: [get("secrets", { want: [200, { items: [] }] })],
    },
    {
      name: "label selectors: equality, inequality, sets, presence",
      given: [
        create("configmaps", configMap("a", {}, { labels: { tier: "1", app: "x" } })),
        create("configmaps", configMap("b", {}, { labels: { tier: "2", app: "x" } })),
        create("configmaps", configMap("c", {}, { labels: { tier: "2" } })),
        create("configmaps", configMap("d")),
      ],
      steps: [
        ["tier=2", ["b", "c"]],
        ["tier!=2", ["a", "d"]],
        ["tier in (1,2),app", ["a", "b"]],
        ["tier notin (1)", ["b", "c", "d"]],
        ["!app", ["c", "d"]],
        ["tier%3E1", ["b", "c"]],
      ].map(([selector, names]) => ({
        ...get(`configmaps?labelSelector=${String(selector).replaceAll(" ", "%20")}`),
        show: ["items[*].metadata.name"],
        want: [200, { items: (names as string[]).map((name) => ({ metadata: { name } })) }] as const,
      })),
    },
    {
      name: "rejects an invalid label selector",
      steps: [
        get("configmaps?labelSelector=a%3D%3D%3Db", { want: 400 }),
        get("configmaps?labelSelector=a%20in%20b", { want: 400 }),
        get("configmaps?labelSelector=-bad-%3Dx", { want: 400 }),
      ],
    },
    {
      name: "field selectors on names and supported fields",
      given: [
        create("configmaps", configMap("a")),
        create("configmaps", configMap("b")),
        create("pods", pod("p1", { nodeName: "n1" })),
        create("pods", pod("p2", { nodeName: "n2" })),
      ],
      steps: [
        { ...get("configmaps?fieldSelector=metadata.name%3Da"), show: ["items[*].metadata.name"] },
        { ...get("configmaps?fieldSelector=metadata.name!%3Da"), show: ["items[*].metadata.name"] },
        { ...get("configmaps?fieldSelector=metadata.namespace%3D{ns}"), show: ["items[*].metadata.name"] },
        { ...get("pods?fieldSelector=spec.nodeName%3Dn2"), show: ["items[*].metadata.name"] },
        { ...get("pods?fieldSelector=status.phase%3DPending,spec.nodeName!%3Dn2"), show: ["items[*].metadata.name"] },
        {
          ...get("/api/v1/pods?fieldSelector=spec.nodeName%3Dn2,metadata.namespace%3D{ns}"),
          show: ["items[*].metadata.name"],
        },
      ],
    },
    {
      name: "selects objects of every kind by name",
      given: [create("jobs", job("a")), create("jobs", job("b")), create("pods", pod("a")), create("pods", pod("b"))],
      steps: [
        get("jobs?fieldSelector=metadata.name%3Da", { show: ["items[*].metadata.name"] }),
        get("pods?fieldSelector=metadata.name!%3Da,metadata.namespace%3D{ns}", { show: ["items[*].metadata.name"] }),
        get("events?fieldSelector=metadata.name%3Da", { show: ["items[*].metadata.name"] }),
      ],
    },
    {
      name: "rejects a field selector on an unsupported field",
      steps: [
        get("configmaps?fieldSelector=data.x%3D1", { want: 400 }),
        get("pods?fieldSelector=spec.hostname%3D1", { want: 400 }),
        get("configmaps?fieldSelector=%3D1", { want: 400 }),
      ],
    },
    {
      name: "selects secrets by type",
      given: [
        create("secrets", { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { a: "b" } }),
        create("secrets", { apiVersion: "v1", kind: "Secret", metadata: { name: "t" }, type: "example.test/x" }),
      ],
      steps: [{ ...get("secrets?fieldSelector=type%3DOpaque"), show: ["items[*].metadata.name", "items[*].data"] }],
    },
    {
      name: "fills in defaults of a Deployment",
      steps: [create("deployments", deployment("web"), { want: [201, { spec: { replicas: 1 } }] })],
    },
    {
      name: "fills in defaults of a Pod",
      steps: [
        create(
          "pods",
          pod("p", {
            containers: [
              {
                name: "main",
                image: "example.test/web",
                ports: [{ containerPort: 80 }],
                readinessProbe: { httpGet: { port: 80 } },
                resources: { limits: { cpu: "1" } },
              },
            ],
            volumes: [{ name: "v", configMap: { name: "c" } }, { name: "e" }],
          }),
        ),
      ],
    },
    {
      name: "allocates an address for a Service unless it is headless",
      steps: [
        create("services", service("web")),
        create("services", service("head", { clusterIP: "None" }), { want: [201, { spec: { clusterIP: "None" } }] }),
        create("services", { ...service("ext"), spec: { type: "ExternalName", externalName: "a.example.test" } }),
      ],
    },
    {
      name: "keeps the address of a Service when an update omits it",
      given: [create("services", service("web"))],
      steps: [
        replace("services/web", service("web", { ports: [{ port: 81, name: "http" }] })),
        replace("services/web", service("web", { clusterIP: "10.0.0.77" }), { want: 422 }),
      ],
    },
    {
      name: "converts stringData of a Secret to data",
      steps: [
        create("secrets", {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "s" },
          data: { b: "Yg==" },
          stringData: { a: "plain" },
        }),
        get("secrets/s", { want: [200, { data: { a: "cGxhaW4=", b: "Yg==" }, type: "Opaque" }] }),
      ],
    },
    {
      name: "rejects changes of an immutable ConfigMap",
      given: [create("configmaps", { ...configMap("a", { x: "1" }), immutable: true })],
      steps: [
        replace("configmaps/a", { ...configMap("a", { x: "2" }), immutable: true }, { want: 422 }),
        replace("configmaps/a", configMap("a", { x: "1" }), { want: 422 }),
        replace("configmaps/a", { ...configMap("a", { x: "1" }, { labels: { l: "1" } }), immutable: true }),
      ],
    },
    {
      name: "deletecollection deletes selected objects and returns them",
      given: [
        create("configmaps", configMap("a", {}, { labels: { l: "1" } })),
        create("configmaps", configMap("b", {}, { labels: { l: "2" } })),
        create("configmaps", configMap("c", {}, { labels: { l: "1" } })),
      ],
      steps: [remove("configmaps?labelSelector=l%3D1"), get("configmaps")],
    },
    {
      name: "deletecollection without matches deletes nothing",
      given: [create("configmaps", configMap("a"))],
      steps: [remove("configmaps?labelSelector=l%3D9"), { ...get("configmaps"), show: ["items[*].metadata.name"] }],
    },
    {
      name: "lists across all namespaces",
      given: [create("configmaps", configMap("a", {}, { labels: { only: "{ns}" } }))],
      steps: [
        get("/api/v1/configmaps?labelSelector=only%3D{ns}", { want: [200, { items: [{ metadata: { name: "a" } }] }] }),
      ],
    },
    {
      name: "reads an object in each served version",
      steps: [
        create("horizontalpodautoscalers", {
          apiVersion: "autoscaling/v2",
          kind: "HorizontalPodAutoscaler",
          metadata: { name: "h" },
          spec: {
            scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
            maxReplicas: 3,
            metrics: [
              { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
            ],
          },
        }),
        get("/apis/autoscaling/v1/namespaces/{ns}/horizontalpodautoscalers/h", {
          want: [200, { apiVersion: "autoscaling/v1", spec: { targetCPUUtilizationPercentage: 50 } }],
        }),
      ],
    },
    {
      name: "requires apiVersion and kind of the path",
      steps: [
        create("configmaps", { ...configMap("a"), kind: "Secret" }, { want: 400 }),
        create("configmaps", { ...configMap("a"), apiVersion: "v2" }, { want: 400 }),
        create("deployments", { ...deployment("a"), apiVersion: "apps/v1beta1" }, { want: 400 }),
      ],
    },
    {
      name: "accepts a body without apiVersion and kind",
      steps: [create("configmaps", { metadata: { name: "a" }, data: { x: "1" } }, { want: 201 })],
    },
  ],
};
