import { createRecordingLogger } from "@oaas/observability/testing";
import { describeOnTarget, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { ControllerFixture, classManifest } from "./support/controller-fixture.ts";

const NARROW = { name: "narrow", token: "token-of-narrow" };

/** All permissions of the controllers, except for network policies, and read-only for jobs. */
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

describeOnTarget("several namespaces without cluster-wide permissions", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  let crm: ClassManager;
  const recorded = createRecordingLogger();

  beforeAll(async () => {
    fixture = await ControllerFixture.start({ users: [NARROW] });
    for (const namespace of ["left", "right", "other"]) await fixture.kubectl(`create namespace ${namespace}`);
    await fixture.kubectl("apply -f -", JSON.stringify(ROLE));
    for (const namespace of ["left", "right"])
      await fixture.kubectl(`create rolebinding narrow -n ${namespace} --clusterrole=narrow --user=narrow`);
    crm = await fixture.startController({ namespaces: ["left", "right"], token: NARROW.token, logger: recorded.log });
  });
  afterAll(async () => {
    await fixture.close();
  });

  test("serves only the listed namespaces, and reports that nodes cannot be read", async () => {
    for (const namespace of ["left", "right", "other"])
      await fixture.apply(namespace, classManifest("plain", { state_spec: {} }));
    await Promise.all(["left", "right"].map((namespace) => fixture.waitForPhase(namespace, "plain", "available")));
    expect((await fixture.get("other", "crt", "plain"))?.metadata.finalizers).toBeUndefined();
    expect([...crm.classRuntimes.cache.list()].map(({ metadata }) => metadata.namespace)).toEqual(["left", "right"]);
    expect(crm.pods.nodes).toBeUndefined();
    expect(crm.informers.forbidden.map(({ fault }) => fault.message).join("\n")).toMatch(/list.*nodes.*cluster scope/);
    expect(crm.manager.readiness().ready).toBe(true);
  });

  test("repairs drift in each namespace", async () => {
    for (const namespace of ["left", "right"]) {
      await fixture.kubectl(`delete deploy plain -n ${namespace} --wait=false`);
      await eventually(
        async () => (await fixture.get(namespace, "deploy", "plain"))?.metadata.deletionTimestamp === undefined,
      );
    }
    await Promise.all(["left", "right"].map((namespace) => fixture.waitForPhase(namespace, "plain", "available")));
  });

  test("reports a missing read permission on the class that needs it, and serves the others", async () => {
    await fixture.apply(
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
    const { message } = await fixture.waitForStatus(
      "left",
      "walled",
      "Forbidden",
      ({ reason }) => reason === "Forbidden",
    );
    expect(message).toMatch(/cannot list resource "networkpolicies".*in the namespace "left"/);
    await fixture.waitForPhase("left", "open", "available");
    // The deletion completes: the class never had a child of the unreadable kind.
    await fixture.kubectl("delete crt open -n left --wait=true --timeout=150s");
    expect(await fixture.listOwned("left", "deploy,svc", "open")).toEqual([]);
  });

  test("reports a missing write permission once, and recovers when it is granted", async () => {
    await fixture.apply("right", classManifest("once", { selected_template: "job" }));
    const { message } = await fixture.waitForStatus(
      "right",
      "once",
      "Forbidden",
      ({ reason }) => reason === "Forbidden",
    );
    expect(message).toMatch(/cannot patch resource "jobs".*in the namespace "right"/);
    await fixture.kubectl("annotate crt once -n right touched=1");
    const lines = (): readonly object[] =>
      recorded.records.filter(({ fields }) => fields["key"] === "right/once" && fields["reason"] === "Forbidden");
    expect(lines()).toHaveLength(1);
    expect(lines()[0]).toMatchObject({ level: "warn", fields: { deployment_id: "once" } });
    await fixture.kubectl("create role jobs -n right --verb=* --resource=jobs.batch");
    await fixture.kubectl("create rolebinding jobs -n right --role=jobs --user=narrow");
    await fixture.kubectl("annotate crt once -n right touched=2 --overwrite");
    await fixture.waitForStatus("right", "once", "to have its job", ({ reason }) => reason !== "Forbidden");
  });
});
