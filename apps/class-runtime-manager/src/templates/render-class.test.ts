import type { ClassRuntimeInput } from "@oaas/contracts/crd";
import { isValidName } from "@oaas/kube-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Expected } from "../lifecycle/observation/observation.ts";
import { chooseAndRender } from "./selection/choose-and-render.ts";
import { BUILTIN_TEMPLATES } from "./builtin/registry.ts";
import { addDemand, checkQuotas, demandOf, fitsQuota, limitsOf, NO_DEMAND } from "./environment/quota.ts";
import { templateStatus } from "./selection/select.ts";
import type { Manifest, Rendered } from "../rendering/model/rendered.ts";
import { runningChildren } from "../rendering/workloads/running-children.ts";
import { CLUSTER, containerFunction, inputOf, type PartialInput } from "../rendering/testing/inputs.ts";
import { podSpecOf, restrictedProblems } from "../rendering/testing/restricted.ts";

type Spec = ClassRuntimeInput["spec"];

/** A cluster whose state store keeps objects on volumes. */
const PERSISTENT = { odgm: { ...CLUSTER.odgm, keepsObjectsOnVolumes: true } };

function render(given: PartialInput): Rendered {
  const result = chooseAndRender(inputOf(given), BUILTIN_TEMPLATES);
  if (!result.ok) throw new Error(result.error.message);
  return result.value.rendered;
}

function refusalOf(given: PartialInput) {
  const result = chooseAndRender(inputOf(given), BUILTIN_TEMPLATES);
  return result.ok ? undefined : result.error;
}

const find = ({ children }: Rendered, kind: string, name?: string): Manifest | undefined =>
  children.find((child) => child.kind === kind && (name === undefined || child.metadata.name === name));

const container = (object: Manifest | undefined) =>
  (podSpecOf(object ?? {})?.["containers"] as Record<string, unknown>[] | undefined)?.[0];

describe("function types", () => {
  const spec: Spec = {
    functions: [
      containerFunction("C.run"),
      { function_key: "C.wasm", provision_config: { wasm_module_url: "http://pm/1", container_image: "x" } },
      { function_key: "C.get", function_type: "builtin" },
      { function_key: "C.flow", function_type: "macro" },
      { function_key: "C.any", function_type: "logical" },
    ],
  };

  test("runs a module in an implied state store, and nothing for a builtin function", () => {
    const rendered = render({ spec });
    expect(
      rendered.functions.map(({ functionKey, runtime, service, predictedUrl }) => [
        functionKey,
        runtime,
        service,
        predictedUrl,
      ]),
    ).toEqual([
      ["C.run", "workload", "order-fn-0", "http://order-fn-0.shop.svc.cluster.local/"],
      ["C.wasm", "odgm", "", "wasm://C.wasm"],
      ["C.get", "none", "", ""],
      ["C.flow", "none", "", ""],
      ["C.any", "none", "", ""],
    ]);
    expect(rendered.odgm).toBeDefined();
    expect(rendered.children.filter(({ kind }) => kind === "Deployment")).toHaveLength(1);
    expect(rendered.children.filter(({ kind }) => kind === "StatefulSet")).toHaveLength(1);
  });

  test("rejects a module without a state store, with its path", () => {
    expect(refusalOf({ spec: { ...spec, addons: [] } })).toMatchObject({
      kind: "invalid",
      violations: [{ path: "$.functions[1].provision_config.wasm_module_url" }],
    });
  });
});

describe("enforced CPU and memory", () => {
  const spec: Spec = { functions: [containerFunction("C.run")] };
  const enforced = new Map([["C.run", { cpu: 900, memory: 2 ** 30 }]]);
  const renderEnforced = (podResize: boolean): Rendered => {
    const input = inputOf({ spec, cluster: { capabilities: { podResize } } });
    const result = chooseAndRender({ ...input, enforced }, BUILTIN_TEMPLATES);
    if (!result.ok) throw new Error(result.error.message);
    return result.value.rendered;
  };

  test("change the pod template where pods cannot be resized", () => {
    const rendered = renderEnforced(false);
    expect(container(find(rendered, "Deployment"))?.["resources"]).toMatchObject({ requests: { cpu: "900m" } });
    expect(rendered.functions[0]?.resources?.running).toEqual(rendered.functions[0]?.resources?.template);
  });

  test("leave all children as they are where pods are resized in place, and count in quotas", () => {
    const rendered = renderEnforced(true);
    const plain = render({ spec, cluster: { capabilities: { podResize: true } } });
    expect(rendered.children).toEqual(plain.children);
    expect(rendered.functions[0]?.resources?.running.requests).toEqual({ cpu: "900m", memory: "1073741824" });
    expect(demandOf(runningChildren(rendered.children, rendered.functions))).toEqual(
      demandOf(renderEnforced(false).children),
    );
    expect(runningChildren(plain.children, plain.functions)).toEqual(plain.children);
  });
});

