import { describeOnTarget, eventually, makeRunFolder, sweepSize, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ControllerFixture } from "./support/controller-fixture.ts";
import { startManagerProcess, type ManagerProcess } from "./support/manager-process.ts";

const NAMESPACE = "wrong";

const object = (kind: string, name: string, spec: object): object => ({
  apiVersion: "oaas.io/v1alpha1",
  kind,
  metadata: { name },
  spec,
});
const fn = (key: string, over: object = {}, provision: object = {}) => ({
  function_key: key,
  provision_config: { container_image: "example.test/fn:1", ...provision },
  ...over,
});
const classRuntime = (name: string, spec: object = {}): object =>
  object("ClassRuntime", name, { package_class_key: "shop.Order", functions: [fn("run")], ...spec });
const template = (name: string, spec: object): object =>
  object("DeploymentTemplate", name, { template_type: "Deployment", ...spec });
const BARE = { apiVersion: "apps/v1", kind: "Deployment" };

/**
 * Rejected by the CRD schema. The contracts test the whole schema; here is one case of each kind, with a running
 * manager.
 */
const REJECTED: readonly { case: string; object: object; field: string }[] = [
  {
    case: "a class without functions and state",
    object: classRuntime("none", { functions: [] }),
    field: "spec.functions",
  },
  {
    case: "a list instead of a time",
    object: object("DeploymentRecord", "odd-time", {
      function: { image: "example.test/fn:1" },
      deployment_unit: { id: "a", created_at: [] },
    }),
    field: "spec.deployment_unit.created_at",
  },
  {
    case: "an invalid cpu request",
    object: classRuntime("lots", { functions: [fn("a", {}, { cpu_request: "lots" })] }),
    field: "cpu_request",
  },
  {
    case: "200 functions",
    object: classRuntime("many", { functions: Array.from({ length: 200 }, (_, at) => fn(`f${at}`)) }),
    field: "spec.functions",
  },
  { case: "a name of 64 characters", object: classRuntime("n".repeat(64)), field: "metadata.name" },
  { case: "a name of 253 characters", object: classRuntime("n".repeat(253)), field: "metadata.name" },
  { case: "a name with capitals", object: classRuntime("Order"), field: "metadata.name" },
  { case: "a misspelt field", object: classRuntime("typo", { funktions: [] }), field: "spec.funktions" },
  {
    case: "a record without function",
    object: object("DeploymentRecord", "none", { selected_template: "dev" }),
    field: "spec",
  },
  { case: "a template without manifests", object: template("none", { manifests: [] }), field: "spec.manifests" },
  {
    case: "an environment of an unknown kind",
    object: object("EnvironmentConfig", "moon", { kind: "moon" }),
    field: "spec.kind",
  },
];

