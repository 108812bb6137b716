import { describe, expect, test } from "vitest";
import type { Manifest } from "../../rendering/model/rendered.ts";
import { containerFunction, inputOf, templateSpecOf, type PartialInput } from "../../rendering/testing/inputs.ts";
import { podSpecOf } from "../../rendering/testing/restricted.ts";
import { userTemplate } from "./user-template.ts";
import type { RawManifest } from "./validate.ts";

type EnvironmentSpec = NonNullable<PartialInput["environment"]>["spec"];
type TemplateType = Parameters<typeof templateSpecOf>[0]["template_type"];

const DEPLOYMENT = { apiVersion: "apps/v1", kind: "Deployment" };
const KNATIVE = { apiVersion: "serving.knative.dev/v1", kind: "Service" };

/** A workload that the template adds beside the one of the function. */
const helper = (pod: object = {}, spec: object = {}) => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "helper" },
  spec: {
    selector: { matchLabels: { app: "helper" } },
    ...spec,
    template: {
      metadata: { labels: { app: "helper" } },
      spec: { containers: [{ name: "a", image: "registry.local/a:1" }], ...pod },
    },
  },
});

function render(
  manifests: readonly object[],
  environment: Partial<EnvironmentSpec> = {},
  { type = "Deployment", cluster = {} }: { type?: TemplateType; cluster?: NonNullable<PartialInput["cluster"]> } = {},
) {
  const template = userTemplate(
    "mine",
    templateSpecOf({ template_type: type, manifests: manifests as Parameters<typeof templateSpecOf>[0]["manifests"] }),
  );
  if (!template.ok) return template;
  const spec = { functions: [containerFunction("place")] };
  return template.value.render(
    inputOf({ spec, environment: { name: "prod", spec: { kind: "cloud", ...environment } }, cluster }),
  );
}

function children(...args: Parameters<typeof render>): readonly Manifest[] {
  const result = render(...args);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value.children;
}

function violations(...args: Parameters<typeof render>): readonly string[] {
  const result = render(...args);
  return result.ok ? [] : result.error.map(({ path, message, fix }) => `${path} ${message}; ${fix ?? ""}`);
}

describe("rejects a template above the maximum scale of the environment", () => {
  const autoscaler = (spec: object) => ({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "{{ function.name }}" },
    spec,
  });
  const revision = (annotations: object) => ({ ...KNATIVE, spec: { template: { metadata: { annotations } } } });
  test.each([
    { case: "replicas", manifests: [{ ...DEPLOYMENT, spec: { replicas: 4 } }], at: "spec.replicas" },
    { case: "another workload", manifests: [DEPLOYMENT, helper({}, { replicas: 4 })], at: "spec.replicas" },
    { case: "an autoscaler", manifests: [DEPLOYMENT, autoscaler({ maxReplicas: 4 })], at: "spec.maxReplicas" },
    {
      case: "the minimum of an autoscaler",
      manifests: [DEPLOYMENT, autoscaler({ minReplicas: 4, maxReplicas: 3 })],
      at: "spec.minReplicas",
    },
    {
      case: "the parallelism of a Job",
      type: "Job" as const,
      manifests: [{ apiVersion: "batch/v1", kind: "Job", spec: { parallelism: 4 } }],
      at: "spec.parallelism",
    },
    ...["maxScale", "max-scale", "minScale", "min-scale", "initialScale", "initial-scale", "activation-scale"].map(
      (name) => ({
        case: `the annotation ${name}`,
        type: "Knative" as const,
        manifests: [revision({ [`autoscaling.knative.dev/${name}`]: "4" })],
        at: `['autoscaling.knative.dev/${name}']`,
      }),
    ),
    {
      case: "an unlimited Knative Service",
      type: "Knative" as const,
      manifests: [revision({ "autoscaling.knative.dev/max-scale": "0" })],
      at: "['autoscaling.knative.dev/max-scale']",
    },
    {
      case: "a maximum that is not a number",
      type: "Knative" as const,
      manifests: [revision({ "autoscaling.knative.dev/maxScale": "many" })],
      at: "['autoscaling.knative.dev/maxScale']",
    },
  ])("$case", ({ manifests, type, at }) => {
    const found = violations(manifests, { quotas: { max_replicas: 3 } }, type === undefined ? {} : { type });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(at);
    expect(found[0]).toMatch(/environment prod allows.*quotas\.max_replicas/);
  });

  test("accepts the maximum itself, and limits a Knative Service that states none", () => {
    expect(violations([{ ...DEPLOYMENT, spec: { replicas: 3 } }], { quotas: { max_replicas: 3 } })).toEqual([]);
    const [service] = children([KNATIVE], { quotas: { max_replicas: 3 } }, { type: "Knative" });
    expect(service).toMatchObject({
      spec: { template: { metadata: { annotations: { "autoscaling.knative.dev/maxScale": "3" } } } },
    });
  });
});

