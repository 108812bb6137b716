import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import {
  nodeLayer,
  nodeProgramImage,
  pauseImage,
  startNodeCluster,
  writeImageArchive,
  type NodeCluster,
} from "@oaas/real-components";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeOnNodes, eventually, makeRunFolder, type RunFolder } from "../src/index.ts";

const IMAGE = "oaas.local/hello:1";
const PROGRAM = `require("http").createServer((_, response) => response.end(process.env.HOSTNAME)).listen(8080)`;
const MINUTES = 60_000;

await describeOnNodes("a cluster with real nodes", () => {
  let folder: RunFolder;
  let cluster: NodeCluster;
  const before = machineState();

  const kubectl = async (text: string, stdin = ""): Promise<string> => {
    const { stdout, stderr, exitCode } = await cluster.kubectl(text.split(" "), { stdin });
    if (exitCode !== 0) throw new Error(`kubectl ${text}: ${stderr}`);
    return stdout;
  };
  const podsOn = async (node: string): Promise<readonly string[]> => {
    const path = `{range.items[?(@.status.phase=="Running")]}{.metadata.name},{end}`;
    const names = await cluster.kubectl([
      "get",
      "pods",
      "--field-selector",
      `spec.nodeName=${node}`,
      "-o",
      `jsonpath=${path}`,
    ]);
    return names.stdout.split(",").filter((name) => name !== "");
  };
  const callService = async (): Promise<string> => {
    const host = await kubectl("get service web -o jsonpath={.spec.clusterIP}");
    const socket = await cluster.dial(host, 80);
    return new Promise((resolve, reject) => {
      const sent = request({ host, createConnection: () => socket, timeout: 5_000 }, (response) => {
        response.on("data", (part: Buffer) => resolve(part.toString()));
        response.on("error", reject);
      });
      sent.on("timeout", () => sent.destroy(new Error("no response")));
      sent.on("error", reject);
      sent.end();
    });
  };

  beforeAll(async () => {
    folder = await makeRunFolder("real-nodes");
    cluster = await startNodeCluster({
      name: "test",
      folder: folder.path,
      fsync: false,
      nodes: 2,
      images: (target) => writeImages(target),
      apiServerArgs: ["--default-not-ready-toleration-seconds=1", "--default-unreachable-toleration-seconds=1"],
      controllerManagerArgs: ["--node-monitor-grace-period=15s", "--node-monitor-period=1s"],
    });
    await kubectl("apply -f -", JSON.stringify({ apiVersion: "v1", kind: "List", items: [deployment(), service()] }));
    await kubectl("rollout status deployment/web --timeout=170s");
  });
  afterAll(async () => {
    await cluster?.stop(0);
    await folder?.remove();
  });

  test("runs pods on every node, which answer through the Service and by name", async () => {
    expect(await podsOn("real-1")).toHaveLength(1);
    expect(await podsOn("real-2")).toHaveLength(1);
    const answers = new Set<string>();
    await eventually(async () => answers.add(await callService()).size === 2, {
      what: "answers of both pods",
      timeoutMs: MINUTES,
    });
    const [pod = ""] = await podsOn("real-1");
    const script =
      "fetch('http://web.default.svc.cluster.local/').then((r) => r.text()).then((t) => console.log('got', t))";
    const { stdout } = await cluster.kubectl(["exec", pod, "--", "/usr/bin/node", "-e", script]);
    expect(stdout).toMatch(/^got web-/);
  });

  test("refuses a kubelet request without credentials", async () => {
    const [pod = ""] = await podsOn("real-1");
    const script = `process.env.NODE_TLS_REJECT_UNAUTHORIZED=0;fetch('https://10.88.0.11:10250/pods').then((r) => console.log(r.status))`;
    const { stdout } = await cluster.kubectl(["exec", pod, "--", "/usr/bin/node", "-e", script]);
    expect(stdout).toBe("401\n");
  });

  test("moves pods off a node that lost power, and gets the node back", async () => {
    await cluster.nodes.get("real-2")?.kill();
    await eventually(async () => (await podsOn("real-1")).length === 2, {
      what: "both pods on real-1",
      timeoutMs: 3 * MINUTES,
    });
    await cluster.restartNode("real-2");
    expect(await kubectl("get nodes -o jsonpath={.items[*].metadata.name}")).toBe("real-1 real-2");
    expect(await callService()).toMatch(/^web-/);
  });

  test("leaves no process, mount, interface, rule or cgroup, and no changed setting of the kernel", async () => {
    const during = machineState();
    expect({ ...during, cgroups: [] }).toEqual({ ...before, cgroups: [] });
    expect(during.cgroups.length).toBeGreaterThan(before.cgroups.length);
    await cluster.stop(0);
    expect(machineState()).toEqual(before);
  });

  test("ends with the process that started it, also by SIGKILL", async () => {
    const owner = spawn(process.execPath, [join(import.meta.dirname, "programs", "nodes-and-wait.ts")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise((resolve) => owner.stdout.once("data", resolve));
    expect(machineState().cgroups.length).toBeGreaterThan(before.cgroups.length);
    owner.kill("SIGKILL");
    await eventually(() => machineState().cgroups.length === before.cgroups.length, {
      what: "the removal of the cgroups",
      timeoutMs: 2 * MINUTES,
    });
  });
});

/** What a node must not change on the machine; only the cgroups of nodes exist while it runs. */
function machineState() {
  const read = (file: string): string => readFileSync(file, "utf8");
  const root = "/sys/fs/cgroup";
  const hierarchies = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return {
    cgroups: [...readdirSync(root), ...hierarchies.flatMap(({ name }) => readdirSync(join(root, name)))].filter(
      (name) => name.startsWith("oaas-node-"),
    ),
    mounts: read("/proc/self/mountinfo")
      .split("\n")
      .filter((line) => line.includes("oaas-nodes")).length,
    interfaces: readdirSync("/sys/class/net"),
    forwarding: read("/proc/sys/net/ipv4/ip_forward"),
    overcommit: read("/proc/sys/vm/overcommit_memory"),
    panic: read("/proc/sys/kernel/panic"),
  };
}

async function writeImages(folder: string): Promise<readonly string[]> {
  const hello = nodeProgramImage(IMAGE, await nodeLayer(), {
    files: [{ path: "app/main.cjs", content: PROGRAM }],
    main: "/app/main.cjs",
  });
  const archive = join(folder, "images.tar");
  await writeImageArchive([pauseImage(), hello], archive);
  return [archive];
}

function deployment(): object {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: {
          terminationGracePeriodSeconds: 1,
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: "kubernetes.io/hostname",
              whenUnsatisfiable: "DoNotSchedule",
              // After the loss of a node, both pods run on the other one.
              nodeTaintsPolicy: "Honor",
              labelSelector: { matchLabels: { app: "web" } },
            },
          ],
          containers: [
            {
              name: "web",
              image: IMAGE,
              imagePullPolicy: "Never",
              readinessProbe: { httpGet: { path: "/", port: 8080 }, periodSeconds: 1 },
            },
          ],
        },
      },
    },
  };
}

function service(): object {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web" },
    spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] },
  };
}
