import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { componentFile, describeWith, eventually, makeRunFolder, runCommand, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEmbedded, type EmbeddedCluster } from "../src/adapters/index.ts";

/** The simulation through kubectl, on the embedded server, in real time. */
describeWith(["kubernetes"], "simulated workloads under kubectl", () => {
  let folder: RunFolder;
  let cluster: EmbeddedCluster;
  const problems: unknown[] = [];

  beforeAll(async () => {
    folder = await makeRunFolder("simulation");
    const simulation = { nodes: 3, startDelayMs: 50 };
    cluster = await startEmbedded({ simulation, onProblem: (problem) => void problems.push(problem) });
    await writeFile(join(folder.path, "kubeconfig"), cluster.kubeconfig);
  });
  afterAll(async () => {
    await cluster.close();
    await folder.remove();
  });

  const run = (line: string, stdin = ""): ReturnType<typeof runCommand> =>
    runCommand(componentFile("kubectl"), line.split(" "), {
      stdin,
      cwd: folder.path,
      env: { KUBECONFIG: join(folder.path, "kubeconfig"), HOME: folder.path },
      timeoutMs: 120_000,
    });
  const kubectl = async (line: string, stdin?: string): Promise<string> => {
    const { exitCode, stdout, stderr } = await run(line, stdin);
    if (exitCode !== 0) throw new Error(`kubectl ${line}: ${stderr}${stdout}`);
    return stdout;
  };

  const apply = (object: object, namespace = "default"): Promise<string> =>
    kubectl(`apply -n ${namespace} -f -`, JSON.stringify(object));
  const deployment = (app: string, image: string, spec: object): object => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: app },
    spec: {
      selector: { matchLabels: { app } },
      template: { metadata: { labels: { app } }, spec: { containers: [{ name: app, image }] } },
      ...spec,
    },
  });

  test("creates, waits, shows rollout status, scales and gets", async () => {
    await apply(deployment("web", "example.test/web:1", { replicas: 3 }));
    expect(await kubectl("rollout status deployment/web --timeout=60s")).toContain(
      'deployment "web" successfully rolled out',
    );
    await kubectl("wait --for=condition=Available deployment/web --timeout=60s");
    await kubectl("scale deployment/web --replicas=5");
    await kubectl("rollout status deployment/web --timeout=60s");
    expect(await kubectl("get deployment web --no-headers")).toMatch(/^web\s+5\/5\s+5\s+5\s/);
    expect(await kubectl("get pods -l app=web --no-headers")).toMatch(/^(web-\S+\s+1\/1\s+Running\s+0\s+\S+\n){5}$/);
    expect(await kubectl("get nodes --no-headers")).toMatch(/^(node-\d\s+Ready\s+<none>\s+\S+\s+\S+\n){3}$/);
  });

  test("rolls an image out, undoes it and lists the history", async () => {
    await kubectl("set image deployment/web web=example.test/web:2");
    await kubectl("rollout status deployment/web --timeout=60s");
    expect(await kubectl("rollout history deployment/web")).toMatch(/1\s+<none>\n2\s+<none>/);
    await kubectl("rollout undo deployment/web");
    await kubectl("rollout status deployment/web --timeout=60s");
    expect(await kubectl("get deployment web -o jsonpath={.spec.template.spec.containers[0].image}")).toBe(
      "example.test/web:1",
    );
    await kubectl("rollout restart deployment/web");
    await kubectl("rollout status deployment/web --timeout=60s");
  });

  test("describe shows conditions and events", async () => {
    const text = await kubectl("describe deployment web");
    expect(text).toMatch(/Available\s+True\s+MinimumReplicasAvailable/);
    expect(text).toMatch(/Progressing\s+True\s+NewReplicaSetAvailable/);
    expect(text).toMatch(/Normal\s+ScalingReplicaSet\s+\S+( ago)?.*deployment-controller\s+Scaled up replica set web-/);
    const [pod = ""] = (await kubectl("get pods -l app=web -o name")).split("\n");
    const described = await kubectl(`describe ${pod}`);
    expect(described).toMatch(/Normal\s+Scheduled\s.*default-scheduler\s+Successfully assigned default\/web-/);
    expect(described).toMatch(/Normal\s+Started\s.*kubelet\s+spec\.containers\{web\}: Container started/);
  });

  test("reports a broken image in the status, and rollout status fails at the deadline", async () => {
    await apply(deployment("broken", "example.test/web:missing", { progressDeadlineSeconds: 2 }));
    const { exitCode, stderr } = await run("rollout status deployment/broken --timeout=60s");
    expect(exitCode).toBe(1);
    expect(stderr).toContain('deployment "broken" exceeded its progress deadline');
    await eventually(async () =>
      expect(await kubectl("get pods -l app=broken --no-headers")).toMatch(
        /0\/1\s+(ErrImagePull|ImagePullBackOff)\s+0/,
      ),
    );
    await kubectl("delete deployment broken");
  });

  test("drain respects the budget, and evicts pods once disruptions are allowed", async () => {
    const budget = {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "web" },
      spec: { minAvailable: 5, selector: { matchLabels: { app: "web" } } },
    };
    await apply(budget);
    await kubectl("wait --for=jsonpath={.status.currentHealthy}=5 pdb/web --timeout=60s");
    const refused = await run("drain node-0 --ignore-daemonsets --timeout=8s");
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("Cannot evict pod as it would violate the pod's disruption budget");
    await kubectl('patch pdb web --type=merge -p {"spec":{"minAvailable":1}}');
    await kubectl("drain node-0 --ignore-daemonsets --timeout=60s");
    await kubectl("rollout status deployment/web --timeout=60s");
    expect(await kubectl("get pods -l app=web -o jsonpath={.items[*].spec.nodeName}")).not.toContain("node-0");
    await kubectl("uncordon node-0");
    await eventually(async () => expect(await kubectl("get node node-0 -o jsonpath={.spec.taints}")).toBe(""));
  });

  test("supports stateful sets, jobs and events", async () => {
    const set = {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: "db" },
      spec: {
        serviceName: "db",
        replicas: 2,
        selector: { matchLabels: { app: "db" } },
        template: {
          metadata: { labels: { app: "db" } },
          spec: { containers: [{ name: "db", image: "example.test/db:1" }] },
        },
        volumeClaimTemplates: [
          {
            metadata: { name: "data" },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        ],
      },
    };
    await apply(set);
    await kubectl("rollout status statefulset/db --timeout=60s");
    expect(await kubectl("get pvc --no-headers")).toMatch(/data-db-0\s+Bound[^]*data-db-1\s+Bound/);
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "example.test/job:1" }] } };
    await apply({ apiVersion: "batch/v1", kind: "Job", metadata: { name: "once" }, spec: { template } });
    const done = "jsonpath={.status.conditions[?(@.type=='Complete')].status}";
    await eventually(async () => expect(await kubectl(`get job once -o ${done}`)).toBe("True"));
    await eventually(async () => expect(await kubectl("events --for job/once")).toContain("Job completed"));
  });

  test("deletes a namespace with its content", async () => {
    await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "short" } });
    await apply(deployment("web", "example.test/web:1", { replicas: 3 }), "short");
    await kubectl("rollout status deployment/web -n short --timeout=60s");
    await kubectl("delete namespace short --timeout=60s");
    expect(await kubectl("get all -n short")).toBe("");
  });

  test("deletes the Deployment last in the foreground", async () => {
    await kubectl("delete deployment web --cascade=foreground --timeout=60s");
    expect(await kubectl("get replicasets,pods -l app=web -o name")).toBe("");
    expect(
      problems.filter(
        (problem) => !String((problem as { error?: { reason?: string } }).error?.reason).match(/Conflict/),
      ),
    ).toEqual([]);
  });
});