test("checks images in init containers, in other workloads and in image volumes", () => {
  const evil = { name: "x", image: "evil.test/x:1" };
  const volume = { name: "v", image: { reference: "evil.test/v:1" } };
  const environment = { images: { allowed_registries: ["registry.local"] } };
  expect(violations([DEPLOYMENT, helper({ initContainers: [evil] })], environment)).toEqual([
    expect.stringContaining("$.manifests[1].spec.template.spec.initContainers[0].image"),
  ]);
  expect(violations([DEPLOYMENT, helper({ containers: [evil] })], environment)).toEqual([
    expect.stringContaining("$.manifests[1].spec.template.spec.containers[0].image"),
  ]);
  expect(violations([DEPLOYMENT, helper({ volumes: [volume] })], environment)).toEqual([
    expect.stringContaining("$.manifests[1].spec.template.spec.volumes[0].image.reference"),
  ]);
});

test("every pod of a template runs on the nodes of the environment", () => {
  const rendered = children([DEPLOYMENT, helper({ nodeSelector: { pool: "mine", disk: "ssd" } })], {
    nodeSelector: { pool: "apps" },
  });
  const selectors = rendered.flatMap((child) => podSpecOf(child)?.["nodeSelector"] ?? []);
  expect(selectors).toEqual([{ pool: "apps", disk: "ssd" }, { pool: "apps" }]);
});

describe("network policies of the environment", () => {
  const environment = { network_policy: { enabled: true, allow_from_namespaces: ["gateway"] } };

  test("protect the pods of every workload of a template", () => {
    const rendered = children([DEPLOYMENT, helper()], environment);
    const policies = rendered.filter(({ kind }) => kind === "NetworkPolicy");
    const selected = policies.map(({ spec }) => (spec as { podSelector: { matchLabels: object } }).podSelector);
    const podLabels = rendered
      .filter((child) => podSpecOf(child) !== undefined)
      .map(
        ({ spec }) => (spec as { template: { metadata: { labels: Record<string, string> } } }).template.metadata.labels,
      );
    expect(podLabels).toHaveLength(2);
    for (const labels of podLabels) {
      const covering = selected.filter(({ matchLabels }) =>
        Object.entries(matchLabels).every(([key, value]) => labels[key] === value),
      );
      expect(covering, JSON.stringify(labels)).toHaveLength(1);
    }
    for (const policy of policies) {
      expect(policy["spec"]).toMatchObject({
        policyTypes: ["Ingress"],
        ingress: [{ from: [{ podSelector: {} }, { namespaceSelector: {} }] }],
      });
    }
  });

  test("cannot be widened by a policy of the template or by the network of the node", () => {
    const policy = (spec: object) => ({
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { name: "open" },
      spec: { podSelector: {}, ...spec },
    });
    expect(violations([DEPLOYMENT, policy({ ingress: [{}] })], environment)).toEqual([
      expect.stringContaining("$.manifests[1].spec.ingress"),
    ]);
    expect(violations([DEPLOYMENT, helper({ hostNetwork: true })], environment)).toEqual([
      expect.stringContaining("$.manifests[1].spec.template.spec.hostNetwork"),
    ]);
    expect(violations([DEPLOYMENT, policy({ policyTypes: ["Egress"], egress: [] })], environment)).toEqual([]);
    expect(violations([DEPLOYMENT, policy({ ingress: [{}] })], {})).toEqual([]);
  });

  test("are required of the cluster", () => {
    expect(violations([DEPLOYMENT], environment, { cluster: { capabilities: { networkPolicy: false } } })).toEqual([
      expect.stringMatching(/target_environment.*prod requires network policies/),
    ]);
  });
});

