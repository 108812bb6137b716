import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Rendered } from "../../rendering/model/rendered.ts";
import { inputOf, templateSpecOf, type PartialInput } from "../../rendering/testing/inputs.ts";
import { demandOf } from "../environment/quota.ts";
import { userTemplate } from "./user-template.ts";

const DEPLOYMENT = { apiVersion: "apps/v1", kind: "Deployment" };
const CPU = { type: "cpu", metricType: "Utilization", metadata: { value: "60" } };

const scaledObject = (spec: object = {}, annotations: object = {}) => ({
  apiVersion: "keda.sh/v1alpha1",
  kind: "ScaledObject",
  metadata: { annotations },
  spec: { scaleTargetRef: { name: "{{ function.name }}" }, triggers: [CPU], ...spec },
});

interface Given {
  readonly manifests?: readonly object[];
  readonly provision?: object;
  readonly enforced?: number;
  /** The maximum that enforcement chose, and the most that it may choose. */
  readonly maximum?: { readonly enforced?: number; readonly most: number };
  readonly quota?: number;
}

function render({ manifests = [DEPLOYMENT, scaledObject()], provision = {}, enforced, maximum, quota }: Given) {
  const spec = templateSpecOf({
    template_type: "Deployment",
    manifests: manifests as Parameters<typeof templateSpecOf>[0]["manifests"],
  });
  const template = userTemplate("mine", spec);
  if (!template.ok) return template;
  const fn = { function_key: "place", provision_config: { container_image: "example.test/a:1", ...provision } };
  const environment: PartialInput["environment"] =
    quota === undefined ? undefined : { name: "prod", spec: { kind: "cloud", quotas: { max_replicas: quota } } };
  const enforcement = maximum === undefined ? {} : { enforcement: { max_replicas: maximum.most } };
  const input = inputOf({ spec: { functions: [fn], ...enforcement }, ...(environment ? { environment } : {}) });
  return template.value.render({
    ...input,
    enforced: new Map([
      [
        "place",
        {
          ...(enforced === undefined ? {} : { replicas: enforced }),
          ...(maximum?.enforced === undefined ? {} : { max_replicas: maximum.enforced }),
        },
      ],
    ]),
  });
}

function rendered(given: Given): Rendered {
  const result = render(given);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

const specOf = ({ children }: Rendered, kind: string) =>
  children.find((child) => child.kind === kind)?.["spec"] as Record<string, unknown> | undefined;
const violations = (given: Given) => {
  const result = render(given);
  return result.ok ? [] : result.error.map(({ path, message }) => `${path} ${message}`);
};

describe("the maximum of a ScaledObject", () => {
  const limitsOf = (maxReplicaCount: unknown, maximum: NonNullable<Given["maximum"]>) => {
    const result = rendered({
      manifests: [DEPLOYMENT, scaledObject({ maxReplicaCount })],
      provision: { max_scale: 4 },
      maximum,
    });
    return [specOf(result, "ScaledObject")?.["maxReplicaCount"], result.functions[0]?.maximumLimits?.max.value];
  };

  test.each([
    { why: "the template follows the class", maxReplicaCount: "{{ function.max_scale }}", most: 9, limits: [4, 9] },
    { why: "the template states a larger one", maxReplicaCount: 7, most: 9, limits: [4, 7] },
    { why: "the template states a smaller one", maxReplicaCount: 3, most: 9, limits: [3, undefined] },
    { why: "the template states the same", maxReplicaCount: 4, most: 9, limits: [4, undefined] },
    { why: "the class does not allow more", maxReplicaCount: 7, most: 4, limits: [4, undefined] },
  ])("starts with the smaller one, and has its limit when $why", ({ maxReplicaCount, most, limits }) => {
    expect(limitsOf(maxReplicaCount, { most })).toEqual(limits);
  });

  test("is the one that enforcement chose, within its limits", () => {
    expect(limitsOf("{{ function.max_scale }}", { most: 9, enforced: 6 })).toEqual([6, 9]);
    expect(limitsOf(7, { most: 9, enforced: 8 })).toEqual([7, 7]);
  });
});

describe("a workload with a ScaledObject", () => {
  test("states no replicas, and belongs to KEDA", () => {
    const manifests = [{ ...DEPLOYMENT, spec: { replicas: 4 } }, scaledObject({ minReplicaCount: 2 })];
    const result = rendered({ manifests });
    expect(specOf(result, "Deployment")).not.toHaveProperty("replicas");
    expect(result.functions[0]).toMatchObject({
      replicasOwner: "keda",
      replicas: 2,
      maxReplicas: 100,
      replicaLimits: {
        min: { value: 2, source: "minReplicaCount of ScaledObject order" },
        max: { value: 100, source: "default maxReplicaCount of KEDA" },
      },
    });
    expect(specOf(result, "ScaledObject")).toMatchObject({ minReplicaCount: 2 });
    expect(specOf(result, "ScaledObject")).not.toHaveProperty("maxReplicaCount");
  });

  test("keeps its replicas when the ScaledObject scales another workload of the template", () => {
    const helper = {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: "helper" },
      spec: { replicas: 3, template: { spec: { containers: [{ name: "a", image: "example.test/b:1" }] } } },
    };
    const other = scaledObject({ scaleTargetRef: { kind: "StatefulSet", name: "helper" } });
    const result = rendered({ manifests: [DEPLOYMENT, helper, other] });
    expect(specOf(result, "Deployment")).toHaveProperty("replicas", 1);
    expect(specOf(result, "StatefulSet")).not.toHaveProperty("replicas");
    expect(result.functions[0]).toMatchObject({ replicasOwner: "template" });
  });
});

