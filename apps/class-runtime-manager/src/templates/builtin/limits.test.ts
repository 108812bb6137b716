import { expect, test } from "vitest";
import type { Manifest } from "../../rendering/model/rendered.ts";
import { containerFunction, inputOf, type PartialInput } from "../../rendering/testing/inputs.ts";
import { podSpecOf } from "../../rendering/testing/restricted.ts";
import { BUILTIN_TEMPLATES } from "./registry.ts";

const LIMITS = {
  kind: "cloud" as const,
  images: { allowed_registries: ["good.local"], odgm: "good.local/odgm:1" },
  quotas: { max_replicas: 2 },
  nodeSelector: { pool: "apps" },
  network_policy: { enabled: true },
};

function render(id: string, environment: NonNullable<PartialInput["environment"]>["spec"], scale: object = {}) {
  const template = BUILTIN_TEMPLATES.find((one) => one.id === id);
  const fn = containerFunction("place", "good.local/place:1");
  const functions = [{ ...fn, provision_config: { ...fn.provision_config, ...scale } }];
  const spec = { functions, state_spec: {}, nfr_requirements: { throughput: 90_000 } };
  return template?.render(inputOf({ spec, environment: { name: "prod", spec: environment } }));
}

const ids = BUILTIN_TEMPLATES.map(({ id }) => id);

test.each(ids)("%s keeps the limits of the environment", (id) => {
  const result = render(id, LIMITS);
  if (result?.ok !== true) throw new Error(JSON.stringify(result));
  const workloads = result.value.children.filter((child) => podSpecOf(child) !== undefined);
  expect(workloads.length).toBe(2);
  for (const workload of workloads) {
    const pod = podSpecOf(workload) as { containers: readonly { image: string }[]; nodeSelector?: object };
    expect(pod.nodeSelector).toEqual({ pool: "apps" });
    for (const { image } of pod.containers) expect(image).toMatch(/^good\.local\//);
    // The maximum concerns functions; a state store has the replicas of its shards.
    if (workload.metadata.labels?.["oaas.io/component"] === "function")
      expect(replicasOf(workload)).toBeLessThanOrEqual(2);
  }
  const policies = result.value.children.filter(({ kind }) => kind === "NetworkPolicy");
  expect(policies).toHaveLength(2);
});

/** The most pods of a workload: stated, or the maximum of Knative; a DaemonSet has one per node. */
function replicasOf({ apiVersion, kind, spec }: Manifest): number {
  const { replicas, parallelism, template } = spec as {
    replicas?: number;
    parallelism?: number;
    template: { metadata: { annotations?: Record<string, string> } };
  };
  if (kind === "DaemonSet") return 1;
  if (apiVersion.startsWith("serving.knative.dev/"))
    return Number(template.metadata.annotations?.["autoscaling.knative.dev/maxScale"]);
  return replicas ?? parallelism ?? Number.NaN;
}

test.each(ids)("%s limits the maximum of an autoscaler, and rejects a stated one above it", (id) => {
  const environment = { ...LIMITS, scale: { max_scale: 9 } };
  const result = render(id, environment);
  if (result?.ok !== true) throw new Error(JSON.stringify(result));
  for (const child of result.value.children.filter(({ kind }) => kind === "HorizontalPodAutoscaler"))
    expect((child["spec"] as { maxReplicas: number }).maxReplicas).toBeLessThanOrEqual(2);
  expect(render(id, LIMITS, { max_scale: 3 })).toMatchObject({
    ok: false,
    error: [{ path: "$.functions[0].provision_config.max_scale" }],
  });
});

test.each(ids)("%s rejects a state store from another registry", (id) => {
  const { odgm: _, ...images } = LIMITS.images;
  expect(render(id, { ...LIMITS, images })).toMatchObject({
    ok: false,
    error: [{ path: "$.odgm_config", message: expect.stringContaining("does not allow") as string }],
  });
});