describe("monitors of a template", () => {
  const monitor = (kind: "ServiceMonitor" | "PodMonitor", endpoint: object, spec: object = {}) => ({
    apiVersion: "monitoring.coreos.com/v1",
    kind,
    spec: {
      selector: { matchLabels: "{{ function.selector }}" },
      [kind === "PodMonitor" ? "podMetricsEndpoints" : "endpoints"]: [{ port: "http", ...endpoint }],
      ...spec,
    },
  });

  test.each(["ServiceMonitor", "PodMonitor"] as const)("a %s may select ports, paths and intervals", (kind) => {
    const endpoint = { path: "/metrics", interval: "30s", scrapeTimeout: "5s", scheme: "http" };
    expect(violations([DEPLOYMENT, monitor(kind, endpoint, { sampleLimit: 1000 })])).toEqual([]);
  });

  test.each([
    { case: "the token file of Prometheus", endpoint: { bearerTokenFile: "/var/run/secrets/token" } },
    { case: "a token of a Secret", endpoint: { bearerTokenSecret: { name: "a", key: "b" } } },
    { case: "authorization", endpoint: { authorization: { credentials: { name: "a", key: "b" } } } },
    { case: "basic authentication", endpoint: { basicAuth: { password: { name: "a", key: "b" } } } },
    { case: "OAuth2", endpoint: { oauth2: { tokenUrl: "https://evil.test" } } },
    { case: "key files", endpoint: { tlsConfig: { keyFile: "/etc/prometheus/key", certFile: "/etc/prometheus/crt" } } },
    { case: "a proxy", endpoint: { proxyUrl: "http://evil.test" } },
    { case: "another address", endpoint: { relabelings: [{ targetLabel: "__address__", replacement: "evil.test" }] } },
    { case: "labels of other targets", endpoint: { honorLabels: true } },
    { case: "metrics of other targets", endpoint: { metricRelabelings: [{ targetLabel: "namespace" }] } },
    { case: "other namespaces", endpoint: {}, spec: { namespaceSelector: { any: true } } },
  ])("must not use $case", ({ endpoint, spec }) => {
    for (const kind of ["ServiceMonitor", "PodMonitor"] as const) {
      const found = violations([DEPLOYMENT, monitor(kind, endpoint, spec)]);
      expect(found).toHaveLength(1);
      expect(found[0]).toContain(`$.manifests[1].spec.`);
      expect(found[0]).toMatch(/a template cannot set .* of a (Service|Pod)Monitor/);
    }
  });

  test("a placeholder cannot add a field", () => {
    const found = violations([
      DEPLOYMENT,
      monitor("PodMonitor", {}, { podMetricsEndpoints: ["{{ function.container }}"] }),
    ]);
    expect(found.join()).toContain("a template cannot set image of a PodMonitor");
    expect(violations([DEPLOYMENT, monitor("PodMonitor", {}, { podMetricsEndpoints: "text" })]).join()).toContain(
      "podMetricsEndpoints",
    );
  });
});

describe("a template with network_policies", () => {
  const template = (manifests: RawManifest[]) => {
    const spec = { template_type: "Deployment", nfr_capabilities: { network_policies: true }, manifests };
    const made = userTemplate("own", templateSpecOf(spec));
    if (!made.ok) throw new Error(JSON.stringify(made.error));
    return made.value;
  };
  const policyNames = (manifests: RawManifest[], cluster = {}): unknown[] => {
    const rendered = template(manifests).render(inputOf({ spec: { functions: [containerFunction("a")] }, cluster }));
    const objects = rendered.ok ? rendered.value.children : [];
    return objects.filter(({ kind }) => kind === "NetworkPolicy").map(({ metadata }) => metadata.name);
  };
  const own = { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { name: "mine" }, spec: {} };

  test("gets those of the manager without an environment", () => {
    expect(policyNames([DEPLOYMENT])).toEqual([expect.stringMatching(/-function$/)]);
  });

  test("keeps its own", () => expect(policyNames([DEPLOYMENT, own])).toEqual(["mine"]));

  test("gets none where the cluster does not support them", () => {
    expect(policyNames([DEPLOYMENT], { capabilities: { networkPolicy: false } })).toEqual([]);
  });
});

test("a template with persistent_storage must claim a volume", () => {
  const check = (manifests: RawManifest[]) =>
    userTemplate(
      "own",
      templateSpecOf({ template_type: "Deployment", nfr_capabilities: { persistent_storage: true }, manifests }),
    );
  expect(check([DEPLOYMENT])).toMatchObject({
    ok: false,
    error: [{ path: "$.nfr_capabilities.persistent_storage", message: "no manifest claims a volume" }],
  });
  expect(check([DEPLOYMENT, { apiVersion: "v1", kind: "PersistentVolumeClaim" }]).ok).toBe(true);
});