describe("the minimum of a ScaledObject", () => {
  test.each<{ why: string; minimum?: unknown; given: Given; min: number; floor: number }>([
    { why: "is zero without one", given: {}, min: 0, floor: 0 },
    { why: "is the one of the template", minimum: 3, given: {}, min: 3, floor: 3 },
    { why: "is raised by enforcement", minimum: 3, given: { enforced: 7 }, min: 7, floor: 3 },
    { why: "is never below the one of the template", minimum: 3, given: { enforced: 1 }, min: 3, floor: 3 },
    {
      why: "is planned with placeholders",
      minimum: "{{ function.min_scale }}",
      given: { provision: { min_scale: 2 } },
      min: 2,
      floor: 2,
    },
    {
      why: "is enforced with placeholders, and its lower limit stays",
      minimum: "{{ function.replicas }}",
      given: { provision: { min_scale: 2 }, enforced: 6 },
      min: 6,
      floor: 2,
    },
    { why: "is within max_scale", minimum: 3, given: { provision: { max_scale: 5 }, enforced: 9 }, min: 5, floor: 3 },
    { why: "is within the quota", minimum: 1, given: { quota: 4, enforced: 9 }, min: 4, floor: 1 },
    { why: "is lowered by max_scale", minimum: 3, given: { provision: { max_scale: 2 } }, min: 2, floor: 2 },
  ])("$why", ({ minimum, given, min, floor }) => {
    const object = scaledObject(minimum === undefined ? {} : { minReplicaCount: minimum });
    const result = rendered({ manifests: [DEPLOYMENT, object], ...given });
    expect(specOf(result, "ScaledObject")?.["minReplicaCount"]).toBe(min);
    expect(result.functions[0]?.replicaLimits?.min.value).toBe(floor);
  });

  test("is always within the limits, and equal input renders equal objects", () => {
    const count = fc.integer({ min: 1, max: 40 });
    const optional = fc.option(count, { nil: undefined });
    fc.assert(
      fc.property(count, optional, optional, optional, (least, spread, most, enforced) => {
        const maximum = spread === undefined ? {} : { maxReplicaCount: least + spread };
        const given: Given = {
          manifests: [DEPLOYMENT, scaledObject({ minReplicaCount: least, ...maximum })],
          provision: most === undefined ? {} : { max_scale: most },
          ...(enforced === undefined ? {} : { enforced }),
        };
        const result = rendered(given);
        const spec = specOf(result, "ScaledObject") as { minReplicaCount: number; maxReplicaCount?: number };
        const ceiling = Math.min(most ?? 100, maximum.maxReplicaCount ?? 100);
        expect(spec.maxReplicaCount ?? 100).toBe(ceiling);
        expect(spec.minReplicaCount).toBe(Math.min(Math.max(enforced ?? least, least), ceiling));
        expect(rendered(given)).toEqual(result);
      }),
      { numRuns: 50 },
    );
  });

  test("counts for the quota of the environment", () => {
    const cpu = (minReplicaCount: number) =>
      demandOf(rendered({ manifests: [DEPLOYMENT, scaledObject({ minReplicaCount })] }).children).cpu.nano;
    expect(cpu(3)).toBe(3n * cpu(1));
    expect(cpu(0)).toBe(cpu(1));
  });
});

describe("rejects a ScaledObject", () => {
  test.each<{ why: string; object: object; given?: Given; says: string }>([
    {
      why: "of a workload of someone else",
      object: scaledObject({ scaleTargetRef: { name: "payments" } }),
      says: "$.manifests template mine: ScaledObject order scales Deployment payments, which is not a workload of the template",
    },
    {
      why: "that takes over an autoscaler",
      object: scaledObject({}, { "scaledobject.keda.sh/transfer-hpa-ownership": "true" }),
      says: "$.manifests[1].metadata.annotations['scaledobject.keda.sh/transfer-hpa-ownership'] a template cannot take over an autoscaler",
    },
    {
      why: "that names its autoscaler",
      object: scaledObject({ advanced: { horizontalPodAutoscalerConfig: { name: "other" } } }),
      says: "$.manifests[1].spec.advanced.horizontalPodAutoscalerConfig.name a template cannot name the autoscaler that KEDA creates",
    },
    {
      why: "with credentials of the cluster",
      object: scaledObject({
        triggers: [CPU, { type: "kafka", authenticationRef: { name: "a", kind: "ClusterTriggerAuthentication" } }],
      }),
      says: "$.manifests[1].spec.triggers[1].authenticationRef.kind a template cannot use credentials of kind ClusterTriggerAuthentication",
    },
    {
      why: "above the quota",
      object: scaledObject({ maxReplicaCount: 9 }),
      given: { quota: 4 },
      says: "$.manifests[1].spec.maxReplicaCount template mine: 9 is above the 4 replicas that environment prod allows",
    },
    {
      why: "that is paused above the quota",
      object: scaledObject({}, { "autoscaling.keda.sh/paused-replicas": "9" }),
      given: { quota: 4 },
      says: `$.manifests[1].metadata.annotations['autoscaling.keda.sh/paused-replicas'] template mine: "9" is above the 4 replicas that environment prod allows`,
    },
    {
      why: "of a class without replicas",
      object: scaledObject(),
      given: { provision: { max_scale: 0 } },
      says: "$.manifests template mine: ScaledObject order has the maximum 0",
    },
  ])("$why", ({ object, given, says }) => {
    expect(violations({ manifests: [DEPLOYMENT, object], ...given })).toEqual([says]);
  });

  test("except with credentials of the namespace", () => {
    const trigger = { type: "kafka", authenticationRef: { name: "a" } };
    expect(violations({ manifests: [DEPLOYMENT, scaledObject({ triggers: [trigger] })] })).toEqual([]);
  });
});
