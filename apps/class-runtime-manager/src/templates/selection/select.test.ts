import { API_VERSION, classRuntime } from "@oaas/contracts/crd";
import { describe, expect, test } from "vitest";
import { BUILTIN_TEMPLATES } from "../builtin/registry.ts";
import { selectTemplate } from "./select.ts";
import { templateStatus } from "./select.ts";
import type { Template } from "../template.ts";
import { containerFunction, inputOf, templateSpecOf, type PartialInput } from "../../rendering/testing/inputs.ts";
import { userTemplate } from "../user-template/user-template.ts";

const functions = [containerFunction("a")];

function choose(
  given: Omit<PartialInput, "spec"> & { spec?: object },
  templates: readonly Template[] = BUILTIN_TEMPLATES,
) {
  return selectTemplate(inputOf({ ...given, spec: { functions, ...given.spec } }), templates);
}

function chosen(...args: Parameters<typeof choose>): string {
  const result = choose(...args);
  return result.ok
    ? `${result.value.template.id} by ${result.value.basis}`
    : `${result.error.kind}: ${result.error.message}`;
}

const noKnative = { capabilities: { knative: false } };

describe("selects a template", () => {
  test.each<{ case: string; given: Parameters<typeof choose>[0]; want: string }>([
    { case: "dev in profile dev", given: {}, want: "dev by score" },
    { case: "edge in profile edge", given: { cluster: { profile: "edge" } }, want: "edge by score" },
    {
      case: "knative in profile full when served",
      given: { cluster: { profile: "full" } },
      want: "knative by score",
    },
    {
      case: "full in profile full without Knative",
      given: { cluster: { profile: "full", ...noKnative } },
      want: "full by score",
    },
    {
      case: "full when Knative is disabled",
      given: { cluster: { profile: "full", features: { knative: false } } },
      want: "full by score",
    },
    {
      case: "the environment takes precedence over the profile",
      given: { environment: { name: "e", spec: { kind: "edge" } } },
      want: "edge by score",
    },
    {
      case: "the name of an environment's own template",
      given: { environment: { name: "e", spec: { kind: "edge", default_template: "statefulset" } } },
      want: "statefulset by environment",
    },
    { case: "named by the class", given: { spec: { selected_template: "job" } }, want: "job by explicit" },
    {
      case: "named by an alias, case-insensitive",
      given: { spec: { selected_template: "Production" } },
      want: "full by explicit",
    },
    { case: "the cloud, an alias", given: { spec: { template_hint: "cloud" } }, want: "full by hint" },
    {
      case: "a name takes precedence over hint and environment",
      given: {
        spec: { selected_template: "k8s", template_hint: "edge" },
        environment: { name: "e", spec: { kind: "edge", default_template: "full" } },
      },
      want: "k8s_deployment by explicit",
    },
    { case: "hinted by the class", given: { spec: { template_hint: "full" } }, want: "full by hint" },
    {
      case: "ignores a hint for an ineligible template",
      given: { spec: { template_hint: "knative" }, cluster: noKnative },
      want: "dev by score",
    },
    {
      case: "ignores a hint for an unknown template",
      given: { spec: { template_hint: "cloud9" } },
      want: "dev by score",
    },
    {
      case: "a datacenter without profile full keeps its profile",
      given: { cluster: { flags: { isEdge: false, isDatacenter: true }, ...noKnative } },
      want: "dev by score",
    },
  ])("$case", ({ given, want }) => {
    expect(chosen(given)).toBe(want);
  });
});

