import { join } from "node:path";
import { internal } from "@oaas/foundation";
import { componentFile } from "../components/cache/component-file.ts";
import { onFreePorts } from "../process/free-ports.ts";
import { probe } from "../process/http-probe.ts";
import type { RunningProcess } from "../process/running-process.ts";
import { eventually } from "../process/eventually.ts";
import type { ApiServer } from "./api-server.ts";
import { startInFolder } from "./cluster-folder.ts";
import type { Kubectl } from "./kubectl.ts";

/** The KWOK stages that make nodes ready and pods run, complete and terminate. */
const STAGES = [
  "node/fast/node-initialize.yaml",
  "node/heartbeat/node-heartbeat.yaml",
  "pod/fast/pod-ready.yaml",
  "pod/fast/pod-complete.yaml",
  "pod/fast/pod-delete.yaml",
];

/** The stages of pods with these image tags; all other pods start at once. The events are those of a kubelet. */
const FAILING_IMAGES = ["image-missing.yaml", "crash-loop.yaml"].map((file) =>
  join(import.meta.dirname, "..", "..", "stages", file),
);

/** Starts KWOK and waits until it serves. */
export function startKwok(api: ApiServer, folder: string, configs: readonly string[] = []): Promise<RunningProcess> {
  const stages = componentFile("kwok-stages");
  return onFreePorts(1, ([port = 0]) =>
    startInFolder(folder, {
      program: "kwok",
      args: [
        `--kubeconfig=${api.files.kubeconfig}`,
        "--manage-all-nodes=true",
        "--cidr=10.10.0.1/16",
        "--node-ip=127.0.0.1",
        `--node-port=${port}`,
        `--server-address=127.0.0.1:${port}`,
        // With leases, a second KWOK on the same cluster would wait until the leases of the first expire.
        "--node-lease-duration-seconds=0",
        ...[...STAGES.map((stage) => join(stages, stage)), ...FAILING_IMAGES, ...configs].map(
          (file) => `--config=${file}`,
        ),
      ],
      isReady: async () => (await probe(`http://127.0.0.1:${port}/healthz`)).status === 200,
    }),
  );
}

/** Adds simulated nodes, node-0 and so on, and waits until all are Ready. */
export async function addNodes(kubectl: Kubectl, count: number, { untainted }: { untainted: boolean }): Promise<void> {
  const items = Array.from({ length: count }, (_, index) => nodeManifest(`node-${index}`));
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  const applied = await kubectl(["apply", "--server-side", "-f", "-"], { stdin });
  if (applied.exitCode !== 0) throw internal(`creating the nodes failed: ${applied.stderr}`);
  await eventually(async () => (await schedulableNodes(kubectl, untainted)) >= count, {
    what: `${count} nodes to be Ready`,
    timeoutMs: 60_000,
  });
}

/** A node is Ready before the controller manager removes its `not-ready` taint; until then no pod is scheduled on it. */
async function schedulableNodes(kubectl: Kubectl, untainted: boolean): Promise<number> {
  const path = '{range .items[*]}{.status.conditions[?(@.type=="Ready")].status} {.spec.taints[*].key}{"\\n"}{end}';
  const { stdout } = await kubectl(["get", "nodes", "-o", `jsonpath=${path}`]);
  const states = stdout.split("\n").map((line) => line.split(" "));
  return states.filter(([ready, taint]) => ready === "True" && !(untainted && taint)).length;
}

function nodeManifest(name: string): object {
  const room = { cpu: "32", memory: "256Gi", pods: "110" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      annotations: { "kwok.x-k8s.io/node": "fake" },
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        type: "kwok",
      },
    },
    status: { allocatable: room, capacity: room },
  };
}
