import { createRecordingLogger } from "@oaas/observability/testing";
import { describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { ControllerFixture, classManifest } from "./support/controller-fixture.ts";

const NARROW = { name: "narrow", token: "token-of-narrow" };

/** All that the controller needs but network policies, and jobs only for reading. */
const ROLE = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "narrow" },
  rules: [
    { apiGroups: ["oaas.io"], resources: ["*"], verbs: ["*"] },
    { apiGroups: [""], resources: ["configmaps", "services", "pods", "events"], verbs: ["*"] },
    { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["*"] },
    {
      apiGroups: ["apps"],
      resources: ["deployments", "statefulsets", "daemonsets", "replicasets", "controllerrevisions"],
      verbs: ["*"],
    },
    { apiGroups: ["batch"], resources: ["jobs"], verbs: ["get", "list", "watch"] },
    { apiGroups: ["autoscaling"], resources: ["*"], verbs: ["*"] },
    { apiGroups: ["policy"], resources: ["*"], verbs: ["*"] },
  ],
};

describeOnTarget("several namespaces, without a right over the cluster", { needs: ["kubectl"] }, () => {
  let lab: ControllerFixture;
  let crm: ClassManager;
  const recorded = createRecordingLogger();

  beforeAll(async () => {
    lab = await ControllerFixture.start({ users: [NARROW] });
    for (const namespace of ["left", "right", "other"]) await lab.kubectl(`create namespace ${namespace}`);
    await lab.kubectl("apply -f -", JSON.stringify(ROLE));
    for (const namespace of ["left", "right"])
      await lab.kubectl(`create rolebinding narrow -n ${namespace} --clusterrole=narrow --user=narrow`);
    crm = await lab.startController({ namespaces: ["left", "right"], token: NARROW.token, logger: recorded.log });
  });
  afterAll(async () => {
    await lab.close();
  });

  test("classes of each are served, those of others are not; nodes are done without, and that is told", async () => {
    for (const namespace of ["left", "right", "other"])
      await lab.apply(namespace, classManifest("plain", { state_spec: {} }));
    await Promise.all(["left", "right"].map((namespace) => lab.waitForPhase(namespace, "plain", "available")));
    expect((await lab.get("other", "crt", "plain"))?.metadata.finalizers).toBeUndefined();
    expect([...crm.classRuntimes.cache.list()].map(({ metadata }) => metadata.namespace)).toEqual(["left", "right"]);
    expect(crm.pods.nodes).toBeUndefined();
    expect(crm.informers.refused.map(({ fault }) => fault.message).join("\n")).toMatch(/list.*nodes.*cluster scope/);
    expect(crm.manager.readiness().ready).toBe(true);
  });

  test("drift is repaired in each of them", async () => {
    for (const namespace of ["left", "right"]) {
      await lab.kubectl(`delete deploy plain -n ${namespace} --wait=false`);
      await eventually(
        async () => (await lab.get(namespace, "deploy", "plain"))?.metadata.deletionTimestamp === undefined,
      );
    }
    await Promise.all(["left", "right"].map((namespace) => lab.waitForPhase(namespace, "plain", "available")));
  });

  test("a kind that may not be read: the class that needs it says which right is missing, others go on", async () => {
    await lab.apply(
      "left",
      {
        apiVersion: "oaas.io/v1alpha1",
        kind: "EnvironmentConfig",
        metadata: { name: "walled" },
        spec: { kind: "cloud", network_policy: { enabled: true } },
      },
      classManifest("walled", { target_environment: "walled" }),
      classManifest("open"),
    );
    const { message } = await lab.waitForStatus("left", "walled", "Forbidden", ({ reason }) => reason === "Forbidden");
    expect(message).toMatch(/cannot list resource "networkpolicies".*in the namespace "left"/);
    await lab.waitForPhase("left", "open", "available");
    // It goes without a trace all the same: it never had what we may not look for.
    await lab.kubectl("delete crt open -n left --wait=true --timeout=150s");
    expect(await lab.listOwned("left", "deploy,svc", "open")).toEqual([]);
  });

  test("a kind that may not be written: told once, and mended by the right alone", async () => {
    await lab.apply("right", classManifest("once", { selected_template: "job" }));
    const { message } = await lab.waitForStatus("right", "once", "Forbidden", ({ reason }) => reason === "Forbidden");
    expect(message).toMatch(/cannot patch resource "jobs".*in the namespace "right"/);
    await lab.kubectl("annotate crt once -n right touched=1");
    const lines = (): readonly object[] =>
      recorded.records.filter(({ fields }) => fields["key"] === "right/once" && fields["reason"] === "Forbidden");
    expect(lines()).toHaveLength(1);
    expect(lines()[0]).toMatchObject({ level: "warn", fields: { deployment_id: "once" } });
    await lab.kubectl("create role jobs -n right --verb=* --resource=jobs.batch");
    await lab.kubectl("create rolebinding jobs -n right --role=jobs --user=narrow");
    await lab.kubectl("annotate crt once -n right touched=2 --overwrite");
    await lab.waitForStatus("right", "once", "to have its job", ({ reason }) => reason !== "Forbidden");
  });
});
