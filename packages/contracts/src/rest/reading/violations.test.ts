import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { classDeploymentFromWire } from "../resources/deployment/class-deployment.ts";
import { packageFromWire } from "../resources/package/package.ts";
import { planRequestInput } from "../resources/deployment/plan.ts";
import { readBy } from "./violations.ts";
import { documentFromYaml } from "./yaml-document.ts";

test("reports rules across fields together with invalid fields, in JSON and YAML", () => {
  const wrong = {
    name: "shop",
    version: [],
    classes: [
      { key: "Cart", function_bindings: [{ name: "add", function_key: "Cart.nope", access_modifier: "PUBLIC" }, "x"] },
      { key: "Cart" },
      {},
    ],
    functions: [{ key: "Cart.add" }, { key: "Cart.add" }, null],
    dependencies: ["base", 7, "base"],
    deployments: [{ key: "d", class_key: "Basket", package_name: "other", functions: [{ function_key: "f" }] }],
  };
  const across = [
    "$.classes[1].key",
    "$.functions[1].key",
    "$.dependencies[2]",
    "$.classes[0].function_bindings[0].function_key",
    "$.deployments[0].package_name",
    "$.deployments[0].class_key",
    "$.deployments[0].functions[0].function_key",
  ];
  const yaml = documentFromYaml(JSON.stringify(wrong));
  for (const document of [wrong, yaml.ok ? yaml.value : undefined]) {
    const read = packageFromWire(document);
    const paths = read.ok ? [] : read.error.map(({ path }) => path);
    expect(paths).toContain("$.version");
    expect(paths.slice(-across.length)).toEqual(across);
  }
});

test.each([
  {
    settings: { volumes: [{ name: "a", emptyDir: { sizeLimit: "much" } }] },
    path: "$.functions[0].provision_config.volumes[0].emptyDir.sizeLimit",
    message: '"much" is not a quantity',
    fix: "use a quantity such as 500m, 1.5 or 512Mi",
  },
  {
    settings: { livenessProbe: { httpGet: { port: "metrics" } } },
    path: "$.functions[0].provision_config.livenessProbe.httpGet.port",
    message: '"metrics" does not match the pattern /^http$/',
    fix: "use a value of this pattern",
  },
])("names the expected format: $message", ({ settings, ...violation }) => {
  const functions = [{ key: "f", provision_config: { container_image: "r/a:1", ...settings } }];
  const read = packageFromWire({ name: "shop", classes: [], functions });
  expect(read.ok ? [] : read.error).toEqual([violation]);
});

test("accepts or reports violations for any value", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const read = packageFromWire(JSON.parse(text));
      return read.ok || read.error.length > 0;
    }),
  );
});

describe("reports all violations at once", () => {
  const read = packageFromWire({
    name: "my shop",
    version: ["1"],
    metadata: { tags: "demo", created_at: "yesterday" },
    classes: [
      { key: "a.b", function_bindings: [{ name: "add", function_key: "Counter.add", access_modifier: "open" }] },
      "Counter",
      { key: "Ok", state_spec: { consistency_model: "EVENTUAL", persistent: "yes" } },
    ],
    functions: [
      {
        key: "f",
        provision_config: {
          container_image: "Not An Image",
          port: 70_000,
          cpu_request: "1 core",
          memory_request: "2Gi",
          memory_limit: "1Gi",
          min_scale: 3,
          max_scale: 1,
          max_concurrency: 1.5,
        },
        config: { "A=B": "x", OK: { nested: true } },
      },
    ],
    deployments: [
      {
        key: "d",
        class_key: "C",
        target_envs: ["a"],
        target_clusters: ["b"],
        nfr_requirements: { availability: 7, min_throughput_rps: 0 },
        env_templates: { "bad name": "dev" },
        odgm: { env_node_ids: { a: [2 ** 60] }, shard_type: "paxos" },
        functions: [{ function_key: "f", replicas: 2, provision_config: { min_scale: 3 } }],
      },
    ],
  });
  const violations = read.ok ? [] : read.error;

  test.each([
    ["$.name", "is not a package name", "letters, digits"],
    ["$.version", "is a list", "use a string"],
    ["$.metadata.tags", "is a string", "use a list"],
    ["$.metadata.created_at", "is not a datetime", "2026-01-31T12:00:00Z"],
    ["$.classes[0].key", "is not a class key", "no dot"],
    ["$.classes[0].function_bindings[0].access_modifier", "is not an allowed value", "use PUBLIC, INTERNAL or PRIVATE"],
    ["$.classes[1]", "is a string", "use an object"],
    ["$.classes[0].function_bindings[0].function_key", 'has no function "Counter.add"', 'use "f"'],
    ["$.deployments[0].class_key", 'has no class "C"', 'use "a.b", "Ok"'],
    [
      "$.classes[2].state_spec.consistency_model",
      "allowed value",
      "NONE, READ_YOUR_WRITE, BOUNDED_STALENESS or STRONG",
    ],
    ["$.classes[2].state_spec.persistent", "is a string", "a boolean"],
    ["$.functions[0].provision_config.container_image", "is not a container image", "registry/name:tag"],
    ["$.functions[0].provision_config.port", "70000 is out of range", "at most 65535"],
    ["$.functions[0].provision_config.cpu_request", "is not a Kubernetes quantity", "500m"],
    ["$.functions[0].provision_config.memory_limit", "is below memory_request", "raise memory_limit"],
    ["$.functions[0].provision_config.max_scale", "is below min_scale", "raise max_scale"],
    ["$.functions[0].provision_config.max_concurrency", "is not an integer", "an integer"],
    ["$.functions[0].config['A=B']", "is not the name of an environment variable", "without '='"],
    ["$.functions[0].config.OK", "is an object", "use a string"],
    ["$.deployments[0].target_clusters", "differs from target_envs", "one of the two"],
    ["$.deployments[0].nfr_requirements.availability", "7 is out of range", "at most 1"],
    ["$.deployments[0].nfr_requirements.min_throughput_rps", "0 is out of range", "at least 1"],
    ["$.deployments[0].env_templates['bad name']", "is not a cluster name", "letters, digits"],
    ["$.deployments[0].odgm.env_node_ids.a[0]", "out of range", "at most 9007199254740991"],
    ["$.deployments[0].odgm.shard_type", "allowed value", "raft"],
    ["$.deployments[0].functions[0].replicas", "conflicts with provision_config", "provision_config only"],
  ])("%s", (path, message, fix) => {
    const found = violations.find((violation) => violation.path === path);
    expect(found?.message).toContain(message);
    expect(found?.fix).toContain(fix);
  });

  test("reports nothing else", () => {
    expect(violations).toHaveLength(26);
  });
});

