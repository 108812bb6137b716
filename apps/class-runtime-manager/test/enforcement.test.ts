import type { KubeObject } from "@oaas/kube-core";
import type { Urgency } from "@oaas/nfr";
import { readDecisionRecord, recompute } from "@oaas/nfr/policy";
import { describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { classManifest, ControllerFixture, FACTS } from "./support/controller-fixture.ts";
import { withoutResize } from "./support/without-resize.ts";
import { startQuickEnforcer, TICK_MS, type QuickEnforcer } from "./support/quick-enforcer.ts";

const NAMESPACE = "enforced";

interface Scaled extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly minReplicas?: number; readonly maxReplicas?: number };
}

interface Managed extends KubeObject {
  readonly metadata: KubeObject["metadata"] & {
    readonly managedFields: readonly { readonly manager: string; readonly fieldsV1: unknown }[];
  };
}

describeOnTarget("enforcement", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  let crm: ClassManager;

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    crm = await fixture.startController({ namespaces: [NAMESPACE], facts: { ...FACTS, enforcement: "full" } });
  });
  afterAll(async () => {
    await fixture.close();
  });

  const applyClass = async (name: string, provision: object = {}, limits: object = {}): Promise<void> => {
    const fn = { function_key: "f", provision_config: { container_image: "example.test/fn:1", ...provision } };
    const enforcement = { mode: "enforce", dimensions: ["replicas"], ...limits };
    await fixture.apply(NAMESPACE, classManifest(name, { functions: [fn], enforcement }));
    await fixture.waitForPhase(NAMESPACE, name, "available");
  };

  const startEnforcer = (name: string, urgency?: () => Urgency): QuickEnforcer =>
    startQuickEnforcer(crm, { namespace: NAMESPACE, name }, urgency);

  const waitFor = (kind: string, name: string, member: keyof Scaled["spec"], value: number): Promise<void> =>
    eventually(
      async () => {
        const found = (await fixture.get<Scaled>(NAMESPACE, kind, name))?.spec[member];
        if (found !== value) throw new Error(`${kind} ${name} ${member}: ${found}`);
      },
      { timeoutMs: 90_000, what: `${kind} ${name} to have ${member} ${value}` },
    );
  const eventsOf = async (name: string): Promise<readonly string[]> => {
    const selector = `involvedObject.name=${name}`;
    const text = await fixture.kubectl(
      `get events -n ${NAMESPACE} --field-selector ${selector} -o jsonpath={.items[*].reason}`,
    );
    return text.split(" ").filter((reason) => reason.startsWith("NFR"));
  };
  /** The managers of a field, by its path in managed fields. */
  const managersOf = async (kind: string, name: string, field: string): Promise<readonly string[]> => {
    const text = await fixture.kubectl(`get ${kind} ${name} -n ${NAMESPACE} -o json --show-managed-fields`);
    const { managedFields } = (JSON.parse(text) as Managed).metadata;
    return managedFields
      .filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes(`"${field}":`))
      .map(({ manager }) => manager ?? "");
  };

  test("scales a Deployment up in steps and down again, with one writer of the field", async () => {
    await applyClass("web");
    const enforcer = startEnforcer("web");
    enforcer.wanted.target = 3;
    await waitFor("deploy", "web", "replicas", 3);
    await fixture.waitForPhase(NAMESPACE, "web", "available");
    expect(await managersOf("deploy", "web", "f:replicas")).toContain("oprc-crm");
    expect(
      (await managersOf("deploy", "web", "f:replicas")).filter(
        (name) => name !== "oprc-crm" && !name.includes("controller"),
      ),
    ).toEqual([]);
    expect(await managersOf("crt", "web", "f:enforcement_state")).toEqual(["oprc-crm-enforcer"]);
    const status = await fixture.status(NAMESPACE, "web");
    expect(status?.last_applied_recommendations?.[0]).toMatchObject({
      component: "f",
      dimension: "replicas",
      target: 3,
      lane: "stable",
    });
    expect(status?.conditions?.find(({ type }) => type === "NfrEnforced")).toMatchObject({ status: "True" });
    enforcer.wanted.target = 1;
    await waitFor("deploy", "web", "replicas", 1);
    await enforcer.stop();
    await crm.events.flush();
    expect(await eventsOf("web")).toEqual(expect.arrayContaining(["NFRApplied", "NFRSkippedStability"]));
  });

  test("does not write an idle class", async () => {
    const enforcer = startEnforcer("web");
    await new Promise((resolve) => setTimeout(resolve, 4 * TICK_MS));
    const before = (await fixture.get(NAMESPACE, "crt", "web"))?.metadata.resourceVersion;
    await new Promise((resolve) => setTimeout(resolve, 8 * TICK_MS));
    await enforcer.stop();
    expect((await fixture.get(NAMESPACE, "crt", "web"))?.metadata.resourceVersion).toBe(before);
  });

  test("returns to the spec when the mode changes", async () => {
    const enforcer = startEnforcer("web");
    enforcer.wanted.target = 2;
    await waitFor("deploy", "web", "replicas", 2);
    await fixture.kubectl(`annotate crt web -n ${NAMESPACE} oaas.io/enforcement=observe`);
    await waitFor("deploy", "web", "replicas", 1);
    await enforcer.stop();
    await fixture.kubectl(`annotate crt web -n ${NAMESPACE} oaas.io/enforcement-`);
  });

  test("takes the emergency lane for a spike", async () => {
    await applyClass("spike");
    const enforcer = startEnforcer("spike", () => ({ burnRate5m: 30, burnRate1h: 20 }));
    enforcer.wanted.target = 5;
    await waitFor("deploy", "spike", "replicas", 5);
    await enforcer.stop();
    const [applied] = (await fixture.status(NAMESPACE, "spike"))?.last_applied_recommendations ?? [];
    expect(applied).toMatchObject({ lane: "emergency", current: 1, target: 5 });
  });

  test("moves the minimum of the autoscaler of a class, and leaves replicas to it", async () => {
    await applyClass("scaled", { min_scale: 1, max_scale: 4 });
    const enforcer = startEnforcer("scaled");
    enforcer.wanted.target = 9;
    await waitFor("hpa", "scaled", "minReplicas", 4);
    await fixture.waitForStatus(NAMESPACE, "scaled", "AtMaximum", ({ conditions }) =>
      Boolean(conditions?.some(({ type, reason }) => type === "NfrEnforced" && reason === "AtMaximum")),
    );
    await enforcer.stop();
    expect(await managersOf("hpa", "scaled", "f:minReplicas")).toEqual(["oprc-crm"]);
    expect(await managersOf("deploy", "scaled", "f:replicas")).not.toContain("oprc-crm");
  });

  test("raises the maximum of the autoscaler while it binds, within what the class allows, and takes it back", async () => {
    await applyClass("roomy", { min_scale: 1, max_scale: 3 }, { max_replicas: 6 });
    const enforcer = startEnforcer("roomy");
    enforcer.wanted.target = 9;
    await waitFor("hpa", "roomy", "maxReplicas", 6);
    const status = await fixture.waitForStatus(
      NAMESPACE,
      "roomy",
      "a change to 6",
      ({ last_applied_recommendations: all }) =>
        Boolean(all?.some(({ dimension, target }) => dimension === "max_replicas" && target === 6)),
    );
    const raised = status.last_applied_recommendations?.find(({ dimension }) => dimension === "max_replicas");
    expect(raised).toMatchObject({
      path: "HorizontalPodAutoscaler/roomy spec.maxReplicas",
      clamped_by: { source: "enforcement.max_replicas", value: 6 },
      evidence: { values: { recommended_replicas: 9 } },
    });
    const record = readDecisionRecord(JSON.parse(raised?.record ?? ""));
    expect(record.ok && recompute(record.value)).toMatchObject({ isEqual: true });
    expect(await managersOf("hpa", "roomy", "f:maxReplicas")).toEqual(["oprc-crm"]);
    enforcer.wanted.target = 1;
    await waitFor("hpa", "roomy", "maxReplicas", 3);
    await waitFor("hpa", "roomy", "minReplicas", 1);
    await enforcer.stop();
    const applied = (await fixture.status(NAMESPACE, "roomy"))?.last_applied_recommendations;
    expect(applied?.find(({ dimension }) => dimension === "max_replicas")).toMatchObject({ target: 3, lane: "stable" });
    await crm.events.flush();
    const notes = await fixture.kubectl(
      `get events -n ${NAMESPACE} --field-selector involvedObject.name=roomy,reason=NFRApplied -o jsonpath={.items[*].message}`,
    );
    // Later ones may be dropped by the rate limit of Events.
    expect(notes).toContain("to a maximum of 4 replicas (HorizontalPodAutoscaler/roomy spec.maxReplicas, stable lane)");
  });

  test("leaves a workload to the autoscaler of someone else and names it", async () => {
    await applyClass("other");
    await fixture.apply(NAMESPACE, {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "mine" },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "other" },
        minReplicas: 1,
        maxReplicas: 1,
        metrics: [
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
        ],
      },
    });
    const enforcer = startEnforcer("other");
    enforcer.wanted.target = 4;
    const status = await fixture.waitForStatus(NAMESPACE, "other", "Conflict", ({ conditions }) =>
      Boolean(conditions?.some(({ type, reason }) => type === "NfrEnforced" && reason === "Conflict")),
    );
    await enforcer.stop();
    const condition = status.conditions?.find(({ type }) => type === "NfrEnforced");
    expect(condition?.message).toContain("Deployment other is scaled by HorizontalPodAutoscaler mine of kubectl");
    expect((await fixture.get<Scaled>(NAMESPACE, "deploy", "other"))?.spec.replicas).toBe(1);
  });

  test("scales a class of a user template, and says why it cannot scale a fixed one", async () => {
    const template = (name: string, spec: object) => ({
      apiVersion: "oaas.io/v1alpha1",
      kind: "DeploymentTemplate",
      metadata: { name },
      spec: { template_type: "Deployment", manifests: [{ apiVersion: "apps/v1", kind: "Deployment", spec }] },
    });
    await fixture.apply(NAMESPACE, template("free", {}), template("fixed", { replicas: 2 }));
    const enforcement = { mode: "enforce", dimensions: ["replicas"] };
    await fixture.apply(
      NAMESPACE,
      classManifest("mine", { selected_template: "free", enforcement }),
      classManifest("stiff", { selected_template: "fixed", enforcement }),
    );
    for (const name of ["mine", "stiff"]) await fixture.waitForPhase(NAMESPACE, name, "available");
    const enforcers = ["mine", "stiff"].map((name) => startEnforcer(name));
    for (const { wanted } of enforcers) wanted.target = 3;
    await waitFor("deploy", "mine", "replicas", 3);
    const status = await fixture.waitForStatus(NAMESPACE, "stiff", "NotPossible", ({ conditions }) =>
      Boolean(conditions?.some(({ type, reason }) => type === "NfrEnforced" && reason === "NotPossible")),
    );
    for (const enforcer of enforcers) await enforcer.stop();
    expect(status.conditions?.find(({ type }) => type === "NfrEnforced")?.message).toBe(
      "f replicas: template fixed fixes replicas; {{ function.replicas }} lets enforcement choose it.",
    );
    expect((await fixture.get<Scaled>(NAMESPACE, "deploy", "stiff"))?.spec.replicas).toBe(2);
  });

  test("changes CPU by a roll-out only where pods cannot be resized and the class permits restarts", async () => {
    const namespace = "restarted";
    await fixture.kubectl(`create namespace ${namespace}`);
    const facts = { ...FACTS, enforcement: "full" } as const;
    const manager = await fixture.startController({
      client: fixture.createClient(undefined, withoutResize),
      namespaces: [namespace],
      facts,
    });
    const enforcement = { mode: "enforce", dimensions: ["cpu"] };
    await fixture.apply(namespace, classManifest("still", { enforcement }));
    await fixture.waitForPhase(namespace, "still", "available");
    const enforcer = startQuickEnforcer(manager, { namespace, name: "still" });
    enforcer.wanted.cpu = 60;
    const status = await fixture.waitForStatus(namespace, "still", "NotPossible", ({ conditions }) =>
      Boolean(conditions?.some(({ type, reason }) => type === "NfrEnforced" && reason === "NotPossible")),
    );
    expect(status.conditions?.find(({ type }) => type === "NfrEnforced")?.message).toContain(
      "f cpu: pods would restart: this cluster cannot resize them in place",
    );
    await fixture.kubectl(`annotate crt still -n ${namespace} oaas.io/enforcement-restarts=allowed`);
    const cpu = "{.spec.template.spec.containers[0].resources.requests.cpu}";
    await eventually(
      async () => expect(await fixture.kubectl(`get deploy still -n ${namespace} -o jsonpath=${cpu}`)).toBe("60m"),
      { timeoutMs: 60_000, what: "a template with 60m" },
    );
    await enforcer.stop();
  });
});