describe("rejects", () => {
  test("an unknown template and lists the known ones", () => {
    const result = choose({ spec: { selected_template: "gpu" } });
    expect(result).toMatchObject({
      ok: false,
      error: {
        kind: "missing",
        message: expect.stringContaining(
          'template "gpu" does not exist; known templates: dev, edge, full, prod, production, cloud,',
        ),
        violations: [{ path: "$.selected_template" }],
      },
    });
  });

  test("an ineligible template with the reason, and excludes it from the known ones", () => {
    const result = choose({ spec: { selected_template: "kn" }, cluster: noKnative });
    expect(result).toMatchObject({
      ok: false,
      error: { kind: "not-eligible", message: expect.stringContaining("does not serve") },
    });
    expect(result.ok || result.error.known).not.toContain("knative");
  });

  test("a class that needs a disabled state store", () => {
    expect(choose({ spec: { state_spec: {} }, cluster: { features: { odgm: false } } })).toMatchObject({
      ok: false,
      error: { kind: "addon-disabled", addon: "odgm", message: expect.stringContaining("OPRC_CRM_FEATURES_ODGM") },
    });
  });

  test("an unknown addon", () => {
    expect(choose({ spec: { addons: ["redis"] } })).toMatchObject({
      ok: false,
      error: { kind: "addon-unknown", known: ["odgm"] },
    });
  });
});

describe("scores", () => {
  test("explain the score of every template", () => {
    const result = choose({
      cluster: { profile: "full", ...noKnative },
      spec: { nfr_requirements: { throughput: 2000, max_latency: 40, availability: 0.9999, consistency: "strong" } },
    });
    const table = result.ok ? result.value.table : [];
    expect(table.map(({ name, eligible, score }) => [name, eligible, score])).toEqual([
      ["dev", true, -10],
      ["edge", true, 5],
      ["full", true, 800_010],
      ["k8s_deployment", true, 10],
      ["knative", false, 0],
      ["statefulset", true, 0],
      ["daemonset", true, 0],
      ["job", true, 0],
    ]);
    expect(table[2]?.because).toEqual([
      "+800000 designed for profile full",
      "+3 for 2000 requests per second (from 1500)",
      "+3 for latency of 40 ms (up to 50)",
      "+2 for availability 0.9999 (from 0.9995)",
      "+2 for strong consistency",
    ]);
  });
});

test("converts the selection to the status format", () => {
  const result = choose({ spec: { template_hint: "full" }, cluster: noKnative });
  const template = result.ok ? templateStatus(result.value) : undefined;
  const status = { template };
  const object = {
    apiVersion: API_VERSION,
    kind: "ClassRuntime",
    metadata: { name: "a" },
    spec: { functions },
    status,
  };
  expect(classRuntime.parse(object).status).toEqual(status);
  expect(template).toMatchObject({ name: "full", basis: "hint" });
  expect(template?.scores?.find(({ name }) => name === "knative")?.because).toBe(
    "not eligible: the cluster does not serve serving.knative.dev/v1",
  );
});

