import { describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { explain } from "../src/explain/explain.ts";
import { classManifest, ControllerFixture } from "./support/controller-fixture.ts";

const NAMESPACE = "references";

/** Every kind of object that a pod can refer to, as a function states it. */
const SETTINGS = {
  env: [
    { name: "URL", valueFrom: { secretKeyRef: { name: "database", key: "url" } } },
    { name: "MAYBE", valueFrom: { secretKeyRef: { name: "optional", key: "x", optional: true } } },
  ],
  envFrom: [{ configMapRef: { name: "settings" } }],
  volumes: [
    { name: "tls", secret: { secretName: "certificates" } },
    { name: "data", persistentVolumeClaim: { claimName: "archive" } },
  ],
  volumeMounts: [
    { name: "tls", mountPath: "/etc/tls" },
    { name: "data", mountPath: "/data" },
  ],
  imagePullSecrets: [{ name: "registry" }],
  serviceAccountName: "runner",
  priorityClassName: "urgent-functions",
};

const OBJECTS: readonly object[] = [
  { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" } },
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "runner" } },
  {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "archive" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  },
  { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name: "urgent-functions" }, value: 10 },
  ...["database", "certificates", "registry"].map((name) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name },
    stringData: { url: "postgres://" },
  })),
];

const NAMES = [
  "ConfigMap settings (envFrom)",
  "PersistentVolumeClaim archive (volume data)",
  "PriorityClass urgent-functions (priorityClassName)",
  "Secret certificates (volume tls)",
  "Secret database (env URL)",
  "Secret registry (imagePullSecrets)",
  "ServiceAccount runner (serviceAccountName)",
];

describeOnTarget("references of pods to missing objects", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  let crm: ClassManager;

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    crm = await fixture.startController({ namespaces: [NAMESPACE] });
  });
  afterAll(async () => {
    await fixture.close();
  });

  const withSettings = (name: string, settings: object, spec: object = {}): object => {
    const fn = { function_key: "f", provision_config: { container_image: "example.test/fn:1", ...settings } };
    return classManifest(name, { functions: [fn], selected_template: "k8s_deployment", ...spec });
  };
  const waitForMissing = (name: string, ...texts: readonly string[]): Promise<void> =>
    eventually(
      async () => {
        const { phase, reason, message = "" } = (await fixture.status(NAMESPACE, name)) ?? {};
        expect({ phase, reason }).toEqual({ phase: "degraded", reason: "ReferenceMissing" });
        const named = message.replace(/^.* needs /, "").replace(/, which .*$/, "");
        expect(named.split(", ")).toEqual(texts);
      },
      { timeoutMs: 60_000, what: `${texts.length} missing objects of ${name}` },
    );

  test("are a condition that names each object, and the explanation says so", async () => {
    await fixture.apply(NAMESPACE, withSettings("order", SETTINGS));
    await waitForMissing("order", ...NAMES);
    const status = await fixture.status(NAMESPACE, "order");
    const degraded = status?.conditions?.find(({ type }) => type === "Degraded");
    expect(degraded).toMatchObject({ status: "True", reason: "ReferenceMissing" });
    expect(status?.functions?.[0]).toMatchObject({ ready: false, reason: "ReferenceMissing" });
    const object = crm.classRuntimes.get({ namespace: NAMESPACE, name: "order" })!;
    const observation = await crm.observe(object, new AbortController().signal);
    const { summary, verdict, action } = explain({ deploymentId: "order", classKey: "c" }, observation, Date.now());
    expect(summary).toContain("Secret database (env URL)");
    expect({ verdict, action }).toMatchObject({
      verdict: "permanent",
      action: expect.stringContaining("Create the objects") as string,
    });
  });

  test("heal one by one when the objects appear", async () => {
    const [first, ...rest] = OBJECTS;
    await fixture.apply(NAMESPACE, first!);
    await waitForMissing("order", ...NAMES.slice(1));
    await fixture.apply(NAMESPACE, ...rest);
    // No one provisions the claim in the real cluster, so that its pods are not scheduled.
    await fixture.waitForStatus(NAMESPACE, "order", "no missing object", ({ reason }) => reason !== "ReferenceMissing");
  });

  test("are not reported for objects that exist, optional ones, and children of the class", async () => {
    const { volumes, volumeMounts } = SETTINGS;
    const withoutClaim = { ...SETTINGS, volumes: volumes.slice(0, 1), volumeMounts: volumeMounts.slice(0, 1) };
    await fixture.apply(NAMESPACE, withSettings("second", withoutClaim));
    await fixture.waitForPhase(NAMESPACE, "second", "available");
    await fixture.apply(NAMESPACE, {
      apiVersion: "oaas.io/v1alpha1",
      kind: "DeploymentTemplate",
      metadata: { name: "own-account" },
      spec: {
        template_type: "Deployment",
        manifests: [
          { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "{{ class.name }}-account" } },
          { apiVersion: "apps/v1", kind: "Deployment" },
        ],
      },
    });
    const settings = { serviceAccountName: "third-account" };
    await fixture.apply(NAMESPACE, withSettings("third", settings, { selected_template: "own-account" }));
    await fixture.waitForPhase(NAMESPACE, "third", "available");
  });

  describe.each(["statefulset", "daemonset", "job"])("with template %s", (template) => {
    test("are reported too", async () => {
      const env = [{ name: "URL", valueFrom: { configMapKeyRef: { name: `for-${template}`, key: "x" } } }];
      await fixture.apply(NAMESPACE, withSettings(template, { env }, { selected_template: template }));
      await waitForMissing(template, `ConfigMap for-${template} (env URL)`);
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `for-${template}` } };
      await fixture.apply(NAMESPACE, { ...object, data: { x: "1" } });
      await fixture.waitForStatus(NAMESPACE, template, "no missing object", ({ reason }) => {
        return reason !== "ReferenceMissing";
      });
    });
  });
});
