import { describe, expect, test } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import { garbageCollector } from "../index.ts";
import { typed } from "../objects/cluster-view.ts";
import {
  AUTOSCALERS,
  BUDGETS,
  CLAIMS,
  DAEMON_SETS,
  DEPLOYMENTS,
  ENDPOINT_SLICES,
  ENDPOINTS,
  JOBS,
  KNATIVE_REVISIONS,
  KNATIVE_SERVICES,
  NODES,
  PODS,
  REVISIONS,
  SERVICES,
  STATEFUL_SETS,
  VOLUMES,
} from "../objects/resources.ts";
import type { Claim, Pod } from "../objects/typed.ts";
import { workloadSimulation, type SimulationOptions, type WorkloadSimulation } from "../simulation.ts";
import { conditionsText, deployment, TEST_SERVERS, Lab, template, type EventObject } from "../testing/lab.ts";

describe.each(TEST_SERVERS)("on %s:", (ground) => {
  async function started(options: SimulationOptions = {}): Promise<{ lab: Lab; simulation: WorkloadSimulation }> {
    const lab = await Lab.on(ground);
    const simulation = workloadSimulation(lab.ports, { nodes: 3, containerEvents: false, ...options });
    await lab.start(simulation, garbageCollector(lab.ports));
    return { lab, simulation };
  }

  const withSpec = (spec: object) => (object: JsonObject) => ({
    ...object,
    spec: { ...(object["spec"] as object), ...spec },
  });
  const names = (lab: Lab): string =>
    lab
      .pods()
      .map(({ metadata }) => metadata.name)
      .join(" ");
  const images = (lab: Lab): string =>
    lab
      .pods()
      .map(({ metadata, spec }) => `${metadata.name}=${spec?.containers?.[0]?.image?.split(":").at(-1)}`)
      .join(" ");
  const about =
    (kind: string) =>
    ({ involvedObject }: EventObject): boolean =>
      involvedObject.kind === kind;

  async function idle(lab: Lab): Promise<void> {
    expect(lab.problems).toEqual([]);
    lab.written();
    await lab.pass(3_600_000);
    expect(lab.written()).toBe(0);
  }

  const statefulSet = (spec: object = {}): object => ({
    metadata: { name: "db", namespace: "default" },
    spec: {
      replicas: 3,
      serviceName: "db",
      podManagementPolicy: "OrderedReady",
      revisionHistoryLimit: 10,
      selector: { matchLabels: { app: "db" } },
      template: template("example.test/db:1", { app: "db" }),
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
      ...spec,
    },
  });

  describe("a StatefulSet", () => {
    test("starts pods in order, one by one", async () => {
      const { lab } = await started({ startDelayMs: 1000 });
      await lab.create(STATEFUL_SETS, statefulSet());
      await lab.pass(500);
      expect(names(lab)).toBe("db-0");
      await lab.pass(1000);
      expect(names(lab)).toBe("db-0 db-1");
      await lab.pass(3000);
      expect(lab.object(STATEFUL_SETS, "db")["status"]).toMatchObject({
        replicas: 3,
        readyReplicas: 3,
        availableReplicas: 3,
        currentReplicas: 3,
        updatedReplicas: 3,
        collisionCount: 0,
      });
      const pod = typed<Pod>(lab.object(PODS, "db-1"));
      expect(pod.spec).toMatchObject({ hostname: "db-1", subdomain: "db" });
      expect(pod.metadata.labels).toMatchObject({
        "apps.kubernetes.io/pod-index": "1",
        "statefulset.kubernetes.io/pod-name": "db-1",
      });
      expect(lab.events(about("StatefulSet"))).toEqual(
        [0, 1, 2].map((n) => `Normal SuccessfulCreate: Create Pod db-${n} in StatefulSet db successful`),
      );
      await idle(lab);
    });

    test("Parallel: starts all pods at once", async () => {
      const { lab } = await started({ startDelayMs: 1000 });
      await lab.create(STATEFUL_SETS, statefulSet({ podManagementPolicy: "Parallel" }));
      await lab.pass(100);
      expect(names(lab)).toBe("db-0 db-1 db-2");
    });

    test("updates from the last pod to the partition, and scales down from the last", async () => {
      const { lab } = await started();
      await lab.create(STATEFUL_SETS, statefulSet());
      await lab.pass(2000);
      const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 1 } };
      await lab.change(
        STATEFUL_SETS,
        "db",
        withSpec({ template: template("example.test/db:2", { app: "db" }), updateStrategy }),
      );
      await lab.pass(3000);
      expect(images(lab)).toBe("db-0=1 db-1=2 db-2=2");
      expect(lab.object(STATEFUL_SETS, "db")["status"]).toMatchObject({ currentReplicas: 1, updatedReplicas: 2 });
      await lab.change(
        STATEFUL_SETS,
        "db",
        withSpec({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } } }),
      );
      await lab.pass(2000);
      expect(images(lab)).toBe("db-0=2 db-1=2 db-2=2");
      const status = lab.object(STATEFUL_SETS, "db")["status"] as JsonObject;
      expect(status["currentRevision"]).toBe(status["updateRevision"]);
      expect(lab.cluster.list(REVISIONS)).toHaveLength(2);
      await lab.change(STATEFUL_SETS, "db", withSpec({ replicas: 1 }));
      await lab.pass(1000);
      expect(names(lab)).toBe("db-0");
    });

    test("OnDelete: keeps the template of a pod until the pod is deleted", async () => {
      const { lab } = await started();
      const onDelete = { updateStrategy: { type: "OnDelete" }, podManagementPolicy: "Parallel" };
      await lab.create(STATEFUL_SETS, statefulSet(onDelete));
      await lab.pass(2000);
      const before = lab.object(STATEFUL_SETS, "db")["status"] as JsonObject;
      expect(before).toMatchObject({ currentReplicas: 3, updatedReplicas: 3 });
      expect(before["currentRevision"]).toBe(before["updateRevision"]);
      await lab.change(STATEFUL_SETS, "db", withSpec({ template: template("example.test/db:2", { app: "db" }) }));
      await lab.pass(60_000);
      expect(images(lab)).toBe("db-0=1 db-1=1 db-2=1");
      const status = lab.object(STATEFUL_SETS, "db")["status"] as JsonObject;
      expect(status).toMatchObject({
        currentReplicas: 3,
        readyReplicas: 3,
        currentRevision: before["currentRevision"],
      });
      expect(status["updatedReplicas"]).toBeUndefined();
      expect(status["updateRevision"]).not.toBe(before["currentRevision"]);
      await lab.cluster.delete(PODS, { namespace: "default", name: "db-1" }, {});
      await lab.pass(2000);
      expect(images(lab)).toBe("db-0=1 db-1=2 db-2=1");
      expect(lab.object(STATEFUL_SETS, "db")["status"]).toMatchObject({ currentReplicas: 2, updatedReplicas: 1 });
      for (const name of ["db-0", "db-2"]) await lab.cluster.delete(PODS, { namespace: "default", name }, {});
      await lab.pass(2000);
      expect(images(lab)).toBe("db-0=2 db-1=2 db-2=2");
      // As in Kubernetes: without a rolling update, the current revision stays the first.
      const after = lab.object(STATEFUL_SETS, "db")["status"] as JsonObject;
      expect(after).toMatchObject({ updatedReplicas: 3, currentRevision: before["currentRevision"] });
      await idle(lab);
    });

    test("is ready when a controller has set the condition of each readiness gate", async () => {
      const { lab } = await started();
      const { spec, ...rest } = template("example.test/db:1", { app: "db" }) as { spec: object };
      const gated = { ...rest, spec: { ...spec, readinessGates: [{ conditionType: "oaas.io/shards" }] } };
      await lab.create(STATEFUL_SETS, statefulSet({ replicas: 1, template: gated }));
      await lab.pass(2000);
      const ready = (): string => {
        const pod = typed<Pod>(lab.object(PODS, "db-0"));
        const found = pod.status?.conditions?.find(({ type }) => type === "Ready");
        return [found?.status, found?.reason, found?.message].filter((each) => each !== undefined).join(" ");
      };
      const replicas = (): unknown => (lab.object(STATEFUL_SETS, "db")["status"] as JsonObject)["readyReplicas"];
      const setGate = async (status: string): Promise<void> => {
        const pod = lab.object(PODS, "db-0");
        const { conditions = [], ...others } = typed<Pod>(pod).status ?? {};
        const kept = conditions.filter(({ type }) => type !== "oaas.io/shards");
        const written = { ...others, conditions: [...kept, { type: "oaas.io/shards", status }] };
        await lab.cluster.updateStatus(PODS, { ...pod, status: written } as object as JsonObject, "tester");
        await lab.pass(1000);
      };
      expect(ready()).toBe(
        'False ReadinessGatesNotReady corresponding condition of pod readiness gate "oaas.io/shards" does not exist.',
      );
      expect(replicas()).toBeUndefined();
      await setGate("True");
      expect([ready(), replicas()]).toEqual(["True", 1]);
      await setGate("False");
      expect(ready()).toBe(
        'False ReadinessGatesNotReady the status of pod readiness gate "oaas.io/shards" is not "True", but False',
      );
      await idle(lab);
    });

    test("creates a volume per claim, which outlives the pod", async () => {
      const { lab } = await started();
      const volumeClaimTemplates = [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ];
      await lab.create(STATEFUL_SETS, statefulSet({ replicas: 2, volumeClaimTemplates }));
      await lab.pass(2000);
      expect(
        lab.cluster
          .list(CLAIMS)
          .map((claim) => `${typed<Claim>(claim).metadata.name} ${typed<Claim>(claim).status?.phase}`),
      ).toEqual(["data-db-0 Bound", "data-db-1 Bound"]);
      expect(lab.cluster.list(VOLUMES)).toHaveLength(2);
      expect(typed<Pod>(lab.object(PODS, "db-0")).spec?.volumes).toEqual([
        { name: "data", persistentVolumeClaim: { claimName: "data-db-0" } },
      ]);
      expect(lab.object(STATEFUL_SETS, "db")["status"]).toMatchObject({ readyReplicas: 2 });
      await lab.cluster.delete(STATEFUL_SETS, { namespace: "default", name: "db" }, {});
      await lab.pass(1000);
      expect(lab.pods()).toEqual([]);
      expect(lab.cluster.list(CLAIMS)).toHaveLength(2);
      await lab.cluster.delete(CLAIMS, { namespace: "default", name: "data-db-0" }, {});
      await lab.pass(1000);
      expect(lab.cluster.list(VOLUMES)).toHaveLength(1);
      await idle(lab);
    });
  });

  describe("a DaemonSet", () => {
    const daemon = (image = "example.test/a:1", spec: object = {}): object => ({
      metadata: { name: "agent", namespace: "default" },
      spec: {
        selector: { matchLabels: { app: "agent" } },
        template: template(image, { app: "agent" }),
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
        ...spec,
      },
    });

    test("runs one pod per node, also on new nodes, and rolls out node by node", async () => {
      const { lab } = await started();
      await lab.create(DAEMON_SETS, daemon());
      await lab.pass(1000);
      expect(new Set(lab.pods().map(({ spec }) => spec?.nodeName))).toEqual(new Set(["node-0", "node-1", "node-2"]));
      await lab.create(NODES, { metadata: { name: "node-9", labels: { "kubernetes.io/hostname": "node-9" } } });
      await lab.pass(1000);
      expect(lab.object(DAEMON_SETS, "agent")["status"]).toMatchObject({
        desiredNumberScheduled: 4,
        numberReady: 4,
        numberAvailable: 4,
        updatedNumberScheduled: 4,
      });
      await lab.change(DAEMON_SETS, "agent", (set) => ({
        ...set,
        spec: (daemon("example.test/a:2") as { spec: object }).spec,
      }));
      for (let turn = 0; turn < 40; turn += 1) {
        await lab.pass(50);
        const serving = lab
          .pods()
          .filter(({ status }) =>
            status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
          );
        expect(serving.length).toBeGreaterThanOrEqual(3);
      }
      expect(new Set(lab.pods().map(({ spec }) => spec?.containers?.[0]?.image))).toEqual(
        new Set(["example.test/a:2"]),
      );
      await idle(lab);
    });

    test("runs only on selected nodes", async () => {
      const { lab } = await started({ nodes: [{ name: "a", labels: { disk: "ssd" } }, { name: "b" }] });
      const { spec, metadata } = template("example.test/a:1", { app: "agent" }) as { spec: object; metadata: object };
      await lab.create(
        DAEMON_SETS,
        daemon("example.test/a:1", { template: { metadata, spec: { ...spec, nodeSelector: { disk: "ssd" } } } }),
      );
      await lab.pass(1000);
      expect(lab.pods().map((pod) => pod.spec?.nodeName)).toEqual(["a"]);
    });
  });

  describe("a Job", () => {
    const job = (spec: object = {}, image = "example.test/j:1"): object => ({
      metadata: { name: "j", namespace: "default" },
      spec: {
        completions: 3,
        parallelism: 2,
        backoffLimit: 1,
        template: {
          metadata: { labels: { app: "j" } },
          spec: { restartPolicy: "Never", containers: [{ name: "c", image }] },
        },
        ...spec,
      },
    });

    test("runs to its completions, two at a time", async () => {
      const { lab } = await started();
      await lab.create(JOBS, job());
      await lab.pass(500);
      expect(lab.object(JOBS, "j")["status"]).toMatchObject({ active: 2, ready: 2 });
      await lab.pass(3000);
      expect(lab.object(JOBS, "j")["status"]).toMatchObject({
        succeeded: 3,
        ready: 0,
        terminating: 0,
        uncountedTerminatedPods: {},
      });
      expect(conditionsText(lab.object(JOBS, "j"))).toBe(
        "SuccessCriteriaMet=True(CompletionsReached) Complete=True(CompletionsReached)",
      );
      expect(lab.pods().map(({ status }) => status?.phase)).toEqual(["Succeeded", "Succeeded", "Succeeded"]);
      expect(lab.events(about("Job")).at(-1)).toBe("Normal Completed: Job completed");
      await idle(lab);
    });

    test("fails when too many pods fail", async () => {
      const { lab, simulation } = await started();
      simulation.fail({ image: "example.test/j:1", failure: { kind: "crash-loop", afterMs: 100 } });
      await lab.create(JOBS, job({ completions: 1, parallelism: 1 }));
      await lab.pass(30_000);
      expect(lab.object(JOBS, "j")["status"]).toMatchObject({ failed: 2 });
      expect(conditionsText(lab.object(JOBS, "j"))).toBe(
        "FailureTarget=True(BackoffLimitExceeded) Failed=True(BackoffLimitExceeded)",
      );
      expect(lab.events(about("Job")).at(-1)).toBe(
        "Warning BackoffLimitExceeded: Job has reached the specified backoff limit",
      );
    });

    test("indexed: completes each index once and retries under the same index", async () => {
      const { lab, simulation } = await started();
      const recover = simulation.fail({
        selector: { matchLabels: { "batch.kubernetes.io/job-completion-index": "1" } },
        failure: { kind: "crash-loop", afterMs: 100 },
      });
      await lab.create(JOBS, job({ completionMode: "Indexed", completions: 4, parallelism: 4, backoffLimit: 3 }));
      await lab.pass(5000);
      expect(lab.object(JOBS, "j")["status"]).toMatchObject({ succeeded: 3, failed: 1, completedIndexes: "0,2,3" });
      recover();
      await lab.pass(20_000);
      expect(lab.object(JOBS, "j")["status"]).toMatchObject({ succeeded: 4, failed: 1, completedIndexes: "0-3" });
      expect(
        lab
          .pods()
          .map(({ metadata }) => metadata.name?.slice(0, 4))
          .join(" "),
      ).toBe("j-0- j-1- j-1- j-2- j-3-");
      await idle(lab);
    });

    test("fails past its deadline and counts stopped pods as failed", async () => {
      const { lab } = await started({ jobDurationMs: 60_000 });
      await lab.create(JOBS, job({ activeDeadlineSeconds: 5 }));
      await lab.pass(10_000);
      expect(lab.object(JOBS, "j")["status"]).toMatchObject({ failed: 2 });
      expect(conditionsText(lab.object(JOBS, "j"))).toBe(
        "FailureTarget=True(DeadlineExceeded) Failed=True(DeadlineExceeded)",
      );
      expect(lab.pods()).toEqual([]);
      await idle(lab);
    });

    test("is deleted after its TTL, with its pods", async () => {
      const { lab } = await started();
      await lab.create(JOBS, job({ ttlSecondsAfterFinished: 10 }));
      await lab.pass(5000);
      expect(lab.cluster.list(JOBS)).toHaveLength(1);
      await lab.pass(15_000);
      expect(lab.cluster.list(JOBS)).toEqual([]);
      expect(lab.pods()).toEqual([]);
    });

    test("suspended: creates no pods until resumed", async () => {
      const { lab } = await started();
      await lab.create(JOBS, job({ suspend: true }));
      await lab.pass(1000);
      expect(lab.pods()).toEqual([]);
      expect(conditionsText(lab.object(JOBS, "j"))).toBe("Suspended=True(JobSuspended)");
      await lab.change(JOBS, "j", withSpec({ suspend: false }));
      await lab.pass(5000);
      expect(conditionsText(lab.object(JOBS, "j"))).toContain("Complete=True");
    });
  });

  describe("services, budgets and autoscalers", () => {
    test("EndpointSlices and Endpoints of a Service follow its pods", async () => {
      const { lab } = await started({ startDelayMs: 1000 });
      await lab.create(SERVICES, {
        metadata: { name: "web", namespace: "default" },
        spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] },
      });
      await lab.create(DEPLOYMENTS, deployment());
      await lab.pass(500);
      const slice = (): JsonObject => lab.cluster.list(ENDPOINT_SLICES)[0] ?? {};
      const ready = (): unknown[] =>
        ((slice()["endpoints"] ?? []) as JsonObject[]).map((one) => (one["conditions"] as JsonObject)["ready"]);
      expect(ready()).toEqual([]);
      await lab.pass(1000);
      expect(ready()).toEqual([true, true, true]);
      expect(slice()["ports"]).toEqual([{ name: "", port: 8080, protocol: "TCP" }]);
      expect(lab.object(ENDPOINTS, "web")["subsets"]).toMatchObject([
        { addresses: [{}, {}, {}], ports: [{ port: 8080, protocol: "TCP" }] },
      ]);
      await lab.change(DEPLOYMENTS, "web", withSpec({ replicas: 0 }));
      await lab.pass(1000);
      expect(ready()).toEqual([]);
      await lab.cluster.delete(SERVICES, { namespace: "default", name: "web" }, {});
      await lab.pass(1000);
      expect([ENDPOINTS, ENDPOINT_SLICES].flatMap((kind) => lab.cluster.list(kind))).toEqual([]);
      await idle(lab);
    });

    test("a PodDisruptionBudget reports allowed disruptions", async () => {
      const { lab } = await started();
      await lab.create(BUDGETS, {
        metadata: { name: "web", namespace: "default" },
        spec: { maxUnavailable: "34%", selector: { matchLabels: { app: "web" } } },
      });
      await lab.create(DEPLOYMENTS, deployment("web", { replicas: 4 }));
      await lab.pass(1000);
      expect(lab.object(BUDGETS, "web")["status"]).toMatchObject({
        currentHealthy: 4,
        desiredHealthy: 2,
        disruptionsAllowed: 2,
        expectedPods: 4,
      });
      expect(conditionsText(lab.object(BUDGETS, "web"))).toBe("DisruptionAllowed=True(SufficientPods)");
      await idle(lab);
    });

    test("an HPA scales up at once and down after the stabilization window", async () => {
      const { lab, simulation } = await started();
      const metrics = [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } } },
      ];
      await lab.create(DEPLOYMENTS, deployment("web", { replicas: 2 }));
      await lab.create(AUTOSCALERS, {
        metadata: { name: "web", namespace: "default" },
        spec: {
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          minReplicas: 2,
          maxReplicas: 5,
          metrics,
        },
      });
      await lab.pass(1000);
      expect(conditionsText(lab.object(AUTOSCALERS, "web"))).toBe(
        "AbleToScale=True(SucceededGetScale) ScalingActive=False(FailedGetResourceMetric)",
      );
      await simulation.setMetric("default", "web", 100);
      await lab.pass(60_000);
      expect(lab.object(DEPLOYMENTS, "web")["spec"]).toMatchObject({ replicas: 5 });
      expect(conditionsText(lab.object(AUTOSCALERS, "web"))).toBe(
        "AbleToScale=True(ReadyForNewScale) ScalingActive=True(ValidMetricFound) ScalingLimited=True(TooManyReplicas)",
      );
      await simulation.setMetric("default", "web", 5);
      await lab.pass(10_000);
      expect(conditionsText(lab.object(AUTOSCALERS, "web"))).toContain("AbleToScale=True(ScaleDownStabilized)");
      expect(lab.object(DEPLOYMENTS, "web")["spec"]).toMatchObject({ replicas: 5 });
      await lab.pass(600_000);
      expect(lab.object(DEPLOYMENTS, "web")["spec"]).toMatchObject({ replicas: 2 });
      expect(lab.events(about("HorizontalPodAutoscaler"))).toContain(
        "Normal SuccessfulRescale: New size: 2; reason: All metrics below target",
      );
      await idle(lab);
    });

    test("a raised minReplicas of an HPA without metrics scales its target", async () => {
      const { lab } = await started();
      await lab.create(DEPLOYMENTS, deployment("web", { replicas: 1 }));
      await lab.create(AUTOSCALERS, {
        metadata: { name: "web", namespace: "default" },
        spec: {
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          minReplicas: 4,
          maxReplicas: 5,
        },
      });
      await lab.pass(1000);
      expect(lab.object(DEPLOYMENTS, "web")["spec"]).toMatchObject({ replicas: 4 });
      expect(lab.events(about("HorizontalPodAutoscaler"))[0]).toBe(
        "Normal SuccessfulRescale: New size: 4; reason: Current number of replicas below Spec.MinReplicas",
      );
    });
  });

  describe("a Knative Service", () => {
    const ksvc = (image: string, annotations: object = {}): object => ({
      metadata: { name: "fn", namespace: "default" },
      spec: { template: { metadata: { annotations }, spec: { containers: [{ name: "user-container", image }] } } },
    });

    test("becomes ready with a revision, a Deployment and a URL; an update creates another revision", async () => {
      const { lab } = await started();
      await lab.create(KNATIVE_SERVICES, ksvc("dev.local/fn:1", { "autoscaling.knative.dev/minScale": "2" }));
      await lab.pass(2000);
      expect(conditionsText(lab.object(KNATIVE_SERVICES, "fn"))).toBe(
        "ConfigurationsReady=True Ready=True RoutesReady=True",
      );
      expect(lab.object(KNATIVE_SERVICES, "fn")["status"]).toMatchObject({
        url: "http://fn.default.svc.cluster.local",
        latestReadyRevisionName: "fn-00001",
        traffic: [{ revisionName: "fn-00001", percent: 100, latestRevision: true }],
      });
      expect(lab.object(DEPLOYMENTS, "fn-00001-deployment")["status"]).toMatchObject({ readyReplicas: 2 });
      expect(lab.object(SERVICES, "fn")["spec"]).toMatchObject({ type: "ExternalName" });
      await idle(lab);
      await lab.change(KNATIVE_SERVICES, "fn", (object) => ({
        ...object,
        spec: (ksvc("dev.local/fn:2") as { spec: object }).spec,
      }));
      await lab.pass(3000);
      expect(lab.object(KNATIVE_SERVICES, "fn")["status"]).toMatchObject({ latestReadyRevisionName: "fn-00002" });
      expect(lab.object(DEPLOYMENTS, "fn-00001-deployment")["spec"]).toMatchObject({ replicas: 0 });
      await idle(lab);
    });

    test("stays not ready with an exiting image while the last revision serves; deletion leaves nothing", async () => {
      const { lab } = await started();
      await lab.create(KNATIVE_SERVICES, ksvc("dev.local/fn:1"));
      await lab.pass(2000);
      await lab.change(KNATIVE_SERVICES, "fn", (object) => ({
        ...object,
        spec: (ksvc("dev.local/fn:crashing") as { spec: object }).spec,
      }));
      await lab.pass(3000);
      expect(conditionsText(lab.object(KNATIVE_SERVICES, "fn"))).toBe(
        "ConfigurationsReady=False(RevisionFailed) Ready=False(RevisionFailed) RoutesReady=True",
      );
      expect(conditionsText(lab.object(KNATIVE_REVISIONS, "fn-00002"))).toContain("ContainerHealthy=False(ExitCode1)");
      expect(lab.object(KNATIVE_SERVICES, "fn")["status"]).toMatchObject({
        latestCreatedRevisionName: "fn-00002",
        latestReadyRevisionName: "fn-00001",
      });
      await lab.cluster.delete(KNATIVE_SERVICES, { namespace: "default", name: "fn" }, {});
      await lab.pass(2000);
      expect([KNATIVE_REVISIONS, DEPLOYMENTS, SERVICES, PODS].flatMap((kind) => lab.cluster.list(kind))).toEqual([]);
    });
  });
});