describe("an autoscaler under enforcement", () => {
  const utilizationOf = (targetUtilization: number | undefined, requirements: object = {}, isEnforced = true) => {
    const provision_config = { container_image: "example.test/a:1", min_scale: 1, max_scale: 8 };
    const functions = [{ function_key: "C.run", provision_config }];
    const values = { replicas: 4, ...(targetUtilization === undefined ? {} : { targetUtilization }) };
    const rendered = render({
      spec: { functions, nfr_requirements: requirements },
      enforced: new Map([["C.run", values]]),
      isEnforced,
    });
    const autoscaler = find(rendered, "HorizontalPodAutoscaler")?.["spec"] as {
      readonly minReplicas: number;
      readonly maxReplicas: number;
      readonly metrics: readonly { readonly resource: { readonly target: { readonly averageUtilization: number } } }[];
    };
    expect([autoscaler.minReplicas, autoscaler.maxReplicas]).toEqual([4, 8]);
    return autoscaler.metrics[0]?.resource.target.averageUtilization;
  };

  test("takes the target that enforcement moves, within limits, unless the user states one", () => {
    expect(utilizationOf(undefined, {}, false)).toBe(70);
    expect(utilizationOf(undefined)).toBe(80);
    expect(utilizationOf(0.55)).toBe(55);
    expect(utilizationOf(7)).toBe(90);
    expect(utilizationOf(0.01)).toBe(30);
    expect(utilizationOf(0.55, { cpu_utilization_target: 0.8 })).toBe(80);
  });
});

describe("addons", () => {
  const functions = [containerFunction("a")];
  test.each<{ case: string; given: PartialInput; has: boolean }>([
    { case: "none for a class without state", given: { spec: { functions } }, has: false },
    { case: "odgm for state", given: { spec: { functions, state_spec: {} } }, has: true },
    { case: "odgm when listed", given: { spec: { functions, addons: ["ODGM"] } }, has: true },
    { case: "an empty list means none", given: { spec: { functions, state_spec: {}, addons: [] } }, has: false },
    {
      case: "disabled in its own settings",
      given: { spec: { functions, addons: ["odgm"], odgm_config: { enabled: false } } },
      has: false,
    },
    {
      case: "the environment's when the class states none",
      given: { spec: { functions }, environment: { name: "e", spec: { kind: "dev", default_addons: ["odgm"] } } },
      has: true,
    },
  ])("$case", ({ given, has }) => {
    expect(render(given).odgm !== undefined).toBe(has);
  });

  test("needs a configured image: the state store has no default image", () => {
    const spec = { functions, state_spec: {} };
    const cluster = { odgm: {} };
    expect(refusalOf({ spec, cluster })).toMatchObject({
      kind: "addon-disabled",
      message: expect.stringContaining("set OPRC_CRM_TEMPLATES_ODGM_IMAGE of the manager, or images.odgm") as string,
    });
    const environment = { name: "e", spec: { kind: "dev" as const, images: { odgm: "example.test/grid:2" } } };
    expect(JSON.stringify(render({ spec, cluster, environment }).children)).toContain("example.test/grid:2");
  });
});

