import { describe, expect, test } from "vitest";
import { inputOf, templateSpecOf, type PartialInput } from "../../rendering/testing/inputs.ts";
import { BUILTIN_TEMPLATES } from "../builtin/registry.ts";
import type { Template } from "../template.ts";
import { userTemplate } from "../user-template/user-template.ts";
import { chooseAndRender } from "./choose-and-render.ts";

const DEPLOYMENT = { apiVersion: "apps/v1", kind: "Deployment" };
const WAKING = { type: "prometheus", metadata: { serverAddress: "http://prometheus", query: "up", threshold: "1" } };
const CPU = { type: "cpu", metricType: "Utilization", metadata: { value: "60" } };

const scaledObject = (triggers: readonly object[], spec: object = {}) => ({
  apiVersion: "keda.sh/v1alpha1",
  kind: "ScaledObject",
  spec: { scaleTargetRef: { name: "{{ function.name }}" }, triggers, ...spec },
});
const httpScaledObject = (replicas: object = {}) => ({
  apiVersion: "http.keda.sh/v1alpha1",
  kind: "HTTPScaledObject",
  spec: { hosts: ["{{ function.name }}"], scaleTargetRef: { name: "{{ function.name }}" }, replicas },
});

function templateOf(manifests: readonly object[], type: "Deployment" | "Knative" = "Deployment"): Template {
  const spec = templateSpecOf({
    template_type: type,
    manifests: manifests as Parameters<typeof templateSpecOf>[0]["manifests"],
  });
  const template = userTemplate("mine", spec);
  if (!template.ok) throw new Error(JSON.stringify(template.error));
  return template.value;
}

type Given = Omit<PartialInput, "spec"> & {
  readonly provision?: object;
  readonly spec?: object;
  readonly template?: Template;
};

function choose({ provision = { min_scale: 0 }, spec, template, ...rest }: Given) {
  const functions = [
    { function_key: "place", provision_config: { container_image: "example.test/a:1", ...provision } },
  ];
  const input = inputOf({ ...rest, spec: { functions, ...spec } });
  return chooseAndRender(input, [...BUILTIN_TEMPLATES, ...(template === undefined ? [] : [template])]);
}

