import { describe, expect, test } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import type { Failure } from "../failures/failure.ts";
import { typed } from "../objects/cluster-view.ts";
import { DEPLOYMENTS, NODES, PODS, QUOTAS, REPLICA_SETS } from "../objects/resources.ts";
import type { Node, Pod } from "../objects/typed.ts";
import { workloadSimulation, type SimulationOptions, type WorkloadSimulation } from "../simulation.ts";
import { conditionsText, deployment, TEST_SERVERS, Lab, template, type EventObject } from "../testing/lab.ts";

describe.each(TEST_SERVERS)("on %s:", (ground) => {
  async function started(options: SimulationOptions = {}): Promise<{ lab: Lab; simulation: WorkloadSimulation }> {
    const lab = await Lab.on(ground);
    const simulation = workloadSimulation(lab.ports, { nodes: 3, containerEvents: false, ...options });
    await lab.start(simulation);
    return { lab, simulation };
  }

  const bare = (name: string, spec: object = {}, metadata: object = {}): object => ({
    metadata: { name, namespace: "default", labels: { app: "web" }, ...metadata },
    spec: { containers: [{ name: "web", image: "example.test/web:1" }], ...spec },
  });

  const about =
    (kind: string) =>
    ({ involvedObject }: EventObject): boolean =>
      involvedObject.kind === kind;

  function container(lab: Lab, name = "p"): string {
    const { status } = typed<Pod>(lab.object(PODS, name));
    const one = status?.containerStatuses?.[0];
    const state = one?.state.waiting?.reason ?? (one?.state.running ? "running" : one?.state.terminated?.reason);
    return `${status?.phase}: ${state}, ${one?.restartCount} restarts, ${one?.ready ? "ready" : "not ready"}`;
  }

  describe("an image that cannot be pulled", () => {
    test("alternates ErrImagePull and ImagePullBackOff with backoff, and recovers when the rule is removed", async () => {
      const { lab, simulation } = await started();
      const recover = simulation.fail({ image: "example.test/*", failure: { kind: "image-pull" } });
      await lab.create(PODS, bare("p"));
      const seen: string[] = [];
      for (let second = 0; second <= 110; second += 1) {
        await lab.pass(1000);
        const state = container(lab);
        if (state !== seen.at(-1)?.replace(/^\d+s /, "")) seen.push(`${second}s ${state}`);
      }
      expect(seen).toEqual([
        "0s Pending: ErrImagePull, 0 restarts, not ready",
        "10s Pending: ImagePullBackOff, 0 restarts, not ready",
        "20s Pending: ErrImagePull, 0 restarts, not ready",
        "30s Pending: ImagePullBackOff, 0 restarts, not ready",
        "50s Pending: ErrImagePull, 0 restarts, not ready",
        "60s Pending: ImagePullBackOff, 0 restarts, not ready",
        "100s Pending: ErrImagePull, 0 restarts, not ready",
        "110s Pending: ImagePullBackOff, 0 restarts, not ready",
      ]);
      expect(lab.events(about("Pod"))).toEqual([
        "Normal Scheduled: Successfully assigned default/p to node-0",
        'Normal Pulling: Pulling image "example.test/web:1" (×4)',
        'Warning Failed: Failed to pull image "example.test/web:1": rpc error: code = NotFound desc = failed to pull and unpack image "example.test/web:1": failed to resolve reference "example.test/web:1": example.test/web:1: not found (×4)',
        "Warning Failed: Error: ErrImagePull (×4)",
        'Normal BackOff: Back-off pulling image "example.test/web:1" (×4)',
        "Warning Failed: Error: ImagePullBackOff (×4)",
      ]);
      recover();
      await lab.pass(1000);
      expect(container(lab)).toBe("Running: running, 0 restarts, ready");
    });
  });

  describe("a crashing container", () => {
    test("restarts at once, then after 10 s, 20 s, 40 s …", async () => {
      const { lab, simulation } = await started();
      simulation.fail({
        selector: { matchLabels: { app: "web" } },
        failure: { kind: "crash-loop", afterMs: 1000, exitCode: 3 },
      });
      await lab.create(PODS, bare("p"));
      const starts: number[] = [];
      let restarts = -1;
      for (let tenth = 0; tenth <= 1500; tenth += 1) {
        await lab.pass(100);
        const one = typed<Pod>(lab.object(PODS, "p")).status?.containerStatuses?.[0];
        if (one?.state.running && one.restartCount !== restarts) {
          restarts = one.restartCount;
          starts.push(tenth / 10);
        }
      }
      const waits = starts.slice(1).map((start, index) => Math.round(start - (starts[index] ?? 0)));
      expect(waits).toEqual([1, 11, 21, 41]);
      const { status } = typed<Pod>(lab.object(PODS, "p"));
      const [one] = status?.containerStatuses ?? [];
      expect(one?.state.waiting?.reason).toBe("CrashLoopBackOff");
      expect(one?.state.waiting?.message).toMatch(
        /^back-off 1m20s restarting failed container=web pod=p_default\([0-9a-f-]{36}\)$/,
      );
      expect(one?.lastState.terminated).toMatchObject({ exitCode: 3, reason: "Error" });
      expect(status?.phase).toBe("Running");
      expect(conditionsText(lab.object(PODS, "p"))).toContain("Ready=False(ContainersNotReady)");
    });
  });

  const states: readonly { readonly case: string; readonly failure: Failure; readonly state: string }[] = [
    {
      case: "never becomes ready",
      failure: { kind: "never-ready" },
      state: "Running: running, 0 restarts, not ready",
    },
    {
      case: "is still starting",
      failure: { kind: "slow-start", delayMs: 60_000 },
      state: "Pending: ContainerCreating, 0 restarts, not ready",
    },
    {
      case: "is already in a crash loop",
      failure: { kind: "crash-loop", restarts: 5 },
      state: "Running: CrashLoopBackOff, 5 restarts, not ready",
    },
  ];

  test.each(states)("$failure.kind: $case", async ({ failure, state }) => {
    const { lab, simulation } = await started();
    simulation.fail({ namespace: "default", failure });
    await lab.create(PODS, bare("p"));
    await lab.pass(5000);
    expect(container(lab)).toBe(state);
  });

  test("annotations set the same failures", async () => {
    const { lab } = await started();
    await lab.create(PODS, bare("a", {}, { annotations: { "simulation.kube.local/failure": "never-ready" } }));
    await lab.create(PODS, bare("b", {}, { annotations: { "simulation.kube.local/start-delay-ms": "3000" } }));
    await lab.create(PODS, bare("c", {}, { annotations: { "simulation.kube.local/failure": "unschedulable" } }));
    await lab.pass(2000);
    expect(container(lab, "a")).toBe("Running: running, 0 restarts, not ready");
    expect(container(lab, "b")).toBe("Pending: ContainerCreating, 0 restarts, not ready");
    expect(conditionsText(lab.object(PODS, "c"))).toBe("PodScheduled=False(Unschedulable)");
    await lab.pass(2000);
    expect(container(lab, "b")).toBe("Running: running, 0 restarts, ready");
  });

  describe("a quota", () => {
    const hard = { pods: "2", "requests.cpu": "1" };

    test.runIf(ground === "server")(
      "exceeded: FailedCreate and ReplicaFailure, both cleared once it has room",
      async () => {
        const { lab } = await started();
        await lab.create(QUOTAS, { metadata: { name: "q", namespace: "default" }, spec: { hard } });
        const containers = [{ name: "web", image: "example.test/web:1", resources: { requests: { cpu: "100m" } } }];
        const asking = { metadata: { labels: { app: "web" } }, spec: { containers } };
        await lab.create(DEPLOYMENTS, deployment("web", { template: asking }));
        await lab.pass(1000);
        expect(lab.object(QUOTAS, "q")["status"]).toEqual({ hard, used: { pods: "2", "requests.cpu": "200m" } });
        const [set] = lab.cluster.list(REPLICA_SETS);
        expect(conditionsText(set ?? {})).toBe("ReplicaFailure=True(FailedCreate)");
        expect(conditionsText(lab.object(DEPLOYMENTS, "web"))).toContain("ReplicaFailure=True(FailedCreate)");
        const failed = lab.events(about("ReplicaSet")).find((text) => text.includes("FailedCreate"));
        expect(failed).toMatch(
          /^Warning FailedCreate: Error creating: pods "web-[a-z0-9]+-[a-z0-9]{5}" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2/,
        );
        await lab.change(QUOTAS, "q", (quota) => ({ ...quota, spec: { hard: { pods: "9" } } }));
        await lab.pass(3_600_000);
        expect(lab.pods()).toHaveLength(3);
        expect(conditionsText(lab.object(DEPLOYMENTS, "web"))).toBe(
          "Available=True(MinimumReplicasAvailable) Progressing=True(NewReplicaSetAvailable)",
        );
      },
    );

    test("injected by a rule", async () => {
      const { lab, simulation } = await started();
      const undo = simulation.fail({ namespace: "default", failure: { kind: "quota" } });
      await lab.create(DEPLOYMENTS, deployment());
      await lab.pass(1000);
      expect(lab.pods()).toEqual([]);
      expect(conditionsText(lab.object(DEPLOYMENTS, "web"))).toContain("ReplicaFailure=True(FailedCreate)");
      undo();
      await lab.pass(1000);
      expect(lab.pods()).toHaveLength(3);
    });
  });

  describe("a node", () => {
    const TOLERATIONS = [
      { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
    ];

    test("lost: Unknown after 50 s, pods not ready, then evicted and replaced on other nodes", async () => {
      const { lab, simulation } = await started();
      const spec = { ...(template() as { spec: object }).spec, tolerations: TOLERATIONS };
      await lab.create(DEPLOYMENTS, deployment("web", { template: { metadata: { labels: { app: "web" } }, spec } }));
      await lab.pass(1000);
      await simulation.loseNode("node-0");
      const timeline: string[] = [];
      for (let seconds = 0; seconds <= 420; seconds += 10) {
        await lab.pass(10_000);
        const node = typed<Node>(lab.object(NODES, "node-0"));
        const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
        const pods = lab
          .pods()
          .map((pod) => `${pod.spec?.nodeName}${isReady(pod) ? "" : "!"}${pod.metadata.deletionTimestamp ? "†" : ""}`);
        const line = `Ready=${ready?.status}(${ready?.reason}) ${pods.sort().join(" ")}`;
        if (line !== timeline.at(-1)?.replace(/^\d+s /, "")) timeline.push(`${seconds + 10}s ${line}`);
      }
      expect(timeline).toEqual([
        "10s Ready=True(KubeletReady) node-0 node-1 node-2",
        "50s Ready=Unknown(NodeStatusUnknown) node-0! node-1 node-2",
        "350s Ready=Unknown(NodeStatusUnknown) node-0!† node-1 node-1! node-2",
        "360s Ready=Unknown(NodeStatusUnknown) node-0!† node-1 node-1 node-2",
      ]);
      const node = typed<Node>(lab.object(NODES, "node-0"));
      expect(node.spec?.taints?.map(({ key, effect }) => `${key}:${effect}`)).toEqual([
        "node.kubernetes.io/unreachable:NoSchedule",
        "node.kubernetes.io/unreachable:NoExecute",
      ]);
      expect(lab.events(about("Pod"))).toContainEqual(
        expect.stringContaining("TaintManagerEviction: Marking for deletion Pod default/web-"),
      );

      await simulation.findNode("node-0");
      await lab.pass(2000);
      expect(typed<Node>(lab.object(NODES, "node-0")).spec?.taints).toBeUndefined();
      expect(lab.pods().filter(({ metadata }) => metadata.deletionTimestamp)).toEqual([]);
      expect(lab.object(DEPLOYMENTS, "web")["status"]).toMatchObject({ availableReplicas: 3 });
    });

    test("lost temporarily: its pods become ready again", async () => {
      const { lab, simulation } = await started({ nodes: 1 });
      await lab.create(PODS, bare("p", { tolerations: TOLERATIONS }));
      await lab.pass(1000);
      await simulation.loseNode("node-0");
      await lab.pass(60_000);
      expect(conditionsText(lab.object(PODS, "p"))).toContain("Ready=False");
      await simulation.findNode("node-0");
      await lab.pass(1000);
      expect(conditionsText(lab.object(PODS, "p"))).toContain("Ready=True");
    });

    test("deleted: its pods are deleted", async () => {
      const { lab } = await started();
      await lab.create(DEPLOYMENTS, deployment());
      await lab.pass(1000);
      await lab.cluster.delete(NODES, { name: "node-1" }, {});
      await lab.pass(60_000);
      expect(new Set(lab.pods().map(({ spec }) => spec?.nodeName))).toEqual(new Set(["node-0", "node-2"]));
      expect(lab.pods()).toHaveLength(3);
    });

    test("cordoned: tainted until uncordoned", async () => {
      const { lab } = await started();
      const cordon = (unschedulable: boolean) => (node: JsonObject) => ({
        ...node,
        spec: { ...(node["spec"] as object), unschedulable },
      });
      await lab.change(NODES, "node-0", cordon(true));
      await lab.pass(1000);
      expect(typed<Node>(lab.object(NODES, "node-0")).spec?.taints).toMatchObject([
        { key: "node.kubernetes.io/unschedulable" },
      ]);
      await lab.change(NODES, "node-0", cordon(false));
      await lab.pass(1000);
      expect(typed<Node>(lab.object(NODES, "node-0")).spec?.taints).toBeUndefined();
    });
  });

  function isReady(pod: Pod): boolean {
    return pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  }
});
