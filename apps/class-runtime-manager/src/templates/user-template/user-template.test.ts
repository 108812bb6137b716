import { describe, expect, test } from "vitest";
import type { Manifest } from "../../rendering/model/rendered.ts";
import { containerFunction, inputOf, templateSpecOf, type PartialInput } from "../../rendering/testing/inputs.ts";
import { podSpecOf, restrictedProblems } from "../../rendering/testing/restricted.ts";
import { PATHS } from "./scope.ts";
import { userTemplate } from "./user-template.ts";

type Spec = Parameters<typeof templateSpecOf>[0];

function templateOf(spec: Partial<Spec> & Pick<Spec, "manifests">, name = "mine") {
  return userTemplate(name, templateSpecOf({ template_type: "Deployment", ...spec }));
}

function render(spec: Parameters<typeof templateOf>[0], given: Omit<PartialInput, "spec"> & { spec?: object } = {}) {
  const template = templateOf(spec);
  if (!template.ok) throw new Error(JSON.stringify(template.error));
  const functions = [containerFunction("Order.place"), containerFunction("Order.pay")];
  return template.value.render(inputOf({ ...given, spec: { functions, ...given.spec } }));
}

function rendered(...args: Parameters<typeof render>) {
  const result = render(...args);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

const named = (children: readonly Manifest[]) => children.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

const BARE = { apiVersion: "apps/v1", kind: "Deployment" };

describe("completes a template", () => {
  test("renders a complete Deployment and a Service per function", () => {
    const { children, functions } = rendered({ manifests: [BARE] });
    expect(named(children)).toEqual([
      "Service order-fn-0",
      "Service order-fn-1",
      "Deployment order-fn-0",
      "Deployment order-fn-1",
    ]);
    expect(functions.map(({ workload, service, port, replicas }) => [workload?.name, service, port, replicas])).toEqual(
      [
        ["order-fn-0", "order-fn-0", 80, 1],
        ["order-fn-1", "order-fn-1", 80, 1],
      ],
    );
    const spec = children[2]?.["spec"] as Record<string, unknown>;
    expect(spec).toMatchObject({
      replicas: 1,
      selector: { matchLabels: { app: "order-fn-0", "oaas.io/owner": "order" } },
      template: {
        metadata: { labels: { app: "order-fn-0", "oaas.io/owner": "order" } },
        spec: { containers: [{ name: "function", image: "registry.local/order:1", ports: [{ containerPort: 80 }] }] },
      },
    });
  });

  test("keeps fields of the template and merges environment variables", () => {
    const container = {
      name: "function",
      image: "mine:1",
      env: [
        { name: "PORT", value: "{{ function.port }}" },
        { name: "FUNCTION_KEY", value: "own" },
      ],
    };
    const manifest = {
      ...BARE,
      metadata: {
        name: "{{ function.name }}-x",
        labels: { port: "{{ function.port }}", app: "stolen" },
        annotations: { a: "{{ class.name }}" },
      },
      spec: {
        replicas: "{{ function.replicas }}",
        selector: { matchLabels: { mine: "yes" } },
        template: { spec: { hostname: "h", containers: [container, { name: "sidecar", image: "s:1" }] } },
      },
    };
    const deployment = rendered({ manifests: [manifest] }).children.find(({ kind }) => kind === "Deployment");
    expect(deployment?.metadata).toMatchObject({
      name: "order-fn-0-x",
      labels: { port: "80", app: "order-fn-0" },
      annotations: { a: "order", "oaas.io/function-key": "Order.place" },
    });
    expect(deployment?.["spec"]).toMatchObject({
      replicas: 1,
      selector: { matchLabels: { mine: "yes", app: "order-fn-0" } },
      template: { metadata: { labels: { mine: "yes" } }, spec: { hostname: "h" } },
    });
    const containers = podSpecOf(deployment!)!["containers"] as {
      image: string;
      env?: { name: string; value: string }[];
    }[];
    expect(containers.map(({ image }) => image)).toEqual(["mine:1", "s:1"]);
    const env = new Map(containers[0]?.env?.map(({ name, value }) => [name, value]));
    expect([env.get("PORT"), env.get("FUNCTION_KEY"), env.get("DEPLOYMENT_ID")]).toEqual(["80", "own", "order"]);
  });

  test.each(["Deployment", "StatefulSet", "DaemonSet", "Job"] as const)(
    "a %s keeps the restricted standard by itself",
    (type) => {
      const apiVersion = type === "Job" ? "batch/v1" : "apps/v1";
      const { children, functions } = rendered({ template_type: type, manifests: [{ apiVersion, kind: type }] });
      const pods = children.map(podSpecOf).filter((pod) => pod !== undefined);
      expect(pods.flatMap(restrictedProblems)).toEqual([]);
      expect(pods.length).toBe(2);
      expect(functions.every(({ predictedUrl }) => (predictedUrl === "") === (type === "Job"))).toBe(true);
    },
  );

  test("uses the resources of the template for functions that state none", () => {
    const { children } = rendered({
      manifests: [BARE],
      resource_requirements: { cpu_request: "1", memory_request: "4Gi" },
    });
    const containers = podSpecOf(children[2]!)!["containers"];
    expect(containers).toMatchObject([{ resources: { requests: { cpu: "1", memory: "4Gi" } } }]);
  });

  test("renders Knative Services without a Service and unsupported fields", () => {
    const { children, functions } = rendered({
      template_type: "Knative",
      manifests: [{ apiVersion: "serving.knative.dev/v1", kind: "Service" }],
    });
    expect(named(children)).toEqual(["Service order-fn-0", "Service order-fn-1"]);
    const pod = podSpecOf(children[0]!);
    expect(pod).not.toHaveProperty("securityContext");
    expect(pod).toMatchObject({ containers: [{ ports: [{ name: "http1", containerPort: 8080 }] }] });
    expect(functions[0]?.replicasOwner).toBe("knative");
  });
});

test("applies nodes and registries of the environment to template fields", () => {
  const spec = { nodeSelector: { pool: "mine", disk: "ssd" }, containers: [{ name: "sidecar", image: "ghcr.io/s:1" }] };
  const manifest = { ...BARE, spec: { template: { spec } } };
  const environment = (allowed: string) => ({
    name: "e",
    spec: {
      kind: "cloud" as const,
      nodeSelector: { pool: "apps" },
      images: { mirrors: [{ from: "ghcr.io/", to: "registry.local/" }], allowed_registries: [allowed] },
    },
  });
  const { children } = rendered({ manifests: [manifest] }, { environment: environment("registry.local/") });
  expect(podSpecOf(children[2]!)).toMatchObject({
    nodeSelector: { pool: "apps", disk: "ssd" },
    containers: [{ image: "registry.local/order:1" }, { image: "registry.local/s:1" }],
  });
  const functions = [containerFunction("a", "good.local/a:1")];
  const refused = render({ manifests: [manifest] }, { environment: environment("good.local/"), spec: { functions } });
  expect(refused.ok || refused.error).toMatchObject([
    { path: "$.manifests[0].spec.template.spec.containers[0].image" },
  ]);
});

test("renders a manifest without function placeholders once, owned by the class", () => {
  const settings = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "{{ class.name }}-settings" },
    data: { grid: "{{ odgm.service ?? 'none' }}", zone: "{{ environment.zone? }}", rps: "{{ class.throughput ?? 0 }}" },
  };
  const { children } = rendered({ manifests: [BARE, settings] }, { spec: { state_spec: {} } });
  const made = children.filter(({ metadata }) => metadata.name === "order-settings");
  expect(made).toHaveLength(1);
  expect(made[0]).toMatchObject({
    metadata: { namespace: "shop", labels: { "oaas.io/owner": "order" }, ownerReferences: [{ name: "order" }] },
    data: { grid: "order-odgm-svc:8080", rps: "0" },
  });
  expect(made[0]?.["data"]).not.toHaveProperty("zone");
});