describe("objects around a function", () => {
  const functions = [{ function_key: "a", provision_config: { container_image: "a", min_scale: 2, max_scale: 5 } }];

  test("renders an autoscaler only when supported and the maximum is above the minimum", () => {
    const scaled = render({ spec: { functions } });
    expect(find(scaled, "HorizontalPodAutoscaler")?.["spec"]).toMatchObject({ minReplicas: 2, maxReplicas: 5 });
    expect(find(scaled, "Deployment")?.["spec"]).not.toHaveProperty("replicas");
    for (const cluster of [{ features: { hpa: false } }, { capabilities: { horizontalPodAutoscaler: false } }]) {
      const plain = render({ spec: { functions }, cluster });
      expect(find(plain, "HorizontalPodAutoscaler")).toBeUndefined();
      expect(find(plain, "Deployment")?.["spec"]).toHaveProperty("replicas", 2);
    }
  });

  test("writes min_scale to autoscaler, Deployment and Knative Service alike", () => {
    const spec = { functions };
    expect(find(render({ spec }), "HorizontalPodAutoscaler")?.["spec"]).toHaveProperty("minReplicas", 2);
    const plain = render({ spec, cluster: { features: { hpa: false } } });
    expect(find(plain, "Deployment")?.["spec"]).toHaveProperty("replicas", 2);
    const knative = find(render({ spec: { ...spec, selected_template: "knative" } }), "Service");
    expect(knative?.["spec"]).toMatchObject({
      template: { metadata: { annotations: { "autoscaling.knative.dev/minScale": "2" } } },
    });
  });

  test("keeps the revision of a Knative Service when enforcement chooses another minimum", () => {
    const spec = { functions, selected_template: "knative" };
    const planned = render({ spec });
    const enforced = render({ spec, enforced: new Map([["a", { replicas: 4 }]]) });
    expect(find(enforced, "Service")?.["spec"]).toEqual(find(planned, "Service")?.["spec"]);
    expect(find(enforced, "Service")?.metadata.annotations).toMatchObject({ "oaas.io/enforced-min-scale": "4" });
    expect(find(planned, "Service")?.metadata.annotations).not.toHaveProperty("oaas.io/enforced-min-scale");
    const cpus = (rendered: Rendered): bigint => demandOf(rendered.children).cpu.nano;
    expect(cpus(enforced)).toBe(2n * cpus(planned));
  });

  test("renders a disruption budget only for templates with one, several pods and a cluster that supports it", () => {
    const one = [{ function_key: "a", provision_config: { container_image: "a", min_scale: 1 } }];
    const budget = (given: PartialInput) => find(render(given), "PodDisruptionBudget") !== undefined;
    expect(budget({ spec: { functions, selected_template: "full" } })).toBe(true);
    expect(budget({ spec: { functions, selected_template: "edge" } })).toBe(false);
    expect(budget({ spec: { functions: one, selected_template: "full" } })).toBe(false);
    expect(
      budget({
        spec: { functions, selected_template: "full" },
        cluster: { capabilities: { podDisruptionBudget: false } },
      }),
    ).toBe(false);
  });

  test("keeps functions serving before they stop where the cluster can, but not a job", () => {
    const lifecycle = (template: string, kind: string, podResize: boolean): unknown => {
      const spec = { functions, selected_template: template };
      const workload = find(render({ spec, cluster: { capabilities: { podResize } } }), kind);
      const containers = podSpecOf(workload ?? {})?.["containers"] as readonly { readonly lifecycle?: unknown }[];
      return containers[0]?.lifecycle;
    };
    expect(lifecycle("dev", "Deployment", true)).toEqual({ preStop: { sleep: { seconds: 3 } } });
    expect(lifecycle("full", "Deployment", true)).toEqual({ preStop: { sleep: { seconds: 5 } } });
    expect(lifecycle("full", "Deployment", false)).toBeUndefined();
    expect(lifecycle("job", "Job", true)).toBeUndefined();
  });

  test("sets the environment's priority class on pods, and none without it", () => {
    const priority = (given: Omit<PartialInput, "spec">) =>
      podSpecOf(find(render({ ...given, spec: { functions, selected_template: "full" } }), "Deployment") ?? {})?.[
        "priorityClassName"
      ];
    expect(priority({})).toBeUndefined();
    expect(priority({ environment: { name: "e", spec: { kind: "cloud", priorityClassName: "own" } } })).toBe("own");
  });

  describe("metrics", () => {
    interface Revision {
      readonly spec: { readonly template: { readonly metadata: { readonly annotations: object } } };
    }
    const on = { features: { prometheus: true } };
    const withoutKinds = { ...on, capabilities: { serviceMonitor: false, podMonitor: false } };
    const scrapedBy = (rendered: Rendered) =>
      rendered.children
        .filter(({ metadata }) => metadata.annotations?.["prometheus.io/scrape"] === "true")
        .map(({ kind, metadata }) => `${kind}/${metadata.name} ${metadata.annotations?.["prometheus.io/port"]}`);
    const monitors = (rendered: Rendered) =>
      rendered.children.filter(({ kind }) => kind.endsWith("Monitor")).map(({ metadata }) => metadata.name);

    test("has a monitor for functions and one for the state store", () => {
      const rendered = render({ spec: { functions, state_spec: {} }, cluster: on });
      expect(monitors(rendered)).toEqual(["order-odgm-svcmon", "order-svcmon"]);
      expect(rendered.monitoring).toEqual({ state: "monitored", kind: "ServiceMonitor" });
      expect(scrapedBy(rendered)).toEqual([]);
    });

    test("annotates one Service of each workload without the operator", () => {
      const rendered = render({
        spec: { functions, state_spec: {}, selected_template: "statefulset" },
        cluster: withoutKinds,
      });
      expect(monitors(rendered)).toEqual([]);
      expect(scrapedBy(rendered)).toEqual(["Service/order 80", "Service/order-odgm-svc 8080"]);
      expect(rendered.monitoring).toMatchObject({ state: "missing-kinds" });
    });

    test("does not restart pods when the operator is installed or removed", () => {
      const templates = ["dev", "edge", "full", "statefulset", "daemonset", "knative"];
      for (const selected_template of templates) {
        const pods = [on, withoutKinds].map((cluster) =>
          render({ spec: { functions, state_spec: {}, selected_template }, cluster }).children.flatMap(
            ({ spec }) => (spec as { template?: unknown } | undefined)?.template ?? [],
          ),
        );
        expect(pods[0]).toEqual(pods[1]);
      }
    });

    test("annotates the revision of a Knative function only when metrics are enabled", () => {
      const annotations = (cluster: NonNullable<PartialInput["cluster"]>) => {
        const rendered = render({ spec: { functions, selected_template: "knative" }, cluster });
        const { spec } = find(rendered, "Service") as unknown as Revision;
        return spec.template.metadata.annotations;
      };
      expect(annotations(on)).toMatchObject({ "prometheus.io/scrape": "true", "prometheus.io/port": "8080" });
      expect(annotations({})).not.toHaveProperty("prometheus.io/scrape");
    });

    test("has no monitor for functions without a Service", () => {
      const rendered = render({ spec: { functions, selected_template: "job" }, cluster: on });
      expect(monitors(rendered)).toEqual([]);
      expect(rendered.monitoring).toBeUndefined();
    });
  });

  test("renders the wait container when a wait image is set, except on Knative", () => {
    const waits = (given: Omit<PartialInput, "spec"> & { template: string }) => {
      const spec = { functions, state_spec: {}, selected_template: given.template };
      return podSpecOf(find(render({ ...given, spec }), "Deployment", "order") ?? {})?.["initContainers"] !== undefined;
    };
    const cluster = { waitImage: "wait:1" };
    expect(waits({ template: "full", cluster })).toBe(true);
    expect(waits({ template: "dev", cluster })).toBe(true);
    expect(waits({ template: "full" })).toBe(false);
    const onKnative = render({ cluster, spec: { functions, state_spec: {}, selected_template: "knative" } });
    expect(podSpecOf(find(onKnative, "Service", "order") ?? {})?.["initContainers"]).toBeUndefined();
  });

  describe("the files of the state store in functions", () => {
    const mountsOf = (provision: object, template = "full") => {
      const [fn] = functions;
      const own = { ...fn, provision_config: { ...fn?.provision_config, ...provision } };
      const spec = { functions: [own as (typeof functions)[number]], state_spec: {}, selected_template: template };
      const rendered = render({ spec });
      const workload = find(rendered, template === "knative" ? "Service" : "Deployment", "order");
      return {
        mounts: container(workload)?.["volumeMounts"],
        volumes: podSpecOf(workload ?? {})?.["volumes"],
        rendered,
      };
    };

    test.each(["full", "knative"])("are mounted at /config with template %s", (template) => {
      const { mounts, volumes, rendered } = mountsOf({}, template);
      expect(mounts).toEqual([{ name: "odgm-config", mountPath: "/config", readOnly: true }]);
      expect(volumes).toEqual([{ name: "odgm-config", configMap: { name: "order-odgm-config" } }]);
      expect(find(rendered, "ConfigMap", "order-odgm-config")?.["data"]).toHaveProperty("collections.json");
    });

    test.each([
      { case: "its path", name: "own", mountPath: "/config" },
      { case: "a path in it", name: "own", mountPath: "/config/app/" },
      { case: "the root", name: "own", mountPath: "/" },
      { case: "its volume name", name: "odgm-config", mountPath: "/app" },
    ])("are left out when the function uses $case", ({ name, mountPath }) => {
      const { mounts } = mountsOf({ volumes: [{ name, emptyDir: {} }], volumeMounts: [{ name, mountPath }] });
      expect(mounts).toEqual([expect.objectContaining({ name, mountPath })]);
    });

    test("stay when another volume is mounted beside them", () => {
      const provision = {
        volumes: [{ name: "own", emptyDir: {} }],
        volumeMounts: [{ name: "own", mountPath: "/configs" }],
      };
      expect(mountsOf(provision).mounts).toHaveLength(2);
    });

    test("are absent without a state store", () => {
      expect(container(find(render({ spec: { functions } }), "Deployment"))?.["volumeMounts"]).toBeUndefined();
    });
  });

  test("derives the maximum of an autoscaler from the required throughput", () => {
    const nfr_requirements = { throughput: 2500 };
    const spec = { functions: [containerFunction("a")], nfr_requirements, selected_template: "k8s_deployment" };
    const rendered = render({ spec });
    expect(find(rendered, "HorizontalPodAutoscaler")).toMatchObject({
      spec: { minReplicas: 3, maxReplicas: 6, metrics: [{ resource: { target: { averageUtilization: 70 } } }] },
    });
    expect(rendered.functions[0]).toMatchObject({ replicasOwner: "autoscaler", maxReplicas: 6 });
    expect(find(render({ spec, isEnforced: true }), "HorizontalPodAutoscaler")).toBeUndefined();
  });

  test("limits functions to the access that the patterns of their collections have in common", () => {
    const modeOf = (second: string, integration: object = {}) => {
      const collections = [
        { name: "a", access_patterns: ["read_only" as const] },
        { name: "b", access_patterns: [second as "read_only"] },
      ];
      const fn = { ...containerFunction("a"), odgm_integration: integration };
      const rendered = render({ spec: { functions: [fn], odgm_config: { collections } } });
      const env = container(find(rendered, "Deployment", "order"))?.["env"] as { name: string; value: string }[];
      return env.find(({ name }) => name === "ODGM_ACCESS_MODE")?.value;
    };
    expect(modeOf("batch_read")).toBe("read_only");
    expect(modeOf("read_write")).toBeUndefined();
    expect(modeOf("read_write", { collections: ["a"] })).toBe("read_only");
    expect(modeOf("read_only", { access_mode: "read_write" })).toBe("read_write");
  });
});

