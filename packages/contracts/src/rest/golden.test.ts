import { readFileSync } from "node:fs";
import type { Package } from "@oaas/models";
import { describe, expect, test } from "vitest";
import { classDeploymentToWire, observedDeploymentInput } from "./resources/deployment/class-deployment.ts";
import { classRuntimeInput, classRuntimeToWire } from "./resources/cluster/class-runtime.ts";
import { packageFromWire, packageToWire, packageView } from "./resources/package/package.ts";
import { readBy } from "./reading/violations.ts";
import { documentFromYaml } from "./reading/yaml-document.ts";

function sample(name: string): string {
  return readFileSync(new URL(`testdata/${name}`, import.meta.url), "utf8");
}

/** Documents come from YAML and JSON by the same way, as they do in PM. */
function packageIn(name: string): Package {
  const document = documentFromYaml(sample(name));
  const read = document.ok ? packageFromWire(document.value) : document;
  if (!read.ok) throw new Error(JSON.stringify(read.error, null, 2));
  return read.value;
}

describe("a hand-written package", () => {
  const counter = packageIn("counter.package.yaml");

  test("keeps the source text of strings", () => {
    expect(counter.version).toBe("1.0");
    expect(counter.metadata.tags).toEqual(["demo", "2025"]);
    expect(counter.functions[0]?.config).toEqual({ HTTP_PORT: "80", DEBUG: "True", RATIO: "1.50" });
    expect(counter.functions[0]?.provision?.cpuRequest).toBe("0.5");
    expect(counter.deployments[0]?.telemetry?.resourceAttributes).toEqual({ tier: "1" });
  });

  test("fills in every default", () => {
    expect(counter.classes).toEqual([
      {
        key: "Counter",
        description: "Counts things",
        disabled: false,
        stateSpec: {
          keySpecs: [{ name: "total", keyType: "u64", nullable: false }],
          defaultProvider: "",
          consistencyModel: "strong",
          shape: "data",
          persistent: true,
          serializationFormat: "",
        },
        bindings: [
          {
            name: "add",
            functionKey: "Counter.add",
            accessModifier: "public",
            stateless: false,
            parameters: [],
            triggerOnStateChange: false,
            asyncExecution: false,
          },
          {
            name: "peek",
            functionKey: "Counter.peek",
            accessModifier: "internal",
            stateless: true,
            parameters: ["who"],
            triggerOnStateChange: false,
            asyncExecution: false,
          },
        ],
      },
    ]);
    expect(counter.deployments).toEqual([
      {
        key: "counter-prod",
        classKey: "Counter",
        targetClusters: ["oaas-1", "oaas-2"],
        availableClusters: [],
        nfr: { availability: 0.999, minThroughputRps: 500 },
        clusterTemplates: { "oaas-1": "knative" },
        functions: [],
        odgm: { collections: [], nodeIds: {}, log: "info,oprc=debug" },
        telemetry: { samplingRate: 0.25, resourceAttributes: { tier: "1" } },
        allowBestEffort: false,
      },
    ]);
  });

  test("is written with null and absent fields as in the contract", () => {
    expect(packageToWire(counter).functions).toEqual([
      {
        key: "Counter.add",
        function_type: "CUSTOM",
        description: null,
        provision_config: {
          container_image: "registry.example/shop/counter:1.0",
          port: 8080,
          max_concurrency: 0,
          need_http2: false,
          cpu_request: "0.5",
          memory_request: "256Mi",
          cpu_limit: null,
          memory_limit: null,
          min_scale: 1,
          max_scale: 4,
        },
        config: { HTTP_PORT: "80", DEBUG: "True", RATIO: "1.50" },
        disabled: false,
      },
      {
        key: "Counter.peek",
        function_type: "WASM",
        description: null,
        provision_config: {
          wasm_module_url: "https://modules.example/peek.wasm",
          port: null,
          max_concurrency: 0,
          need_http2: false,
          cpu_request: null,
          memory_request: null,
          cpu_limit: null,
          memory_limit: null,
          min_scale: null,
          max_scale: null,
        },
        config: {},
        disabled: false,
      },
    ]);
  });
});