describe("scalars in string fields", () => {
  const read = (text: string) => {
    const document = documentFromYaml(text);
    return document.ok ? packageFromWire(document.value) : document;
  };

  test("uses the source text of YAML scalars", () => {
    expect(read("name: 007\nversion: 1.10")).toMatchObject({ ok: true, value: { name: "007", version: "1.10" } });
  });

  test("converts JSON scalars in free strings and rejects them in strings with a rule", () => {
    expect(packageFromWire({ name: "a", version: 1.5 })).toMatchObject({ ok: true, value: { version: "1.5" } });
    expect(packageFromWire({ name: 7 })).toMatchObject({ ok: false, error: [{ path: "$.name", fix: "use a string" }] });
  });

  test("rejects a scalar as an object or a list", () => {
    const found = read("name: a\nmetadata: 1.0\nclasses: true");
    expect(found.ok ? [] : found.error.map((violation) => violation.path)).toEqual(["$.metadata", "$.classes"]);
  });
});

test.each([
  { fields: '"config":{"__proto__":"x"}', path: "$.functions[0].config" },
  {
    fields: '"provision_config":{"resources":{"limits":{"__proto__":"1"}}}',
    path: "$.functions[0].provision_config.resources.limits",
  },
])("rejects the key __proto__ in $path", ({ fields, path }) => {
  const value: unknown = JSON.parse(`{"name":"a","functions":[{"key":"f",${fields}}]}`);
  expect(packageFromWire(value)).toMatchObject({
    ok: false,
    error: expect.arrayContaining([
      { path, message: "has the reserved name __proto__", fix: "use another name" },
    ]) as unknown,
  });
});

test.each([null, undefined, 5, "x", [], true])("rejects %j as a package with one violation at the root", (value) => {
  expect(packageFromWire(value)).toMatchObject({ ok: false, error: [{ path: "$" }] });
});

test("reports a missing required object", () => {
  expect(readBy(planRequestInput, {})).toMatchObject({
    ok: false,
    error: [{ path: "$.deployment", message: "is missing" }],
  });
});

describe("any JSON value", () => {
  const names = ["name", "key", "classes", "functions", "provision_config", "replicas", "metadata", "deployments"];
  const more = ["resource_requirements", "target_envs", "target_clusters", "config", "min_scale", "cpu_limit", "odgm"];
  const json = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom(null, true, "", "a", "1Gi", 0, -1, 1e300, "__proto__"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names, ...more, "__proto__"), tie("value"), { maxKeys: 6 }),
    ),
  })).value;

  test.each([
    ["package", packageFromWire],
    ["deployment", classDeploymentFromWire],
  ] as const)("as a %s: read, or refused with paths and fixes; never thrown at", (_, fromWire) => {
    fc.assert(
      fc.property(json, (value) => {
        const read = fromWire(value);
        if (read.ok) return;
        expect(read.error.length).toBeGreaterThan(0);
        for (const violation of read.error) {
          expect(violation.path).toMatch(/^\$/);
          expect(violation.fix).toBeTruthy();
        }
      }),
      { numRuns: 500 },
    );
  });
});

test.each([
  { field: "availability", value: "99.9%", message: '"99.9%" is not a number', fix: "write 0.999" },
  { field: "availability", value: "0.999", message: '"0.999" is not a number', fix: "write 0.999 without quotes" },
  { field: "availability", value: 99.9, message: "99.9 is out of range", fix: "use at most 1: for 99.9 % write 0.999" },
  { field: "availability", value: 7000, message: "7000 is out of range", fix: "use at most 1" },
  { field: "availability", value: "high", message: "is a string", fix: "use a number" },
  { field: "max_latency_ms", value: "100ms", message: '"100ms" is not a number', fix: "write 100" },
  { field: "max_latency_ms", value: "0.2 s", message: '"0.2 s" is not a number', fix: "write 200" },
  { field: "max_latency_ms", value: "2h", message: "is a string", fix: "use a number" },
  { field: "min_throughput_rps", value: "50rps", message: '"50rps" is not a number', fix: "write 50" },
])("suggests the number for $field: $value", ({ field, value, message, fix }) => {
  const read = classDeploymentFromWire({ key: "d", class_key: "C", nfr_requirements: { [field]: value } });
  const violations = read.ok ? [] : read.error;
  expect(violations).toContainEqual({ path: `$.nfr_requirements.${field}`, message, fix });
});