describe("environment variables of a function", () => {
  test("prefers the config of the function", () => {
    const functions = [{ ...containerFunction("a"), config: { FUNCTION_KEY: "mine", EXTRA: "1" } }];
    const env = container(find(render({ spec: { functions } }), "Deployment"))?.["env"];
    expect(env).toContainEqual({ name: "FUNCTION_KEY", value: "mine" });
    expect(env).toContainEqual({ name: "EXTRA", value: "1" });
  });

  test("rejects invalid and reserved names, with their paths", () => {
    const functions = [{ ...containerFunction("a"), config: { "A=B": "1", PORT: "80" } }];
    expect(refusalOf({ spec: { functions } })?.violations.map(({ path }) => path)).toEqual([
      "$.functions[0].config['A=B']",
    ]);
    expect(
      refusalOf({ spec: { functions, selected_template: "knative" } })?.violations.map(({ path }) => path),
    ).toEqual(["$.functions[0].config['A=B']", "$.functions[0].config.PORT"]);
  });
});

test("renders a class that the lifecycle accepts as expected state", () => {
  const spec = { functions: [containerFunction("a"), { function_key: "b", function_type: "builtin" }], state_spec: {} };
  const chosen = chooseAndRender(inputOf({ spec }), BUILTIN_TEMPLATES);
  if (!chosen.ok) throw new Error(chosen.error.message);
  const { rendered, selection } = chosen.value;
  const expected: Expected = { ...rendered, template: templateStatus(selection) };
  expect(expected).toMatchObject({
    template: { name: "dev", basis: "score" },
    functions: [
      { service: "order-fn-0", port: 80, replicas: 1 },
      { runtime: "none", service: "", port: 0 },
    ],
    odgm: { workloads: [{ name: "order-odgm" }], replicas: 1, shardType: "basic" },
  });
});

