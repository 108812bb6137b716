import { describe, expect, test } from "vitest";
import { clusterAvailability } from "./observed/cluster.ts";
import { ENDPOINT_URL, MODULE_URL } from "./fields/address.ts";
import { checkProvisionBounds } from "./package/provision.ts";
import { builtinTemplate } from "./deployment/template.ts";

describe("checkProvisionBounds", () => {
  test("reports every lower bound above its upper bound with its path", () => {
    const violations = checkProvisionBounds(
      { min_scale: 3, max_scale: 1, cpu_request: "1", cpu_limit: "500m", memory_request: "1Gi", memory_limit: "1G" },
      "$.functions[0].provision_config",
    );
    expect(violations.map((violation) => violation.path)).toEqual([
      "$.functions[0].provision_config.max_scale",
      "$.functions[0].provision_config.cpu_limit",
      "$.functions[0].provision_config.memory_limit",
    ]);
    expect(violations.every((violation) => violation.fix !== undefined)).toBe(true);
  });

  test.each([
    { fields: {}, case: "no fields" },
    { fields: { min_scale: 2, max_scale: 2 }, case: "equal bounds are a fixed scale" },
    { fields: { cpu_request: "1", cpu_limit: "1000m" }, case: "equal amounts in different notations" },
    { fields: { cpu_request: "broken", cpu_limit: "1" }, case: "an invalid quantity, which another rule reports" },
  ])("accepts $case", ({ fields }) => {
    expect(checkProvisionBounds(fields)).toEqual([]);
  });
});

test.each([
  { health: { availability: 0.97, nodeCount: 2, readyNodes: 1 }, p: 0.97, case: "prefers the measured availability" },
  { health: { nodeCount: 4, readyNodes: 3 }, p: 0.75, case: "falls back to the share of ready nodes" },
  { health: { availability: 1.5 }, p: 1, case: "limited to 1" },
  { health: { nodeCount: 0, readyNodes: 0 }, p: undefined, case: "unknown without nodes" },
  { health: { readyNodes: 3 }, p: undefined, case: "unknown without a node count" },
  { health: { availability: Number.NaN }, p: undefined, case: "unknown for NaN" },
])("availability of a cluster: $case", ({ health, p }) => {
  expect(clusterAvailability(health)).toBe(p);
});

test.each([
  ["Production", "full"],
  ["full", "full"],
  ["k8s", "k8s_deployment"],
  ["kn", "knative"],
  ["mine", undefined],
  ["toString", undefined],
])("template %s is %s", (name, template) => {
  expect(builtinTemplate(name)).toBe(template);
});

test.each([
  ["https://host/module.wasm", true],
  ["http://pm:8080/api/v1/artifacts/ab", true],
  ["module.wasm", false],
  ["https://", false],
  ["", false],
  ["javascript:alert(1)", false],
])("module address %s: %s", (text, accepted) => {
  expect(MODULE_URL.findProblem(text) === undefined).toBe(accepted);
});

test.each([
  ["http://localhost:8088", true],
  ["https://crm.example:443/base", true],
  ["crm:8088", false],
  ["ftp://crm", false],
  ["http://crm with spaces", false],
])("endpoint %s: %s", (text, accepted) => {
  expect(ENDPOINT_URL.findProblem(text) === undefined).toBe(accepted);
});