function rendered(given: Given) {
  const result = choose(given);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

const refusalOf = (given: Given) => {
  const result = choose(given);
  return result.ok ? undefined : result.error;
};
const specOf = (given: Given, kind: string) =>
  rendered(given).rendered.children.find((child) => child.kind === kind)?.["spec"] as Record<string, unknown>;

const PATH = "$.functions[0].provision_config.min_scale";
const MINE = { selected_template: "mine" };

describe("a class with min_scale 0", () => {
  test("selects Knative even where another template has a higher score", () => {
    const { selection, rendered: made } = rendered({});
    expect(selection.template.id).toBe("knative");
    expect(made.functions).toMatchObject([{ replicas: 0, replicasOwner: "knative" }]);
    const dev = selection.table.find(({ name }) => name === "dev");
    expect(dev).toMatchObject({ eligible: false });
    expect(dev?.because[0]).toContain("cannot scale to zero: a Deployment has no scaler");
  });

  test.each(["dev", "edge", "full", "k8s_deployment", "statefulset", "daemonset", "job"])(
    "is refused by %s, with field, reason and remedy",
    (id) => {
      const refusal = refusalOf({ spec: { selected_template: id } });
      expect(refusal).toMatchObject({ kind: "invalid", violations: [{ path: PATH }] });
      const [violation] = refusal?.violations ?? [];
      expect(violation?.message).toContain(`min_scale is 0, but template ${id} cannot scale it to zero: a `);
      expect(violation?.fix).toBe("use template knative, or set min_scale to 1");
    },
  );

  test("is refused without any template for it", () => {
    const cluster = { capabilities: { knative: false } };
    expect(refusalOf({ cluster })?.violations).toEqual([
      {
        path: PATH,
        message: "min_scale is 0, but no template that may be chosen can scale it to zero",
        fix:
          "install Knative Serving, or KEDA and a DeploymentTemplate whose ScaledObject starts the first replica, " +
          "or set min_scale to 1",
      },
    ]);
  });

  test("does not follow a hint that cannot scale to zero", () => {
    expect(rendered({ spec: { template_hint: "full" } }).selection).toMatchObject({ basis: "score" });
  });

  test.each<{ why: string; given: Given }>([
    { why: "a maximum of zero, which switches the function off", given: { provision: { min_scale: 0, max_scale: 0 } } },
    { why: "only the environment has zero as a default", given: { provision: {}, environment: environment(0) } },
    { why: "only the class has zero as a default", given: { provision: {}, spec: allocation(0) } },
    { why: "the function runs in the state store", given: wasm() },
  ])("is not required with $why", ({ given }) => {
    const result = choose({ ...given, spec: { selected_template: "k8s_deployment", ...given.spec } });
    expect(result.ok).toBe(true);
  });

  test("reports every function that states it", () => {
    const fn = { container_image: "example.test/a:1", min_scale: 0 };
    const functions = ["a", "b", "c"].map((key) => ({ function_key: key, provision_config: fn }));
    const refusal = refusalOf({ spec: { functions, selected_template: "dev" } });
    expect(refusal?.violations.map(({ path }) => path)).toEqual(
      [0, 1, 2].map((index) => `$.functions[${index}].provision_config.min_scale`),
    );
  });
});

function environment(min: number): NonNullable<PartialInput["environment"]> {
  return { name: "e", spec: { kind: "cloud", scale: { min_scale: min } } };
}

function allocation(min: number): object {
  return { resource_allocation: { min_replicas: min } };
}

function wasm(): Given {
  const provision = { container_image: undefined, wasm_module_url: "http://modules.test/a.wasm", min_scale: 0 };
  return { provision, spec: { state_spec: {}, addons: ["odgm"] } };
}

describe("a user template", () => {
  test.each<{ why: string; manifests: readonly object[] }>([
    { why: "a ScaledObject with a trigger from outside", manifests: [DEPLOYMENT, scaledObject([CPU, WAKING])] },
    {
      why: "a ScaledObject that follows the minimum of the class",
      manifests: [DEPLOYMENT, scaledObject([WAKING], { minReplicaCount: "{{ function.replicas }}" })],
    },
  ])("scales to zero with $why", ({ manifests }) => {
    const given = { template: templateOf(manifests), spec: MINE };
    expect(rendered(given).rendered.functions).toMatchObject([{ replicas: 0, replicasOwner: "keda" }]);
    expect(specOf(given, "ScaledObject")).toMatchObject({ minReplicaCount: 0 });
    expect(specOf(given, "Deployment")).not.toHaveProperty("replicas");
  });

  test("scales to zero with an HTTPScaledObject, and keeps the minimum of other classes", () => {
    const template = templateOf([DEPLOYMENT, httpScaledObject({ min: "{{ function.min_scale }}" })]);
    const given = { template, spec: MINE };
    expect(specOf(given, "HTTPScaledObject")).toMatchObject({ replicas: { min: 0 } });
    expect(specOf(given, "Deployment")).not.toHaveProperty("replicas");
    const two = { ...given, provision: { min_scale: 2, max_scale: 5 } };
    expect(specOf(two, "HTTPScaledObject")).toMatchObject({ replicas: { min: 2, max: 5 } });
    expect(rendered(two).rendered.functions).toMatchObject([
      {
        replicas: 2,
        maxReplicas: 5,
        replicasOwner: "keda",
        whyReplicasFixed: expect.stringContaining("HTTP") as string,
      },
    ]);
  });

  test.each<{ why: string; manifests: readonly object[]; type?: "Knative"; cluster?: Given["cluster"]; text: string }>([
    { why: "no scaler", manifests: [DEPLOYMENT], text: "it has no ScaledObject or HTTPScaledObject" },
    {
      why: "only triggers that measure pods",
      manifests: [DEPLOYMENT, scaledObject([CPU])],
      text: "the triggers cpu and memory of its ScaledObject have no value without a replica",
    },
    {
      why: "a minimum of its own",
      manifests: [DEPLOYMENT, scaledObject([WAKING], { minReplicaCount: 2 })],
      text: "template mine keeps at least one replica",
    },
    {
      why: "KEDA that is not installed",
      manifests: [DEPLOYMENT, scaledObject([WAKING])],
      cluster: { capabilities: { scaledObject: false } },
      text: "the cluster does not serve keda.sh/v1alpha1 ScaledObject",
    },
    {
      why: "an HTTP add-on that is not installed",
      manifests: [DEPLOYMENT, httpScaledObject()],
      cluster: { capabilities: { httpScaledObject: false } },
      text: "the cluster does not serve http.keda.sh/v1alpha1 HTTPScaledObject",
    },
    {
      why: "a minimum of Knative of its own",
      manifests: [
        {
          apiVersion: "serving.knative.dev/v1",
          kind: "Service",
          spec: { template: { metadata: { annotations: { "autoscaling.knative.dev/minScale": "2" } } } },
        },
      ],
      type: "Knative",
      text: "fixes the minimum scale",
    },
  ])("is refused with $why", ({ manifests, type, cluster, text }) => {
    const template = templateOf(manifests, type);
    const refusal = refusalOf({ template, spec: MINE, ...(cluster === undefined ? {} : { cluster }) });
    expect(refusal).toMatchObject({ kind: "invalid", violations: [{ path: PATH }] });
    expect(refusal?.message).toContain(text);
  });
});

describe("enforcement of a function with min_scale 0", () => {
  const enforced = new Map([["place", { replicas: 4 }]]);

  test("does not keep replicas, and says why", () => {
    for (const given of [{}, { template: templateOf([DEPLOYMENT, scaledObject([WAKING])]), spec: MINE }]) {
      const [fn] = rendered({ ...given, enforced, isEnforced: true }).rendered.functions;
      expect(fn).toMatchObject({ replicas: 0 });
      expect(fn).not.toHaveProperty("replicaLimits");
      expect(fn?.whyReplicasFixed).toContain("min_scale 0 lets the function scale to zero");
    }
  });

  test("is unchanged for a function that states no minimum", () => {
    const [fn] = rendered({ provision: {}, spec: { selected_template: "knative" }, enforced }).rendered.functions;
    expect(fn).toMatchObject({ replicas: 4, replicaLimits: { min: { value: 0 } } });
  });
});