test("returns all violations of a class at once", () => {
  const functions = [
    { function_key: "a", provision_config: { container_image: "evil.local/a", min_scale: 9 } },
    { function_key: "b", provision_config: { container_image: "evil.local/b" } },
  ];
  const environment = {
    name: "e",
    spec: {
      kind: "dev" as const,
      images: { allowed_registries: ["good.local/"] },
      quotas: { max_replicas: 3, max_functions_per_class: 1 },
    },
  };
  expect(refusalOf({ spec: { functions }, environment })?.violations.map(({ path }) => path)).toEqual([
    "$.functions",
    "$.functions[0].provision_config.container_image",
    "$.functions[0].provision_config.min_scale",
    "$.functions[1].provision_config.container_image",
  ]);
});

describe("quotas of an environment", () => {
  const functions = [
    {
      function_key: "a",
      provision_config: {
        container_image: "a",
        min_scale: 3,
        max_scale: 9,
        cpu_request: "500m",
        memory_request: "1Gi",
      },
    },
  ];
  const { children } = render({
    spec: { functions, state_spec: { persistent: true, storage_request: "5Gi" } },
    cluster: PERSISTENT,
  });
  const own = demandOf(children);

  test("sums pods at minimum scale and all volumes", () => {
    expect(own.classes).toBe(1);
    expect(own.cpu.nano).toBe(1_550_000_000n);
    expect(own.memory.nano).toBe((3n * 1024n + 128n) * 1024n * 1024n * 1_000_000_000n);
    expect(own.storage.nano).toBe(5n * 1024n ** 3n * 1_000_000_000n);
  });

  test("ignores the current replicas of an autoscaled child", () => {
    const there = children.map((child) =>
      child.kind === "Deployment" ? { ...child, spec: { ...(child["spec"] as object), replicas: 7 } } : child,
    );
    expect(demandOf(there)).toEqual(own);
  });

  test("reports exceeded quotas with field, numbers and fix", () => {
    const used = addDemand(NO_DEMAND, own);
    const question = { used, held: NO_DEMAND, requested: own };
    expect(checkQuotas("e", { max_classes: 2, cpu: "4", memory: "7Gi", storage: "10Gi" }, question)).toEqual([]);
    const tight = { max_classes: 1, cpu: "3", memory: "6Gi", storage: "9Gi" };
    const broken = checkQuotas("e", tight, question);
    expect(broken.map(({ fix }) => fix?.match(/quotas\.\w+/)?.[0])).toEqual([
      "quotas.max_classes",
      "quotas.cpu",
      "quotas.memory",
      "quotas.storage",
    ]);
    expect(broken[1]?.message).toContain("requests 1550m");
    expect(broken[1]?.message).toContain("use 1550m of 3");
    expect(checkQuotas("e", tight, { ...question, held: own })).toEqual([]);
    for (const quotas of [tight, { ...tight, cpu: "4" }, { cpu: "4" }, { max_classes: 2 }, undefined])
      expect(fitsQuota(limitsOf(quotas), question)).toBe(checkQuotas("e", quotas, question).length === 0);
  });
});

