import { classRuntime, environmentConfig, type EnvironmentConfigSpec } from "@oaas/contracts/crd";
import { err, ok } from "@oaas/foundation";
import { expect, test } from "vitest";
import type { ClusterFacts } from "../../rendering/model/cluster-facts.ts";
import { missingEnvironment } from "../../templates/environment/environment-refusal.ts";
import { capabilityNames, templateNames } from "../cluster/kube-cluster-reader.ts";
import { createServeCheck } from "./serve-check.ts";

const FACTS: ClusterFacts = {
  profile: "dev",
  features: { odgm: true, hpa: true, knative: true, prometheus: false },
  capabilities: {
    knative: false,
    horizontalPodAutoscaler: true,
    podDisruptionBudget: true,
    networkPolicy: true,
    serviceMonitor: false,
    podMonitor: false,
    podResize: false,
    scaledObject: false,
    httpScaledObject: false,
  },
  flags: { isEdge: false, isDatacenter: false },
  odgm: { image: "example.test/odgm:1" },
  routers: [],
  telemetry: { enabled: false },
  maxReplicas: 20,
};

function environmentConfigSpec(over: object): EnvironmentConfigSpec {
  return environmentConfig.parse({
    apiVersion: "oaas.io/v1alpha1",
    kind: "EnvironmentConfig",
    metadata: { name: "small" },
    spec: { kind: "dev", ...over },
  }).spec;
}

function checkClass(spec: object, facts: ClusterFacts = FACTS): string {
  const check = createServeCheck({
    facts: () => facts,
    environmentOf: (namespace, name) => {
      if (name === undefined) return ok(undefined);
      if (name === "small") return ok({ name, spec: environmentConfigSpec({ quotas: { max_classes: 0 } }) });
      return err(missingEnvironment(namespace, name, ["small"]));
    },
    runningStore: () => ({}),
    userTemplates: () => [],
    exceededQuotas: ({ metadata }, { environment, children }) =>
      environment.spec.quotas?.max_classes === 0 && metadata.name === "order" && children.length > 0
        ? [{ path: "$", message: "is full (quotas.max_classes)", fix: "raise it" }]
        : [],
  });
  const object = classRuntime.parse({
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { name: "order", namespace: "shop" },
    spec: {
      package_class_key: "shop.Order",
      functions: [{ function_key: "f", provision_config: { container_image: "registry.test/f:1" } }],
      ...spec,
    },
  });
  const result = check.canServe(object);
  return result.ok ? "ok" : `${result.error.kind}: ${result.error.message}`;
}

test.each([
  { case: "accepts a simple class", spec: {}, want: /^ok$/ },
  { case: "accepts a template alias", spec: { selected_template: "prod" }, want: /^ok$/ },
  {
    case: "rejects an unknown template and lists the known ones",
    spec: { selected_template: "gpu" },
    want: /^failed-precondition: .*gpu.*known templates: dev, .*edge/,
  },
  {
    case: "rejects knative where it is not installed",
    spec: { selected_template: "knative" },
    want: /^failed-precondition: .*knative/,
  },
  {
    case: "rejects a class above the quota",
    spec: { target_environment: "small" },
    want: /^failed-precondition: is full \(quotas.max_classes\); raise it$/,
  },
  {
    case: "rejects a class that names a missing environment, with the fix",
    spec: { target_environment: "prod" },
    want: /^failed-precondition: EnvironmentConfig "prod" does not exist in namespace "shop"; create it, or .*small$/,
  },
  { case: "rejects an unknown addon", spec: { addons: ["teapot"] }, want: /^failed-precondition: .*teapot/ },
])("$case", ({ spec, want }) => {
  expect(checkClass(spec)).toMatch(want);
});

test("rejects state where ODGM is disabled", () => {
  const facts = { ...FACTS, features: { ...FACTS.features, odgm: false } };
  expect(checkClass({ state_spec: {} }, facts)).toMatch(/^failed-precondition: .*/);
});

test("capabilities are the features that are enabled and available", () => {
  expect(capabilityNames(FACTS, true)).toEqual(["odgm", "hpa"]);
  expect(capabilityNames({ ...FACTS, enforcement: "basic" }, true)).toContain("nfr-enforcement");
  expect(capabilityNames({ ...FACTS, enforcement: "basic" }, false)).not.toContain("nfr-enforcement");
  expect(templateNames(["mine", "dev"])).toEqual(expect.arrayContaining(["dev", "production", "kn", "job", "mine"]));
});
