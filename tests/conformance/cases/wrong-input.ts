import type { Case, Subject } from "../src/case.ts";
import { configMap, create, deployment, get, mergePatch, pod, remove, replace, service } from "../src/case-steps.ts";

/** A raw body for a new ConfigMap. */
function rawBodyCase(name: string, body: string | Buffer, want: number, type?: string): Case {
  return {
    name: `bytes: ${name}`,
    steps: [{ do: "POST configmaps", body, want, ...(type === undefined ? {} : { type }) }],
  };
}

const TOO_LARGE = 3_145_729;

export const wrongInput: Subject = {
  subject: "wrong input",
  needs: "api",
  cases: [
    rawBodyCase("nothing", "", 400),
    rawBodyCase("no JSON", "{", 400),
    rawBodyCase("a number", "7", 400),
    rawBodyCase("a text", '"text"', 400),
    rawBodyCase("a list", "[]", 400),
    rawBodyCase("null", "null", 422),
    rawBodyCase("an empty object", "{}", 422),
    rawBodyCase("two objects", '{"metadata":{"name":"a"}}{"metadata":{"name":"b"}}', 400),
    rawBodyCase("trailing text", '{"metadata":{"name":"a"}} nope', 400),
    rawBodyCase("no UTF-8", Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 400),
    rawBodyCase("zero bytes", Buffer.from([0, 0, 0]), 400),
    rawBodyCase("a single quote", "{'metadata':{'name':'a'}}", 400),
    rawBodyCase("a comment", '/* x */{"metadata":{"name":"a"}}', 400),
    rawBodyCase("YAML as YAML", "metadata: {name: a}\ndata: {x: '1'}\n", 201, "application/yaml"),
    rawBodyCase("invalid YAML", "a: [", 400, "application/yaml"),
    rawBodyCase("unknown content type", "x=1", 415, "application/x-www-form-urlencoded"),
    rawBodyCase("malformed content type", "{}", 415, "nonsense"),
    rawBodyCase("JSON with a charset", '{"metadata":{"name":"a"}}', 201, "application/json; charset=utf-8"),
    {
      name: "accepts JSON without a content type",
      steps: [{ do: "POST configmaps", body: '{"metadata":{"name":"a"}}', type: "", want: 201 }],
    },
    {
      name: "a deeply nested object",
      steps: [
        create("configmaps", `${'{"metadata":'.repeat(20_000)}{}${"}".repeat(20_000)}`, {
          want: 400,
        }),
        create("configmaps", `${'{"metadata":'.repeat(9000)}{}${"}".repeat(9000)}`, { want: 422 }),
        mergePatch("configmaps/none", `${"[".repeat(20_000)}${"]".repeat(20_000)}`, { want: 404 }),
      ],
    },
    {
      name: "too large",
      steps: [
        create("configmaps", `{"metadata":{"name":"a"},"data":{"x":"${"x".repeat(TOO_LARGE)}"}}`, { want: 413 }),
        create("configmaps", configMap("a", { x: "x".repeat(1_100_000) }), { want: 422, show: ["reason", "details"] }),
      ],
    },
    {
      name: "types: data of a ConfigMap are strings",
      steps: [
        create("configmaps", { ...configMap("a"), data: { x: 1 } }, { want: 400 }),
        create("configmaps", { ...configMap("a"), data: "x" }, { want: 400 }),
        create("configmaps", { ...configMap("a"), data: ["x"] }, { want: 400 }),
        create("configmaps", { ...configMap("a"), binaryData: { x: "%%%" } }, { want: 400 }),
        create("configmaps", { ...configMap("a"), immutable: "yes" }, { want: 400 }),
        create("configmaps", { ...configMap("a"), metadata: "a" }, { want: 400 }),
        create("configmaps", { ...configMap("a"), metadata: { name: 7 } }, { want: 400 }),
        create("configmaps", { ...configMap("a"), kind: 7 }, { want: 400 }),
      ],
    },
    {
      name: "validates keys of data",
      steps: [
        create("configmaps", configMap("a", { "bad key": "x" }), { want: 422 }),
        create("configmaps", configMap("a", { "..": "x" }), { want: 422 }),
        create("configmaps", { ...configMap("a", { x: "1" }), binaryData: { x: "eA==" } }, { want: 422 }),
      ],
    },
    {
      name: "types: a Deployment",
      steps: [
        create("deployments", deployment("web", { replicas: "two" }), { want: 400 }),
        create("deployments", deployment("web", { replicas: 1.5 }), { want: 400 }),
        create("deployments", deployment("web", { replicas: -1 }), { want: 422 }),
        create("deployments", deployment("web", { template: [] }), { want: 400 }),
        create("deployments", deployment("web", { replicas: 99_999_999_999 }), { want: 400 }),
      ],
    },
    {
      name: "values: a Pod",
      steps: [
        create("pods", pod("p", { containers: [] }), { want: 422 }),
        create("pods", pod("p", { containers: [{ name: "main" }] }), { want: 422 }),
        create("pods", pod("p", { containers: [{ name: "Bad_", image: "x" }] }), { want: 422 }),
        create(
          "pods",
          pod("p", {
            containers: [
              { name: "a", image: "x" },
              { name: "a", image: "x" },
            ],
          }),
          { want: 422 },
        ),
        create("pods", pod("p", { restartPolicy: "Sometimes" }), { want: 422 }),
        create(
          "pods",
          pod("p", {
            containers: [{ name: "a", image: "x", ports: [{ containerPort: 0 }, { containerPort: 70_000 }] }],
          }),
          { want: 422 },
        ),
        create("pods", pod("p", { containers: [{ name: "a", image: "x", resources: { requests: { cpu: "two" } } }] }), {
          want: 400,
          show: ["reason"],
        }),
        create(
          "pods",
          pod("p", {
            containers: [{ name: "a", image: "x", resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }],
          }),
          { want: 422 },
        ),
        create(
          "pods",
          pod("p", { containers: [{ name: "a", image: "x", volumeMounts: [{ name: "none", mountPath: "/x" }] }] }),
          { want: 422 },
        ),
        create("pods", pod("p", { containers: [{ name: "a", image: "x", imagePullPolicy: "Perhaps" }] }), {
          want: 422,
        }),
      ],
    },
    {
      name: "values: a Service",
      steps: [
        create("services", service("web", { ports: [] }), { want: 422 }),
        create("services", service("web", { ports: [{ port: 0 }] }), { want: 422 }),
        create("services", service("web", { ports: [{ port: 80 }, { port: 81 }] }), { want: 422 }),
        create("services", service("web", { type: "Fancy" }), { want: 422 }),
        create("services", service("web", { clusterIP: "nope" }), { want: 422 }),
      ],
    },
    {
      name: "values: a Job, an HPA, a PodDisruptionBudget",
      steps: [
        create(
          "jobs",
          {
            apiVersion: "batch/v1",
            kind: "Job",
            metadata: { name: "j" },
            spec: { template: { spec: { containers: [{ name: "a", image: "x" }] } } },
          },
          { want: 422 },
        ),
        create(
          "horizontalpodautoscalers",
          {
            apiVersion: "autoscaling/v2",
            kind: "HorizontalPodAutoscaler",
            metadata: { name: "h" },
            spec: { minReplicas: 5, maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "web" } },
          },
          { want: 422 },
        ),
        create(
          "horizontalpodautoscalers",
          { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler", metadata: { name: "h" }, spec: {} },
          { want: 422 },
        ),
        create(
          "poddisruptionbudgets",
          {
            apiVersion: "policy/v1",
            kind: "PodDisruptionBudget",
            metadata: { name: "b" },
            spec: { minAvailable: 1, maxUnavailable: 1, selector: {} },
          },
          { want: 422 },
        ),
        create(
          "networkpolicies",
          {
            apiVersion: "networking.k8s.io/v1",
            kind: "NetworkPolicy",
            metadata: { name: "n" },
            spec: { podSelector: {}, policyTypes: ["Sideways"] },
          },
          { want: 422 },
        ),
        create(
          "persistentvolumeclaims",
          {
            apiVersion: "v1",
            kind: "PersistentVolumeClaim",
            metadata: { name: "c" },
            spec: { accessModes: [], resources: {} },
          },
          { want: 422 },
        ),
        create(
          "leases",
          {
            apiVersion: "coordination.k8s.io/v1",
            kind: "Lease",
            metadata: { name: "l" },
            spec: { leaseDurationSeconds: 0 },
          },
          { want: 422 },
        ),
        create(
          "secrets",
          { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, type: "kubernetes.io/tls" },
          { want: 422 },
        ),
        create(
          "rolebindings",
          {
            apiVersion: "rbac.authorization.k8s.io/v1",
            kind: "RoleBinding",
            metadata: { name: "r" },
            subjects: [{ kind: "Thing", name: "x" }],
            roleRef: { kind: "Role", name: "" },
          },
          { want: 422 },
        ),
      ],
    },
    {
      name: "returns 404 for unknown paths",
      steps: [
        get("/api/v1/namespaces/{ns}/frobs", { want: 404 }),
        get("/apis/apps/v1/namespaces/{ns}/frobs/a", { want: 404 }),
        get("/api/v1/namespaces/{ns}/configmaps/a/b/c/d", { want: 404 }),
        get("/api/v1/namespaces/{ns}/configmaps/", { want: 200, show: [] }),
        get("/nowhere", { want: 404 }),
        get("/api/v1/nowhere", { want: 404 }),
        get("/", { show: [] }),
      ],
    },
    {
      name: "names with invalid bytes",
      steps: [
        get("configmaps/%00", { want: 404 }),
        get("configmaps/..%2f..%2fx", { want: 404, show: ["reason"] }),
        get("configmaps/%F0%9F%98%80", { want: 404 }),
      ],
    },
    {
      name: "returns 405 for unsupported methods",
      given: [create("configmaps", configMap("a"))],
      steps: [
        { do: "PUT configmaps", body: configMap("a"), want: 405 },
        { do: "PATCH configmaps", body: {}, want: 405 },
        { do: "POST configmaps/a", body: configMap("a"), want: 405 },
        { do: "OPTIONS configmaps/a", want: 405 },
        { do: "TRACE configmaps/a", want: 405 },
        { do: "POST /version", body: {}, want: 405, show: [] },
        { do: "POST configmaps/a/status", body: {}, want: 404 },
      ],
    },
    {
      name: "rejects deletecollection of namespaces",
      steps: [remove("namespaces", undefined, { want: 405 })],
    },
    {
      name: "returns 406 for unsupported media types",
      steps: [
        get("configmaps", { accept: "text/html", want: 406 }),
        get("configmaps", { accept: "application/xml", want: 406 }),
        get("configmaps", { accept: "*/*", show: ["kind"] }),
        get("configmaps", { accept: "application/*", want: 406 }),
        get("configmaps", { accept: "text/html, application/json;q=0.5", show: ["kind"] }),
      ],
    },
    {
      name: "responds with YAML",
      given: [create("secrets", { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, type: "example.test/x" })],
      steps: [get("secrets/none", { accept: "application/yaml", want: 404 })],
    },
    {
      name: "parameters of the wrong type",
      steps: [
        get("configmaps?timeoutSeconds=soon", { want: 400 }),
        create("configmaps?dryRun=All&dryRun=None", configMap("a"), { want: 422 }),
        remove("configmaps/a?gracePeriodSeconds=x", undefined, { want: 400 }),
      ],
    },
    {
      name: "body with another name than the path, or none",
      given: [create("configmaps", configMap("a"))],
      steps: [
        replace("configmaps/a", { apiVersion: "v1", kind: "ConfigMap", metadata: {} }, { want: 400 }),
        replace("configmaps/a", configMap("a", {}, { namespace: "other" }), { want: 400 }),
        replace("configmaps/a", "{", { want: 400 }),
        mergePatch("configmaps/a", "", { want: 400 }),
      ],
    },
  ],
};