describe("responses of peers round-trip", () => {
  test("a deployment of the earlier implementation", () => {
    const wire = JSON.parse(sample("upstream.deployment.json")) as Record<string, unknown>;
    const read = readBy(observedDeploymentInput, wire);
    if (!read.ok) throw new Error(JSON.stringify(read.error));
    expect(read.value.condition).toBe("running");
    expect(read.value.deployment.odgm?.nodeIds).toEqual({ "oaas-1": [4_294_967_295] });

    const { target_clusters, ...sent } = classDeploymentToWire(read.value);
    expect(target_clusters).toEqual(wire["target_envs"]);
    expect(sent).toEqual({
      ...wire,
      health: "Running",
      nfr_requirements: { ...(wire["nfr_requirements"] as object), max_latency_ms: null },
    });
  });

  test("a class runtime, with PascalCase conditions", () => {
    const wire = JSON.parse(sample("upstream.class-runtime.json")) as { readonly status: object };
    const read = readBy(classRuntimeInput, wire);
    if (!read.ok) throw new Error(JSON.stringify(read.error));
    expect(read.value.status?.condition).toBe("running");
    expect(classRuntimeToWire(read.value)).toEqual({ ...wire, status: { ...wire.status, health: "Running" } });
  });
});

describe("requests of peers of 2025", () => {
  test("September: disabled, nullable, max_latency_ms; returned with all fields", () => {
    const wire = JSON.parse(sample("september-2025.package.json")) as Record<string, unknown>;
    const read = packageIn("september-2025.package.json");
    expect(read.classes[0]?.disabled).toBe(true);
    expect(read.classes[0]?.stateSpec?.keySpecs[0]?.nullable).toBe(true);
    expect(read.deployments[0]?.nfr.maxLatencyMs).toBe(50);

    const { deployments, ...sent } = packageToWire(read);
    const { deployments: _, ...expected } = wire;
    expect(sent).toEqual(expected);
    expect(deployments[0]).toMatchObject({
      target_envs: ["default"],
      target_clusters: ["default"],
      condition: "PENDING",
    });
  });

  test("August: deprecated fields move to their current location", () => {
    const read = packageIn("august-2025.package.json");
    expect(read.classes[0]?.bindings[0]?.stateless).toBe(true);
    expect(read.functions[0]).toEqual({
      key: "echo",
      functionType: "custom",
      description: "Returns its input",
      provision: {
        containerImage: "echo:1",
        maxConcurrency: 0,
        needHttp2: false,
        cpuRequest: "100m",
        memoryRequest: "64Mi",
        memoryLimit: "128Mi",
      },
      config: {},
      disabled: false,
    });
    expect(read.deployments[0]).toMatchObject({
      environmentKind: "edge",
      targetClusters: ["default", "edge-1"],
      functions: [
        {
          functionKey: "echo",
          provision: { containerImage: "echo:2", minScale: 2, cpuRequest: "200m", maxConcurrency: 0, needHttp2: false },
        },
      ],
    });
  });
});

describe("the minimal flow of the second seed", () => {
  test("accepts a minimal package", () => {
    const read = packageFromWire({ name: "hello" });
    expect(read.ok && packageToWire(read.value)).toEqual({
      name: "hello",
      version: null,
      metadata: { author: null, description: null, tags: [] },
      classes: [],
      functions: [],
      dependencies: [],
      deployments: [],
      disabled: false,
    });
  });

  test("accepts clusters under either name, or both when equal", () => {
    for (const lists of [
      { target_clusters: ["default"] },
      { target_envs: ["default"] },
      { target_envs: ["default"], target_clusters: ["default", "default"] },
    ]) {
      const read = packageFromWire({
        name: "hello",
        deployments: [{ key: "hello-1", package_name: "hello", class_key: "Hello", ...lists }],
      });
      expect(read.ok && read.value.deployments[0]?.targetClusters).toEqual(["default"]);
    }
  });
});

test.each(["counter.package.yaml", "september-2025.package.json", "august-2025.package.json"])(
  "%s: what is sent keeps its own schema and reads as the same package",
  (name) => {
    const read = packageIn(name);
    const sent = JSON.parse(JSON.stringify(packageToWire(read))) as unknown;
    expect(packageView.safeParse(sent).error).toBeUndefined();
    expect(packageFromWire(sent)).toEqual({ ok: true, value: read });
  },
);