describe("user templates", () => {
  const deployment = [{ apiVersion: "apps/v1", kind: "Deployment" }];
  const made = (name: string, spec: object): Template => {
    const template = userTemplate(
      name,
      templateSpecOf({ template_type: "Deployment", manifests: deployment, ...spec }),
    );
    if (!template.ok) throw new Error(JSON.stringify(template.error));
    return template.value;
  };

  test.each<{ case: string; template: object; given?: Parameters<typeof choose>[0]; want: string }>([
    { case: "without criteria only by name", template: {}, want: "dev by score" },
    { case: "by name", template: {}, given: { spec: { selected_template: "GPU" } }, want: "gpu by explicit" },
    {
      case: "by alias",
      template: { aliases: ["cuda"] },
      given: { spec: { selected_template: "cuda" } },
      want: "gpu by explicit",
    },
    {
      case: "matching criteria outweigh built-in templates",
      template: { selection_criteria: { profiles: ["dev"] } },
      want: "gpu by score",
    },
    {
      case: "criteria that do not match",
      template: { selection_criteria: { profiles: ["full"] } },
      want: "dev by score",
    },
    {
      case: "a negative priority lowers the score",
      template: { selection_criteria: { profiles: ["dev"], priority: -5000 } },
      want: "dev by score",
    },
    {
      case: "labels of the class's object",
      template: { selection_criteria: { match_labels: { gpu: "yes" } } },
      given: { labels: { gpu: "yes" } },
      want: "gpu by score",
    },
    {
      case: "throughput within bounds",
      template: { selection_criteria: { min_throughput_rps: 10, max_throughput_rps: 20 } },
      given: { spec: { nfr_requirements: { throughput: 15 } } },
      want: "gpu by score",
    },
    {
      case: "throughput above",
      template: { selection_criteria: { max_throughput_rps: 20 } },
      given: { spec: { nfr_requirements: { throughput: 21 } } },
      want: "dev by score",
    },
    {
      case: "kind of environment",
      template: { selection_criteria: { environments: ["edge"] } },
      given: { environment: { name: "e", spec: { kind: "edge" } } },
      want: "gpu by score",
    },
    {
      case: "region of the environment",
      template: { selection_criteria: { regions: ["eu-north"] } },
      given: {
        environment: { name: "e", spec: { kind: "edge", region: "eu-north" } },
        cluster: { flags: { isEdge: true, isDatacenter: false, region: "eu-south" } },
      },
      want: "gpu by score",
    },
    {
      case: "region of the cluster",
      template: { selection_criteria: { regions: ["eu-north"] } },
      given: { cluster: { flags: { isEdge: false, isDatacenter: false, region: "eu-north" } } },
      want: "gpu by score",
    },
    {
      case: "another region",
      template: { selection_criteria: { regions: ["eu-north"] } },
      given: { environment: { name: "e", spec: { kind: "dev", region: "eu-south" } } },
      want: "dev by score",
    },
    { case: "no region", template: { selection_criteria: { regions: ["eu-north"] } }, want: "dev by score" },
    {
      case: "only classes without state",
      template: { selection_criteria: { stateful: false } },
      given: { spec: { state_spec: {} } },
      want: "dev by score",
    },
    {
      case: "required latency and availability",
      template: { selection_criteria: { max_latency_ms: 50, min_availability: 0.99 } },
      given: { spec: { nfr_requirements: { max_latency: 40, availability: 0.999 } } },
      want: "gpu by score",
    },
    {
      case: "consistency",
      template: { selection_criteria: { consistency: ["STRONG"] } },
      given: { spec: { nfr_requirements: { consistency: "strong" } } },
      want: "gpu by score",
    },
  ])("$case", ({ template, given = {}, want }) => {
    expect(chosen(given, [...BUILTIN_TEMPLATES, made("gpu", template)])).toBe(want);
  });

  test.each([
    { can: { max_throughput: 10 }, nfr: { throughput: 11 }, says: "sustains 10" },
    { can: { min_latency: 50 }, nfr: { max_latency: 40 }, says: "within 50 ms at best" },
    { can: { max_availability: 0.99 }, nfr: { availability: 0.999 }, says: "reaches availability 0.99" },
  ])("a named template that cannot meet the requirements: $says", ({ can, nfr, says }) => {
    const template = made("gpu", { nfr_capabilities: can });
    expect(chosen({ spec: { selected_template: "gpu", nfr_requirements: nfr } }, [template])).toContain(says);
  });

  test.each<{ can: object; given: Parameters<typeof choose>[0]; says?: string }>([
    {
      can: { max_latency: 80 },
      given: { spec: { nfr_requirements: { max_latency: 80 } } },
      says: "+30 answers within 80 ms under load, for latency of 80 ms",
    },
    { can: { max_latency: 80 }, given: { spec: { nfr_requirements: { max_latency: 79 } } } },
    { can: { max_latency: 80 }, given: {} },
    {
      can: { persistent_storage: true },
      given: { spec: { resource_allocation: { storage_request: "1Gi" } } },
      says: "+30 volumes for the allocated storage",
    },
    { can: { persistent_storage: true }, given: {} },
    {
      can: { network_policies: true },
      given: { environment: { name: "e", spec: { kind: "dev", network_policy: { enabled: true } } } },
      says: "+30 network policies for environment e",
    },
    { can: { network_policies: true }, given: { environment: { name: "e", spec: { kind: "dev" } } } },
  ])("prefers a template with the capability $can: $says", ({ can, given, says }) => {
    const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim" };
    const template = made("gpu", {
      nfr_capabilities: can,
      manifests: [...deployment, claim],
      selection_criteria: { priority: 1 },
    });
    const result = choose(given, [template]);
    const [row] = result.ok ? result.value.table : [];
    expect(row?.because.slice(2)).toEqual(says === undefined ? [] : [says]);
  });
});
