import { environmentConfig } from "@oaas/contracts/crd";
import { expect, test } from "vitest";
import { checkLimits } from "./check-limits.ts";

function pathsOf(spec: object): readonly string[] {
  const parsed = environmentConfig.parse({
    apiVersion: "oaas.io/v1alpha1",
    kind: "EnvironmentConfig",
    metadata: { name: "prod" },
    spec: { kind: "cloud", ...spec },
  });
  return checkLimits(parsed.spec).map(({ path }) => path);
}

test("accepts an environment with every limit", () => {
  const spec = {
    labels: { "example.com/team": "shop" },
    nodeSelector: { "node.kubernetes.io/pool": "apps", empty: "" },
    images: {
      allowed_registries: ["ghcr.io", "registry.test:5000/acme/", "acme", "[::1]:5000", "REGISTRY.test"],
      mirrors: [{ from: "docker.io", to: "mirror.test/hub" }],
    },
    quotas: { cpu: "10", memory: "64Gi", storage: "1e3", max_replicas: 3 },
    network_policy: { enabled: true, allow_from_namespaces: ["gateway"] },
    serviceAccountName: "functions",
    priorityClassName: "low",
  };
  expect(pathsOf(spec)).toEqual([]);
});

test.each([
  { spec: { images: { allowed_registries: ["https://ghcr.io"] } }, path: "$.images.allowed_registries[0]" },
  { spec: { images: { allowed_registries: ["ghcr.io", "*.ghcr.io"] } }, path: "$.images.allowed_registries[1]" },
  { spec: { images: { allowed_registries: ["ghcr.io/a:1"] } }, path: "$.images.allowed_registries[0]" },
  { spec: { images: { allowed_registries: ["ghcr.io//"] } }, path: "$.images.allowed_registries[0]" },
  { spec: { images: { mirrors: [{ from: "a b", to: "c" }] } }, path: "$.images.mirrors[0].from" },
  { spec: { images: { mirrors: [{ from: "a", to: "C D" }] } }, path: "$.images.mirrors[0].to" },
  { spec: { nodeSelector: { pool: "very fast!" } }, path: "$.nodeSelector.pool" },
  { spec: { nodeSelector: { "a b": "c" } }, path: "$.nodeSelector['a b']" },
  { spec: { labels: { team: "-" } }, path: "$.labels.team" },
  {
    spec: { network_policy: { allow_from_namespaces: ["Gateway"] } },
    path: "$.network_policy.allow_from_namespaces[0]",
  },
  { spec: { serviceAccountName: "A" }, path: "$.serviceAccountName" },
  { spec: { priorityClassName: "a/b" }, path: "$.priorityClassName" },
])("rejects $path", ({ spec, path }) => {
  expect(pathsOf(spec)).toEqual([path]);
});
