import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "@oaas/kube-core";
import { DEPLOYMENTS, EVENTS, REPLICA_SETS, resourceKey } from "../objects/resources.ts";
import type { Deployment } from "../objects/typed.ts";
import { workloadSimulation, type SimulationOptions } from "../simulation.ts";
import { conditionsText, deployment, TEST_SERVERS, Lab, template } from "../testing/lab.ts";
import { typed } from "../objects/cluster-view.ts";

describe.each(TEST_SERVERS)("on %s:", (ground) => {
  const QUIET: SimulationOptions = { nodes: 3, containerEvents: false };

  async function started(options: SimulationOptions = QUIET): Promise<Lab> {
    const lab = await Lab.on(ground);
    await lab.start(workloadSimulation(lab.ports, options));
    return lab;
  }

  const withImage = (image: string) => (object: JsonObject) => ({
    ...object,
    spec: { ...(object["spec"] as object), template: template(image) },
  });

  const withSpec = (spec: object) => (object: JsonObject) => ({
    ...object,
    spec: { ...(object["spec"] as object), ...spec },
  });

  /** Every distinct state of the Deployment's conditions in order, as a watcher sees it. */
  function conditionsSeen(lab: Lab): string[] {
    const seen = lab.history
      .filter(({ kind, object }) => resourceKey(kind) === resourceKey(DEPLOYMENTS) && object)
      .map(({ object }) => conditionsText(object ?? {}));
    return seen.filter((text, index) => text !== "" && text !== seen[index - 1]);
  }

  function sizes(lab: Lab): string {
    return lab.cluster
      .list(REPLICA_SETS)
      .map((set) => {
        const { metadata, spec } = typed<Deployment>(set);
        return `${metadata.annotations?.["deployment.kubernetes.io/revision"]}:${spec.replicas}`;
      })
      .sort()
      .join(" ");
  }

  const ofDeployments = ({ involvedObject }: { involvedObject: { kind: string } }): boolean =>
    involvedObject.kind === "Deployment";
  const shortened = (text: string): string => text.replaceAll(/web-[a-z0-9]+( from)/g, "web-#$1");

  describe("a Deployment", () => {
    test("becomes available like on the real controller, then writes nothing", async () => {
      const lab = await started();
      await lab.create(DEPLOYMENTS, deployment());
      await lab.pass(1000);
      expect(conditionsSeen(lab)).toEqual([
        "Progressing=True(NewReplicaSetCreated)",
        "Progressing=True(NewReplicaSetCreated) Available=False(MinimumReplicasUnavailable)",
        "Available=False(MinimumReplicasUnavailable) Progressing=True(ReplicaSetUpdated)",
        "Available=True(MinimumReplicasAvailable) Progressing=True(NewReplicaSetAvailable)",
      ]);
      expect(lab.object(DEPLOYMENTS, "web")["status"]).toMatchObject({
        replicas: 3,
        updatedReplicas: 3,
        availableReplicas: 3,
      });
      expect(new Set(lab.pods().map(({ spec }) => spec?.nodeName))).toEqual(new Set(["node-0", "node-1", "node-2"]));
      expect(lab.problems).toEqual([]);
      lab.written();
      await lab.pass(3_600_000);
      expect(lab.written()).toBe(0);
      expect(lab.time.pendingTimers).toBe(0);
    });

    test("scales and records events", async () => {
      const lab = await started();
      await lab.create(DEPLOYMENTS, deployment());
      await lab.pass(1000);
      await lab.change(DEPLOYMENTS, "web", withSpec({ replicas: 5 }));
      await lab.pass(1000);
      await lab.change(DEPLOYMENTS, "web", withSpec({ replicas: 2 }));
      await lab.pass(1000);
      expect(lab.pods()).toHaveLength(2);
      expect(lab.object(DEPLOYMENTS, "web")["status"]).toMatchObject({
        replicas: 2,
        availableReplicas: 2,
        observedGeneration: 3,
      });
      expect(lab.events(ofDeployments).map(shortened)).toEqual([
        "Normal ScalingReplicaSet: Scaled up replica set web-# from 0 to 3",
        "Normal ScalingReplicaSet: Scaled up replica set web-# from 3 to 5",
        "Normal ScalingReplicaSet: Scaled down replica set web-# from 5 to 2",
      ]);
    });

    test("rolls a new image out step by step and back again", async () => {
      const lab = await started();
      await lab.create(DEPLOYMENTS, deployment("web", { replicas: 2 }));
      await lab.pass(1000);
      await lab.change(DEPLOYMENTS, "web", withImage("example.test/web:2"));
      await lab.pass(2000);
      expect(sizes(lab)).toBe("1:0 2:2");
      expect(lab.events(ofDeployments).map(shortened)).toEqual([
        "Normal ScalingReplicaSet: Scaled up replica set web-# from 0 to 2",
        "Normal ScalingReplicaSet: Scaled up replica set web-# from 0 to 1",
        "Normal ScalingReplicaSet: Scaled down replica set web-# from 2 to 1",
        "Normal ScalingReplicaSet: Scaled up replica set web-# from 1 to 2",
        "Normal ScalingReplicaSet: Scaled down replica set web-# from 1 to 0",
      ]);
      await lab.change(DEPLOYMENTS, "web", withImage("example.test/web:1"));
      await lab.pass(2000);
      expect(sizes(lab)).toBe("2:0 3:2");
      const { metadata } = typed<Deployment>(lab.object(DEPLOYMENTS, "web"));
      expect(metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe("3");
      const back = lab.cluster.list(REPLICA_SETS).map((set) => typed<Deployment>(set).metadata.annotations);
      expect(back).toContainEqual(expect.objectContaining({ "deployment.kubernetes.io/revision-history": "1" }));
    });

    test("stays within the pod limits of its strategy during a rollout", async () => {
      const lab = await started({ ...QUIET, startDelayMs: 700, stopDelayMs: 300 });
      const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } };
      await lab.create(DEPLOYMENTS, deployment("web", { replicas: 8, strategy }));
      await lab.pass(3000);
      await lab.change(DEPLOYMENTS, "web", withImage("example.test/web:2"));
      for (let turn = 0; turn < 200; turn += 1) {
        await lab.pass(50);
        const active = lab.pods().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
        const ready = active.filter(({ status }) =>
          status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
        );
        expect(active.length).toBeLessThanOrEqual(10);
        expect(ready.length).toBeGreaterThanOrEqual(7);
      }
      expect(sizes(lab)).toBe("1:0 2:8");
    });

    test("Recreate: deletes old pods before it creates new ones", async () => {
      const lab = await started({ ...QUIET, stopDelayMs: 500 });
      await lab.create(DEPLOYMENTS, deployment("web", { strategy: { type: "Recreate" } }));
      await lab.pass(1000);
      await lab.change(DEPLOYMENTS, "web", withImage("example.test/web:2"));
      let images = new Set<string | undefined>();
      for (let turn = 0; turn < 40; turn += 1) {
        await lab.pass(50);
        images = new Set(lab.pods().map(({ spec }) => spec?.containers?.[0]?.image));
        expect(images.size).toBeLessThanOrEqual(1);
      }
      expect([...images]).toEqual(["example.test/web:2"]);
      expect(conditionsText(lab.object(DEPLOYMENTS, "web"))).toContain("Progressing=True(NewReplicaSetAvailable)");
    });

    test("reports an exceeded progress deadline once, and recovers", async () => {
      const lab = await started();
      await lab.create(
        DEPLOYMENTS,
        deployment("web", { progressDeadlineSeconds: 5, template: template("example.test/web:missing") }),
      );
      await lab.pass(5000);
      expect(conditionsText(lab.object(DEPLOYMENTS, "web"))).toContain("Progressing=True(ReplicaSetUpdated)");
      await lab.pass(3000);
      expect(conditionsText(lab.object(DEPLOYMENTS, "web"))).toBe(
        "Available=False(MinimumReplicasUnavailable) Progressing=False(ProgressDeadlineExceeded)",
      );
      const status = lab.object(DEPLOYMENTS, "web")["status"];
      expect(isJsonObject(status) && status["unavailableReplicas"]).toBe(3);
      await lab.change(DEPLOYMENTS, "web", withImage("example.test/web:2"));
      await lab.pass(2000);
      expect(conditionsText(lab.object(DEPLOYMENTS, "web"))).toBe(
        "Available=True(MinimumReplicasAvailable) Progressing=True(NewReplicaSetAvailable)",
      );
    });

    test("paused: scales, but does not roll out a new image", async () => {
      const lab = await started();
      await lab.create(DEPLOYMENTS, deployment());
      await lab.pass(1000);
      await lab.change(DEPLOYMENTS, "web", withSpec({ paused: true }));
      await lab.change(DEPLOYMENTS, "web", withImage("example.test/web:2"));
      await lab.change(DEPLOYMENTS, "web", withSpec({ replicas: 4 }));
      await lab.pass(1000);
      expect(sizes(lab)).toBe("1:4");
      expect(conditionsText(lab.object(DEPLOYMENTS, "web"))).toContain("Progressing=Unknown(DeploymentPaused)");
      await lab.change(DEPLOYMENTS, "web", withSpec({ paused: false }));
      await lab.pass(3000);
      expect(sizes(lab)).toBe("1:0 2:4");
      expect(conditionsText(lab.object(DEPLOYMENTS, "web"))).toContain("Progressing=True(NewReplicaSetAvailable)");
    });

    test("keeps as many old ReplicaSets as revisionHistoryLimit", async () => {
      const lab = await started();
      await lab.create(DEPLOYMENTS, deployment("web", { replicas: 1, revisionHistoryLimit: 1 }));
      for (const version of [2, 3, 4]) {
        await lab.pass(1000);
        await lab.change(DEPLOYMENTS, "web", withImage(`example.test/web:${version}`));
      }
      await lab.pass(2000);
      expect(sizes(lab)).toBe("3:0 4:1");
    });

    test("scales all ReplicaSets proportionally during a stuck rollout", async () => {
      const lab = await started();
      await lab.create(DEPLOYMENTS, deployment("web", { replicas: 10 }));
      await lab.pass(1000);
      await lab.change(DEPLOYMENTS, "web", withImage("example.test/web:missing"));
      await lab.pass(2000);
      expect(sizes(lab)).toBe("1:8 2:5");
      await lab.change(DEPLOYMENTS, "web", withSpec({ replicas: 20 }));
      await lab.pass(2000);
      expect(sizes(lab)).toBe("1:15 2:10");
    });
  });

  test("50 idle Deployments cause no writes and no timers in an hour", async () => {
    const lab = await started({ ...QUIET, nodes: 5 });
    for (let index = 0; index < 50; index += 1)
      await lab.create(DEPLOYMENTS, deployment(`app-${index}`, { replicas: 2 }));
    await lab.pass(5000);
    expect(lab.pods().filter(({ status }) => status?.phase === "Running")).toHaveLength(100);
    lab.written();
    await lab.pass(3_600_000);
    expect(lab.written()).toBe(0);
    expect(lab.time.pendingTimers).toBe(0);
    expect(lab.cluster.list(EVENTS).length).toBeGreaterThan(0);
  });
});
