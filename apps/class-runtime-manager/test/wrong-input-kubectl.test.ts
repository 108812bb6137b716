import { describeOnTarget, eventually, makeRunFolder, sweepSize, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ControllerFixture } from "./support/controller-fixture.ts";
import { startManagerProcess, type ManagerProcess } from "./support/manager-process.ts";

const HERE = "wrong";

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
const classOf = (name: string, spec: object = {}): object =>
  object("ClassRuntime", name, { package_class_key: "shop.Order", functions: [fn("run")], ...spec });
const template = (name: string, spec: object): object =>
  object("DeploymentTemplate", name, { template_type: "Deployment", ...spec });
const BARE = { apiVersion: "apps/v1", kind: "Deployment" };

/** Refused before anyone sees it. The schemas' whole table is tested with the contracts; here one of each kind, beside a manager at work. */
const REFUSED: readonly { why: string; object: object; field: string }[] = [
  { why: "a class of nothing", object: classOf("none", { functions: [] }), field: "spec.functions" },
  {
    why: "a list in place of a time, to which no status could be written",
    object: object("DeploymentRecord", "odd-time", {
      function: { image: "example.test/fn:1" },
      deployment_unit: { id: "a", created_at: [] },
    }),
    field: "spec.deployment_unit.created_at",
  },
  {
    why: "a cpu request of lots",
    object: classOf("lots", { functions: [fn("a", {}, { cpu_request: "lots" })] }),
    field: "cpu_request",
  },
  {
    why: "200 functions",
    object: classOf("many", { functions: Array.from({ length: 200 }, (_, at) => fn(`f${at}`)) }),
    field: "spec.functions",
  },
  { why: "a name of 64 characters", object: classOf("n".repeat(64)), field: "metadata.name" },
  { why: "a name of 253 characters", object: classOf("n".repeat(253)), field: "metadata.name" },
  { why: "a name with capitals", object: classOf("Order"), field: "metadata.name" },
  { why: "a member that is misspelt", object: classOf("typo", { funktions: [] }), field: "spec.funktions" },
  {
    why: "a record of nothing",
    object: object("DeploymentRecord", "none", { selected_template: "dev" }),
    field: "spec",
  },
  { why: "a template of no manifest", object: template("none", { manifests: [] }), field: "spec.manifests" },
  {
    why: "an environment on the moon",
    object: object("EnvironmentConfig", "moon", { kind: "moon" }),
    field: "spec.kind",
  },
];

/** Taken by the schema, and found wrong by the manager: told on the object, with the field. */
const MARKED: readonly { why: string; objects: readonly object[]; name: string; reason: string; says: RegExp }[] = [
  {
    why: "an id that JSON numbers cannot hold",
    objects: [classOf("wide-id", { odgm_config: { node_id: 2 ** 60 } })],
    name: "wide-id",
    reason: "InvalidSpec",
    says: /spec\.odgm_config\.node_id/,
  },
  {
    why: "null among the collections",
    objects: [classOf("null-item", { odgm_config: { collections: [null] } })],
    name: "null-item",
    reason: "InvalidSpec",
    says: /spec\.odgm_config\.collections\[0\]/,
  },
  {
    why: "a template that is not there",
    objects: [classOf("no-template", { selected_template: "velvet" })],
    name: "no-template",
    reason: "TemplateMissing",
    says: /velvet.*dev/,
  },
  {
    why: "an addon that nobody knows",
    objects: [classOf("no-addon", { addons: ["velvet"] })],
    name: "no-addon",
    reason: "ApplyInvalid",
    says: /addon.*velvet/i,
  },
  {
    why: "a variable that no process can have",
    objects: [classOf("odd-variable", { functions: [fn("run", { config: { "A=B": "x" } })] })],
    name: "odd-variable",
    reason: "ApplyInvalid",
    says: /A=B/,
  },
  {
    why: "a node selector, of the environment, whose value is no label",
    objects: [
      object("EnvironmentConfig", "bad-nodes", { kind: "dev", nodeSelector: { disk: "very fast!" } }),
      classOf("odd-nodes", { target_environment: "bad-nodes" }),
    ],
    name: "odd-nodes",
    reason: "ApplyInvalid",
    says: /nodeSelector|very fast!/,
  },
  {
    why: "a template with a placeholder that stands for nothing",
    objects: [
      template("bad-holder", { manifests: [{ ...BARE, metadata: { labels: { a: "{{ function.nope }}" } } }] }),
      classOf("uses-bad-holder", { selected_template: "bad-holder" }),
    ],
    name: "uses-bad-holder",
    reason: "TemplateMissing",
    says: /bad-holder/,
  },
  {
    why: "a template that would make what it may not",
    objects: [
      template("bad-kind", { manifests: [BARE, { apiVersion: "v1", kind: "Secret" }] }),
      classOf("uses-bad-kind", { selected_template: "bad-kind" }),
    ],
    name: "uses-bad-kind",
    reason: "TemplateMissing",
    says: /bad-kind/,
  },
  {
    why: "a template with a member that the kind does not have",
    objects: [
      template("bad-member", { manifests: [{ ...BARE, spec: { replicaz: 3 } }] }),
      classOf("uses-bad-member", { selected_template: "bad-member" }),
    ],
    name: "uses-bad-member",
    reason: "ApplyInvalid",
    says: /replicaz/,
  },
  {
    why: "a template whose value is of the wrong type",
    objects: [
      template("bad-value", { manifests: [{ ...BARE, spec: { replicas: "several" } }] }),
      classOf("uses-bad-value", { selected_template: "bad-value" }),
    ],
    name: "uses-bad-value",
    reason: "ApplyInvalid",
    says: /replicas/,
  },
];