/** Accepted by the schema and rejected by the manager, which reports the field in the status. */
const DEGRADED: readonly { case: string; objects: readonly object[]; name: string; reason: string; message: RegExp }[] =
  [
    {
      case: "an id that JSON numbers cannot hold",
      objects: [classRuntime("wide-id", { odgm_config: { node_id: 2 ** 60 } })],
      name: "wide-id",
      reason: "InvalidSpec",
      message: /spec\.odgm_config\.node_id/,
    },
    {
      case: "null among the collections",
      objects: [classRuntime("null-item", { odgm_config: { collections: [null] } })],
      name: "null-item",
      reason: "InvalidSpec",
      message: /spec\.odgm_config\.collections\[0\]/,
    },
    {
      case: "an unknown template",
      objects: [classRuntime("no-template", { selected_template: "unknown" })],
      name: "no-template",
      reason: "TemplateMissing",
      message: /unknown.*dev/,
    },
    {
      case: "an unknown addon",
      objects: [classRuntime("no-addon", { addons: ["unknown"] })],
      name: "no-addon",
      reason: "ApplyInvalid",
      message: /addon.*unknown/i,
    },
    {
      case: "an invalid environment variable name",
      objects: [classRuntime("odd-variable", { functions: [fn("run", { config: { "A=B": "x" } })] })],
      name: "odd-variable",
      reason: "ApplyInvalid",
      message: /A=B/,
    },
    {
      case: "an invalid node selector of the environment",
      objects: [
        object("EnvironmentConfig", "bad-nodes", { kind: "dev", nodeSelector: { disk: "very fast!" } }),
        classRuntime("odd-nodes", { target_environment: "bad-nodes" }),
      ],
      name: "odd-nodes",
      reason: "EnvironmentInvalid",
      message: /\$\.spec\.nodeSelector\.disk.*very fast!/,
    },
    {
      case: "an environment that does not exist",
      objects: [classRuntime("elsewhere", { target_environment: "unknown" })],
      name: "elsewhere",
      reason: "EnvironmentMissing",
      message: /EnvironmentConfig "unknown" does not exist/,
    },
    {
      case: "a template with an unknown placeholder",
      objects: [
        template("bad-holder", { manifests: [{ ...BARE, metadata: { labels: { a: "{{ function.nope }}" } } }] }),
        classRuntime("uses-bad-holder", { selected_template: "bad-holder" }),
      ],
      name: "uses-bad-holder",
      reason: "TemplateMissing",
      message: /bad-holder/,
    },
    {
      case: "a template with a forbidden kind",
      objects: [
        template("bad-kind", { manifests: [BARE, { apiVersion: "v1", kind: "Secret" }] }),
        classRuntime("uses-bad-kind", { selected_template: "bad-kind" }),
      ],
      name: "uses-bad-kind",
      reason: "TemplateMissing",
      message: /bad-kind/,
    },
    {
      case: "a template with an unknown field",
      objects: [
        template("bad-member", { manifests: [{ ...BARE, spec: { replicaz: 3 } }] }),
        classRuntime("uses-bad-member", { selected_template: "bad-member" }),
      ],
      name: "uses-bad-member",
      reason: "ApplyInvalid",
      message: /replicaz/,
    },
    {
      case: "a template with a value of the wrong type",
      objects: [
        template("bad-value", { manifests: [{ ...BARE, spec: { replicas: "several" } }] }),
        classRuntime("uses-bad-value", { selected_template: "bad-value" }),
      ],
      name: "uses-bad-value",
      reason: "ApplyInvalid",
      message: /replicas/,
    },
  ];

/** Invalid templates and environments, which report it in their own status. The rows above create the templates. */
const INVALID: readonly { case: string; name: string; object?: object; message: RegExp }[] = [
  {
    case: "an unknown placeholder",
    name: "deploymenttemplate/bad-holder",
    message: /manifests.*function\.nope/,
  },
  { case: "a forbidden kind", name: "deploymenttemplate/bad-kind", message: /manifests\[1\].*Secret/ },
  {
    case: "an environment with an unknown template",
    name: "environmentconfig/bad-default",
    object: object("EnvironmentConfig", "bad-default", { kind: "dev", default_template: "unknown" }),
    message: /default_template.*unknown/,
  },
];

const LONG = "n".repeat(63);
const UNICODE = "naïve ☃ 注文 🧾";
/** Unusual but valid: all of these become available. */
const VALID: readonly { case: string; object: object; functions: number }[] = [
  {
    case: "a name of 63 characters, with state",
    object: classRuntime(LONG, { functions: [fn("a"), fn("b")], state_spec: {} }),
    functions: 2,
  },
  {
    case: "similar keys with dots and capitals",
    object: classRuntime("alike", {
      functions: ["Order.place", "order.place", "Order-place", "ORDER_PLACE", "Order.Place"].map((key) => fn(key)),
    }),
    functions: 5,
  },
  {
    case: "a key of 253 characters",
    object: classRuntime("long-key", { functions: [fn(`F.${"x".repeat(251)}`)] }),
    functions: 1,
  },
  { case: "a name of digits", object: classRuntime("2026"), functions: 1 },
  { case: "a name with dots", object: classRuntime("shop.order.v1"), functions: 1 },
  {
    case: "non-ASCII texts",
    object: classRuntime("world", { functions: [fn("run", { description: UNICODE, config: { GREETING: UNICODE } })] }),
    functions: 1,
  },
  {
    case: "an environment of 256 KiB",
    object: classRuntime("huge", {
      functions: [
        fn("run", { config: Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`V${at}`, "v".repeat(4096)])) }),
      ],
    }),
    functions: 1,
  },
  {
    case: "the maximum of functions",
    object: classRuntime("crowd", { functions: Array.from({ length: sweepSize(32, 128) }, (_, at) => fn(`f.${at}`)) }),
    functions: sweepSize(32, 128),
  },
];