const key = fc.stringMatching(/^[A-Za-z][A-Za-z0-9._-]{0,70}[A-Za-z0-9]$/);
const anyFunction = fc.record(
  {
    container_image: fc.constant("registry.local/a:1"),
    port: fc.integer({ min: 1, max: 65_535 }),
    min_scale: fc.nat(3),
    max_scale: fc.integer({ min: 3, max: 9 }),
    need_http2: fc.boolean(),
    cpu_request: fc.constantFrom("10m", "1", "2500m"),
  },
  { requiredKeys: ["container_image"] },
);
const anyClass = fc.record({
  name: fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/),
  keys: fc.uniqueArray(key, { minLength: 1, maxLength: 6 }),
  provisions: fc.array(anyFunction, { minLength: 6, maxLength: 6 }),
  template: fc.constantFrom(...BUILTIN_TEMPLATES.map(({ id }) => id)),
  persistent: fc.boolean(),
  copies: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
});
type AnyClass = typeof anyClass extends fc.Arbitrary<infer T> ? T : never;

function inputFor({ name, keys, provisions, template, persistent, copies }: AnyClass): PartialInput {
  return {
    name,
    spec: {
      selected_template: template,
      functions: keys.map((function_key, index) => ({
        function_key,
        provision_config: template === "knative" ? provisions[index]! : withReplica(provisions[index]!),
      })),
      state_spec: { persistent },
      ...(copies === undefined ? {} : { odgm_config: { replica_count: copies } }),
    },
    environment: { name: "e", spec: { kind: "cloud", network_policy: { enabled: true } } },
    cluster: { waitImage: "wait:1", features: { prometheus: true }, ...PERSISTENT },
  };
}

/** Templates other than Knative refuse to scale to zero. */
function withReplica<T extends { readonly min_scale?: number }>(provision: T): T {
  return provision.min_scale === 0 ? { ...provision, min_scale: 1 } : provision;
}