/** Templates and environments that cannot be used say so themselves; the rows above have made the templates. */
const UNUSABLE: readonly { why: string; name: string; object?: object; says: RegExp }[] = [
  {
    why: "a placeholder that stands for nothing",
    name: "deploymenttemplate/bad-holder",
    says: /manifests.*function\.nope/,
  },
  { why: "a kind it may not make", name: "deploymenttemplate/bad-kind", says: /manifests\[1\].*Secret/ },
  {
    why: "an environment whose template is not there",
    name: "environmentconfig/bad-default",
    object: object("EnvironmentConfig", "bad-default", { kind: "dev", default_template: "velvet" }),
    says: /default_template.*velvet/,
  },
];

const LONG = "n".repeat(63);
const UNICODE = "naïve ☃ 注文 🧾";
/** Unusual, and allowed: all of these become available. */
const LEGAL: readonly { why: string; object: object; functions: number }[] = [
  {
    why: "a name of 63 characters, with state",
    object: classOf(LONG, { functions: [fn("a"), fn("b")], state_spec: {} }),
    functions: 2,
  },
  {
    why: "keys with dots and capitals that are alike",
    object: classOf("alike", {
      functions: ["Order.place", "order.place", "Order-place", "ORDER_PLACE", "Order.Place"].map((key) => fn(key)),
    }),
    functions: 5,
  },
  {
    why: "a key of 253 characters",
    object: classOf("long-key", { functions: [fn(`F.${"x".repeat(251)}`)] }),
    functions: 1,
  },
  {
    why: "an environment that nobody has described",
    object: classOf("elsewhere", { target_environment: "velvet" }),
    functions: 1,
  },
  { why: "a name of digits", object: classOf("2026"), functions: 1 },
  { why: "a name with dots", object: classOf("shop.order.v1"), functions: 1 },
  {
    why: "letters of the world in texts",
    object: classOf("world", { functions: [fn("run", { description: UNICODE, config: { GREETING: UNICODE } })] }),
    functions: 1,
  },
  {
    why: "an environment of 256 KiB",
    object: classOf("huge", {
      functions: [
        fn("run", { config: Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`V${at}`, "v".repeat(4096)])) }),
      ],
    }),
    functions: 1,
  },
  {
    why: "as many functions as are allowed",
    object: classOf("crowd", { functions: Array.from({ length: sweepSize(32, 128) }, (_, at) => fn(`f.${at}`)) }),
    functions: sweepSize(32, 128),
  },
];

describeOnTarget("whatever kubectl applies, beside a manager at work", { needs: ["kubectl"] }, () => {
  let lab: ControllerFixture;
  let folder: RunFolder;
  let crm: ManagerProcess;

  const create = (...objects: readonly object[]): Promise<string> =>
    lab.kubectl(
      `create --validate=false -n ${HERE} -f -`,
      JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }),
    );

  beforeAll(async () => {
    lab = await ControllerFixture.start({ kwokNodes: 4 });
    folder = await makeRunFolder("crm-wrong-input");
    await lab.kubectl(`create namespace ${HERE}`);
    crm = await startManagerProcess(lab.cluster.kubeconfig, folder.path, { OPRC_CRM_K8S_NAMESPACE: HERE });
    await create(
      ...LEGAL.map((legal) => legal.object),
      ...MARKED.flatMap(({ objects }) => objects),
      ...UNUSABLE.flatMap(({ object: own }) => own ?? []),
    );
  });
  afterAll(async () => {
    // It never died, and it ends as it should.
    expect(crm?.process.exit).toBeUndefined();
    expect(await crm?.stop()).toBe(0);
    await lab?.close();
    await folder?.remove();
  });

  test.each(REFUSED)("refused with its field: $why", async ({ object: wrong, field }) => {
    const { stderr, exitCode } = await lab.cluster.kubectl(["apply", "-n", HERE, "-f", "-"], {
      stdin: JSON.stringify(wrong),
    });
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(field);
  });

  test.each(MARKED)("marked with its field: $why", async ({ name, reason, says }) => {
    const status = await lab.waitForStatus(
      HERE,
      name,
      reason,
      (found) => found.reason === reason && says.test(found.message ?? ""),
    );
    expect(status.phase).toBe("degraded");
    expect(status.conditions).toContainEqual(expect.objectContaining({ type: "Degraded", status: "True", reason }));
  });

  test.each(UNUSABLE)("says itself that it cannot be used: $why", async ({ name, says }) => {
    const wanted = {
      type: "Ready",
      status: "False",
      reason: "InvalidSpec",
      message: expect.stringMatching(says) as string,
    };
    await eventually(async () =>
      expect((await lab.status(HERE, name))?.conditions).toContainEqual(expect.objectContaining(wanted)),
    );
  });

  describe("unusual and allowed", () => {
    test.each(LEGAL)("$why", async ({ object: legal, functions }) => {
      const { name } = (legal as { metadata: { name: string } }).metadata;
      const status = await lab.waitForStatus(HERE, name, "available", ({ phase }) => phase === "available");
      const services = status.functions?.map(({ service }) => service) ?? [];
      expect(new Set(services).size).toBe(functions);
      expect(services.every((service) => /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(service))).toBe(true);
    });

    test("they go without a trace", async () => {
      await lab.kubectl(`delete crt,deploymentrecords --all -n ${HERE} --timeout=150s`);
      await eventually(async () =>
        expect(await lab.kubectl(`get deploy,svc,cm,sts,pods -n ${HERE} -l oaas.io/owner -o name`)).toBe(""),
      );
    });
  });

  test("nothing of this was a fault of the manager", async () => {
    const faults = (await crm.log()).filter(
      ({ level, fault }) => level === "error" || JSON.stringify(fault ?? "").includes("OAAS_INTERNAL"),
    );
    expect(faults).toEqual([]);
  });
});