describeOnTarget("any input of kubectl with a running manager", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  let folder: RunFolder;
  let crm: ManagerProcess;

  const create = (...objects: readonly object[]): Promise<string> =>
    fixture.kubectl(
      `create --validate=false -n ${NAMESPACE} -f -`,
      JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
    );

  beforeAll(async () => {
    fixture = await ControllerFixture.start({ kwokNodes: 4 });
    folder = await makeRunFolder("crm-wrong-input");
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    crm = await startManagerProcess(fixture.cluster.kubeconfig, folder.path, { OPRC_CRM_K8S_NAMESPACE: NAMESPACE });
    await create(
      ...VALID.map((row) => row.object),
      ...DEGRADED.flatMap(({ objects }) => objects),
      ...INVALID.flatMap(({ object: own }) => own ?? []),
    );
  });
  afterAll(async () => {
    // The manager never crashed, and it stops normally.
    expect(crm?.process.exit).toBeUndefined();
    expect(await crm?.stop()).toBe(0);
    await fixture?.close();
    await folder?.remove();
  });

  test.each(REJECTED)("rejects $case with the field", async ({ object: invalid, field }) => {
    const { stderr, exitCode } = await fixture.cluster.kubectl(["apply", "-n", NAMESPACE, "-f", "-"], {
      stdin: JSON.stringify(invalid),
    });
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(field);
  });

  test.each(DEGRADED)("reports $case with the field in the status", async ({ name, reason, message }) => {
    const status = await fixture.waitForStatus(
      NAMESPACE,
      name,
      reason,
      (found) => found.reason === reason && message.test(found.message ?? ""),
    );
    expect(status.phase).toBe("degraded");
    expect(status.conditions).toContainEqual(expect.objectContaining({ type: "Degraded", status: "True", reason }));
  });

  test.each(INVALID)("reports $case in its own status", async ({ name, message }) => {
    const condition = {
      type: "Ready",
      status: "False",
      reason: "InvalidSpec",
      message: expect.stringMatching(message) as string,
    };
    await eventually(async () =>
      expect((await fixture.status(NAMESPACE, name))?.conditions).toContainEqual(expect.objectContaining(condition)),
    );
  });

  describe("unusual but valid", () => {
    test.each(VALID)("$case", async ({ object: valid, functions }) => {
      const { name } = (valid as { metadata: { name: string } }).metadata;
      const status = await fixture.waitForStatus(NAMESPACE, name, "available", ({ phase }) => phase === "available");
      const services = status.functions?.map(({ service }) => service) ?? [];
      expect(new Set(services).size).toBe(functions);
      expect(services.every((service) => /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(service))).toBe(true);
    });

    test("are deleted completely", async () => {
      await fixture.kubectl(`delete crt,deploymentrecords --all -n ${NAMESPACE} --timeout=150s`);
      await eventually(async () =>
        expect(await fixture.kubectl(`get deploy,svc,cm,sts,pods -n ${NAMESPACE} -l oaas.io/owner -o name`)).toBe(""),
      );
    });
  });

  test("logs no internal fault", async () => {
    const faults = (await crm.log()).filter(
      ({ level, fault }) => level === "error" || JSON.stringify(fault ?? "").includes("OAAS_INTERNAL"),
    );
    expect(faults).toEqual([]);
  });
});