describe("any class with any template", () => {
  test("names, owns and labels every child, and restricts every pod", () => {
    fc.assert(
      fc.property(anyClass, (given) => {
        const { children } = render(inputFor(given));
        const names = children.map(({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.name}`);
        expect(new Set(names).size).toBe(names.length);
        for (const { metadata } of children) {
          expect(isValidName("dns-1035-label", metadata.name ?? ""), metadata.name).toBe(true);
          expect(metadata.ownerReferences?.[0]?.name).toBe(given.name);
          expect(metadata.labels?.["oaas.io/owner"]).toBe(given.name);
          for (const value of Object.values(metadata.labels ?? {}))
            expect(isValidName("label-value", value), value).toBe(true);
        }
        expect(children.map(podSpecOf).flatMap((pod) => (pod === undefined ? [] : restrictedProblems(pod)))).toEqual(
          [],
        );
      }),
      { numRuns: 60 },
    );
  });

  test("renders deterministically, with selectors that match only own pods", () => {
    fc.assert(
      fc.property(anyClass, (given) => {
        const rendered = render(inputFor(given));
        expect(JSON.stringify(render(inputFor(given)))).toBe(JSON.stringify(rendered));
        const workloads = rendered.children.filter(({ apiVersion }) => apiVersion === "apps/v1");
        for (const workload of workloads) {
          const { selector } = workload["spec"] as { selector: { matchLabels: Record<string, string> } };
          const matched = workloads.filter((other) => {
            const { template } = other["spec"] as { template: { metadata: { labels: Record<string, string> } } };
            return Object.entries(selector.matchLabels).every(
              ([name, value]) => template.metadata.labels[name] === value,
            );
          });
          expect(matched).toEqual([workload]);
        }
      }),
      { numRuns: 40 },
    );
  });

  test("ignores the order of functions with assigned names", () => {
    fc.assert(
      fc.property(anyClass, (given) => {
        const input = inputFor(given);
        const first = render(input);
        const assignedNames = Object.fromEntries(
          first.functions
            .filter(({ service }) => service !== "")
            .map(({ functionKey, service }) => [functionKey, service]),
        );
        fc.pre(Object.keys(assignedNames).length === first.functions.length);
        const spec = { ...input.spec, functions: [...(input.spec.functions ?? [])].reverse() };
        const again = render({ ...input, spec, assignedNames });
        expect(again.children).toEqual(first.children);
      }),
      { numRuns: 40 },
    );
  });
});

describe("an update of a Deployment", () => {
  const CLAIM = { name: "disk", persistentVolumeClaim: { claimName: "disk" } };
  const cases: readonly { why: string; template: string; replicas: number; volumes?: object[]; surge: number }[] = [
    { why: "keeps a single replica serving", template: "dev", replicas: 1, surge: 1 },
    { why: "keeps a single replica serving at the edge", template: "edge", replicas: 1, surge: 1 },
    { why: "replaces pods where others serve", template: "dev", replicas: 2, surge: 0 },
    {
      why: "replaces a pod whose claim may be ReadWriteOnce",
      template: "dev",
      replicas: 1,
      volumes: [CLAIM],
      surge: 0,
    },
    {
      why: "keeps serving with other volumes",
      template: "dev",
      replicas: 1,
      volumes: [{ name: "tmp", emptyDir: {} }],
      surge: 1,
    },
  ];
  test.each(cases)("$why", ({ template, replicas, volumes, surge }) => {
    const fn = containerFunction("C.run");
    const functions = [
      {
        ...fn,
        provision_config: { ...fn.provision_config, min_scale: replicas },
        ...(volumes === undefined ? {} : { volumes }),
      },
    ] as Spec["functions"];
    const rendered = render({ spec: { functions, template_hint: template } });
    expect(find(rendered, "Deployment")?.["spec"]).toMatchObject({
      strategy: { rollingUpdate: { maxSurge: surge, maxUnavailable: 1 - surge } },
    });
  });
});

describe("pod settings", () => {
  const provision_config = {
    container_image: "registry.local/a:1",
    port: 9000,
    env: [{ name: "TOKEN", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }],
    envFrom: [{ configMapRef: { name: "c" } }],
    command: ["/app"],
    args: ["-v"],
    readinessProbe: { httpGet: { path: "/ready" } },
    volumes: [{ name: "tls", secret: { secretName: "tls" } }],
    volumeMounts: [{ name: "tls", mountPath: "/tls" }],
    resources: { limits: { "nvidia.com/gpu": 1 } },
    securityContext: { runAsUser: 1000, capabilities: { drop: ["CHOWN"] } },
    serviceAccountName: "billing",
    imagePullSecrets: [{ name: "registry" }],
  };
  const spec = (more: object = {}): Spec => ({
    functions: [{ function_key: "C.run", provision_config: { ...provision_config, ...more } }],
  });

  const WITH_PROBES = ["dev", "edge", "full", "k8s_deployment", "statefulset", "daemonset", "knative"];

  test.each(WITH_PROBES)("are rendered by %s", (template) => {
    const rendered = render({ spec: { ...spec(), selected_template: template } });
    const workload = rendered.children.find(
      (child) => child.metadata.name === rendered.functions[0]?.workload?.name && podSpecOf(child) !== undefined,
    );
    const pod = podSpecOf(workload ?? {});
    expect(container(workload)).toMatchObject({
      command: ["/app"],
      args: ["-v"],
      envFrom: [{ configMapRef: { name: "c" } }],
      env: expect.arrayContaining(provision_config.env) as unknown,
      readinessProbe: { httpGet: { path: "/ready", port: 9000 } },
      volumeMounts: [{ name: "tls", mountPath: "/tls" }],
      resources: { limits: { "nvidia.com/gpu": "1" } },
      securityContext: { runAsUser: 1000, capabilities: { drop: ["ALL", "CHOWN"] } },
    });
    expect(pod).toMatchObject({
      volumes: provision_config.volumes,
      serviceAccountName: "billing",
      imagePullSecrets: [{ name: "registry" }],
    });
  });

  test("are refused with a name of the platform and with a name of config", () => {
    const reserved = spec({ env: [{ name: "FUNCTION_KEY", value: "x" }] });
    expect(JSON.stringify(refusalOf({ spec: reserved }))).toContain("FUNCTION_KEY is set by the platform");
    const [fn] = spec({ env: [{ name: "A", value: "x" }] }).functions ?? [];
    const twice = { functions: [{ ...fn, config: { A: "y" } }] } as Spec;
    expect(JSON.stringify(refusalOf({ spec: twice }))).toContain("A is also in config");
  });

  test("name the default account for a projected token, which the API server requires", () => {
    const volumes = [{ name: "token", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } }];
    const settings = { volumes, volumeMounts: [], serviceAccountName: undefined };
    const identityOf = (more: object) =>
      podSpecOf(find(render({ spec: spec({ ...settings, ...more }) }), "Deployment") ?? {});
    expect(identityOf({})).toMatchObject({ serviceAccountName: "default", automountServiceAccountToken: false });
    expect(identityOf({ serviceAccountName: "billing" })).toMatchObject({ serviceAccountName: "billing" });
    expect(identityOf({ volumes: [] })?.["serviceAccountName"]).toBeUndefined();
  });

  test("are rendered by job, which has no probes", () => {
    const rendered = render({ spec: { ...spec(), selected_template: "job" } });
    const job = find(rendered, "Job");
    expect(container(job)).toMatchObject({
      command: ["/app"],
      envFrom: [{ configMapRef: { name: "c" } }],
      resources: { limits: { "nvidia.com/gpu": "1" } },
    });
    expect(container(job)).not.toHaveProperty("readinessProbe");
  });

  const SPREAD = [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" }];

  test.each(["dev", "edge", "full", "k8s_deployment", "statefulset", "daemonset", "job"])(
    "for scheduling are rendered by %s",
    (template) => {
      const stated = { priorityClassName: "high", topologySpreadConstraints: SPREAD };
      const rendered = render({ spec: { ...spec(stated), selected_template: template } });
      const [pod] = rendered.children.flatMap((child) => podSpecOf(child) ?? []);
      expect(pod).toMatchObject({
        priorityClassName: "high",
        topologySpreadConstraints: [{ ...SPREAD[0], labelSelector: { matchLabels: { app: "order" } } }],
      });
    },
  );

  test.each<{ setting: object; path: string; flag: string }>([
    { setting: { priorityClassName: "high" }, path: "priorityClassName", flag: "podspec-priorityclassname" },
    {
      setting: { topologySpreadConstraints: SPREAD },
      path: "topologySpreadConstraints",
      flag: "podspec-topologyspreadconstraints",
    },
    {
      setting: { env: [{ name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }] },
      path: "env[0].valueFrom.fieldRef",
      flag: "podspec-fieldref",
    },
    {
      setting: { env: [{ name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } }] },
      path: "env[0].valueFrom.resourceFieldRef",
      flag: "podspec-fieldref",
    },
    {
      setting: {
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
        volumeMounts: [{ name: "data", mountPath: "/data" }],
      },
      path: "volumes[0].persistentVolumeClaim",
      flag: "podspec-persistent-volume-claim",
    },
  ])("are refused by knative with the feature that $path needs", ({ setting, path, flag }) => {
    const refusal = refusalOf({ spec: { ...spec(setting), selected_template: "knative" } });
    expect(refusal?.violations).toMatchObject([
      {
        path: `$.functions[0].provision_config.${path}`,
        message: expect.stringContaining(`without the Knative feature kubernetes.${flag}`) as string,
        fix: "use another template, such as k8s_deployment",
      },
    ]);
  });
});