describe("rejects an invalid template", () => {
  test.each([
    {
      case: "a kind that grants rights",
      spec: { manifests: [BARE, { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role" }] },
      says: "cannot create rbac.authorization.k8s.io/v1/Role",
      at: "$.manifests[1].kind",
    },
    {
      case: "a Secret",
      spec: { manifests: [BARE, { apiVersion: "v1", kind: "Secret" }] },
      says: "cannot create v1/Secret",
      at: "$.manifests[1].kind",
    },
    {
      case: "another namespace",
      spec: { manifests: [{ ...BARE, metadata: { namespace: "kube-system" } }] },
      says: "namespace of the class",
      at: "$.manifests[0].metadata.namespace",
    },
    {
      case: "an unknown path",
      spec: { manifests: [{ ...BARE, metadata: { name: "{{ function.nmae }}" } }] },
      says: "unknown placeholder function.nmae",
      at: "$.manifests[0].metadata.name",
    },
    {
      case: "an invalid placeholder",
      spec: { manifests: [{ ...BARE, spec: { a: ["{{ x"] } }] },
      says: "has no closing",
      at: "$.manifests[0].spec.a[0]",
    },
    {
      case: "a placeholder in a field name",
      spec: { manifests: [{ ...BARE, spec: { "{{ class.name }}": 1 } }] },
      says: "not allowed in field names",
      at: "$.manifests[0].spec['{{ class.name }}']",
    },
    {
      case: "no workload of its type",
      spec: { manifests: [{ apiVersion: "v1", kind: "ConfigMap" }] },
      says: "needs exactly one apps/v1/Deployment",
      at: "$.manifests",
    },
    {
      case: "a built-in template's name",
      spec: { name: "Prod", manifests: [BARE] },
      says: "name of a built-in template",
      at: "$.name",
    },
  ])("$case", ({ spec, says, at }) => {
    const result = templateOf(spec);
    expect(result).toMatchObject({ ok: false, error: [{ path: at, message: expect.stringContaining(says) }] });
  });
});

describe("rejects a class", () => {
  test("when a placeholder has no value", () => {
    const manifest = { ...BARE, spec: { replicas: "{{ function.max_scale }}" } };
    const result = render({ manifests: [manifest] });
    expect(result.ok || result.error[0]).toMatchObject({
      path: "$.manifests[0].spec.replicas",
      message: "template mine: function.max_scale has no value",
    });
  });

  test("when two functions render the same object", () => {
    const result = render({ manifests: [{ ...BARE, metadata: { name: "fixed" } }] });
    expect(result.ok || result.error[0]?.message).toContain("two objects have the name apps/v1/Deployment fixed");
  });

  test("when a template renders too many values", () => {
    const much = Array.from({ length: 30_000 }, () => "{{ class.name }}");
    const result = render({ manifests: [{ ...BARE, metadata: { annotations: { a: "b" } }, spec: { much } }] });
    expect(result.ok || result.error[0]?.message).toContain("renders more than");
  });

  test("when a manifest is too deep", () => {
    for (const levels of [100, 20_000]) {
      let deep: object = {};
      for (let level = 0; level < levels; level++) deep = { deep };
      const result = templateOf({ manifests: [{ ...BARE, spec: deep }] });
      expect(result.ok || result.error[0]?.message).toContain("deeper than");
    }
  });
});

test("changes its revision only with its spec", () => {
  const revision = (spec: object) => {
    const template = templateOf({ manifests: [BARE], ...spec });
    return template.ok ? template.value.revision : "";
  };
  expect(revision({})).toBe(revision({}));
  expect(revision({ description: "other" })).not.toBe(revision({}));
});

test("has a value for every placeholder of a complete class", () => {
  const text = Object.keys(PATHS)
    .map((path) => `{{ ${path.replace(".*", ".a")} }}`)
    .join("");
  const manifest = { ...BARE, metadata: { annotations: { all: text } } };
  const environment = {
    name: "e",
    spec: { kind: "edge" as const, region: "r", zone: "z", hw_class: "h", labels: { a: "1" } },
  };
  const fn = { function_key: "a", provision_config: { container_image: "a", max_scale: 3 }, config: { a: "1" } };
  const spec = {
    package_class_key: "p.C",
    functions: [fn],
    state_spec: {},
    nfr_requirements: { throughput: 1, max_latency: 1, availability: 1, consistency: "strong" },
  };
  expect(render({ manifests: [manifest] }, { environment, spec, labels: { a: "1" } })).toMatchObject({ ok: true });
});

describe("replicas of a template under enforcement", () => {
  const enforced = new Map([["Order.place", { replicas: 6 }]]);
  const autoscaler = (spec: object) => ({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "{{ function.name }}" },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "{{ function.name }}" },
      maxReplicas: 9,
      ...spec,
    },
  });
  const renderEnforced = (manifests: readonly object[], type: Spec["template_type"] = "Deployment") => {
    const all = { manifests: manifests as NonNullable<Spec["manifests"]>, template_type: type };
    const { functions, children } = rendered(all, { enforced });
    return { fn: functions.find(({ functionKey }) => functionKey === "Order.place"), children };
  };
  const specOf = (children: readonly Manifest[], kind: string) =>
    children.find((child) => child.kind === kind && child.metadata.name === "order-fn-0")?.["spec"];

  test.each<{ why: string; workload: object }>([
    { why: "are left out", workload: BARE },
    { why: "are a placeholder", workload: { ...BARE, spec: { replicas: "{{ function.replicas }}" } } },
  ])("are chosen by it where they $why", ({ workload }) => {
    const { fn, children } = renderEnforced([workload]);
    expect(specOf(children, "Deployment")).toMatchObject({ replicas: 6 });
    expect(fn).toMatchObject({ replicas: 6, replicaLimits: { min: { value: 1, source: "template mine" } } });
  });

  test("are chosen through the minimum of an autoscaler", () => {
    const { fn, children } = renderEnforced([BARE, autoscaler({ minReplicas: "{{ function.replicas }}" })]);
    expect(specOf(children, "HorizontalPodAutoscaler")).toMatchObject({ minReplicas: 6, maxReplicas: 9 });
    expect(fn).toMatchObject({ replicasOwner: "autoscaler", replicaLimits: { min: { value: 1 } } });
  });

  test("are the minimum scale of a Knative Service, whose template stays the same", () => {
    const annotations = { "autoscaling.knative.dev/minScale": "{{ function.min_scale }}" };
    const service = {
      apiVersion: "serving.knative.dev/v1",
      kind: "Service",
      spec: { template: { metadata: { annotations } } },
    };
    const { fn, children } = renderEnforced([service], "Knative");
    const found = children.find(({ metadata }) => metadata.name === "order-fn-0");
    expect(found?.metadata.annotations?.["oaas.io/enforced-min-scale"]).toBe("6");
    expect(found?.["spec"]).toMatchObject({
      template: { metadata: { annotations: { "autoscaling.knative.dev/minScale": "1" } } },
    });
    expect(fn?.replicaLimits).toBeDefined();
  });

  test.each<{ why: string; manifests: readonly object[]; reason: string }>([
    {
      why: "the workload states a number",
      manifests: [{ ...BARE, spec: { replicas: 2 } }],
      reason: "template mine fixes replicas; {{ function.replicas }} lets enforcement choose it",
    },
    {
      why: "the autoscaler states a number",
      manifests: [BARE, autoscaler({ minReplicas: 2 })],
      reason: "template mine fixes minReplicas of its autoscaler; {{ function.replicas }} lets enforcement choose it",
    },
    {
      why: "the autoscaler has the default",
      manifests: [BARE, autoscaler({})],
      reason:
        "template mine does not state minReplicas of its autoscaler; {{ function.replicas }} lets enforcement choose it",
    },
  ])("are refused with the reason when $why", ({ manifests, reason }) => {
    const { fn } = renderEnforced(manifests);
    expect(fn?.replicaLimits).toBeUndefined();
    expect(fn?.whyReplicasFixed).toBe(reason);
  });
});
