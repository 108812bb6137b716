import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { unavailable } from "@oaas/foundation";
import { componentFile } from "../components/cache/component-file.ts";
import { kubeconfigText, type TokenUser } from "../kubernetes/kubeconfig.ts";
import { runCommand } from "../process/client-command.ts";
import { eventually } from "../process/eventually.ts";
import { untilReady } from "../process/ready.ts";
import { startProcess, type RunningProcess } from "../process/running-process.ts";
import { containerdConfig, kubeletConfig, podNetwork, type NodeIdentity } from "./node-files.ts";
import { MACHINE_FILES, toolEnvironment } from "./node-network.ts";
import { canLowerOomScore, hasOverlay } from "./requirements.ts";

/** A running kubelet with its containerd. */
export interface RealNode {
  readonly name: string;
  readonly process: RunningProcess;
  /** Imports the images of an archive. */
  loadImages(archive: string): Promise<void>;
  /**
   * Ends the kubelet, containerd and all containers at once, as a power failure would, and waits until their cgroups are
   * removed.
   */
  kill(): Promise<void>;
}

export interface NodePlan {
  readonly identity: NodeIdentity;
  /** The folder of the node; what is in it is removed. */
  readonly folder: string;
  readonly networkPid: number;
  readonly api: { readonly url: string; readonly ca: string; readonly user: TokenUser };
  readonly clientCaFile: string;
  /** Image archives to import before the kubelet starts. */
  readonly images: readonly string[];
  /** Whether the API server reports the node as ready. */
  readonly isReady: () => Promise<boolean>;
}

const START_MS = 180_000;

/** Starts a node and waits until it is Ready. */
export async function startNode(plan: NodePlan): Promise<RealNode> {
  const { identity, folder, networkPid } = plan;
  // The name of the cgroup is seen by the whole machine.
  const cgroup = `oaas-node-${randomBytes(4).toString("hex")}`;
  await writeNodeFiles(plan, cgroup);
  const running = await startProcess({
    name: identity.name,
    command: "sh",
    args: [join(MACHINE_FILES, "launch-node.sh"), String(networkPid), folder, cgroup],
    env: { ...toolEnvironment(), KUBELET: componentFile("kubelet") },
    cwd: folder,
    logFile: join(folder, "node.log"),
  });
  const kill = async (): Promise<void> => {
    await running.stop(0);
    await eventually(async () => !cgroupExists(cgroup), {
      what: `the removal of the cgroup ${cgroup}`,
      timeoutMs: 60_000,
    });
  };
  try {
    await untilReady(running, plan.isReady, START_MS);
  } catch (error) {
    await kill();
    throw error;
  }
  const loadImages = async (archive: string): Promise<void> => {
    const pid = (await readFile(join(folder, "pid"), "utf8")).trim();
    const args = [`--mount=/proc/${pid}/ns/mnt`, componentFile("ctr"), "-n", "k8s.io", "images", "import", archive];
    const { exitCode, stderr } = await runCommand("nsenter", args, { timeoutMs: START_MS });
    if (exitCode !== 0)
      throw unavailable(identity.name, `importing ${archive} into ${identity.name} failed: ${stderr}`);
  };
  return { name: identity.name, process: running, loadImages, kill };
}

async function writeNodeFiles(
  { identity, folder, api, clientCaFile, images }: NodePlan,
  cgroup: string,
): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const at = (name: string): string => join(folder, name);
  for (const each of ["", "cni", "images", "volumes", "containers"]) await mkdir(at(each), { recursive: true });
  const config = containerdConfig({
    folder,
    cniPlugins: componentFile("cni-plugins"),
    snapshotter: (await hasOverlay(folder)) ? "overlayfs" : "native",
    canLowerOomScore: canLowerOomScore(),
  });
  await Promise.all([
    writeFile(at("containerd.toml"), config),
    writeFile(at("cni/pods.conflist"), JSON.stringify(podNetwork(identity))),
    writeFile(at("kubelet.json"), JSON.stringify(kubeletConfig(identity, cgroup, clientCaFile))),
    writeFile(at("kubeconfig"), kubeconfigText("cluster", api.url, api.ca, [api.user]), { mode: 0o600 }),
    writeFile(at("name"), identity.name),
    writeFile(at("address"), identity.address),
    ...images.map((image, index) => symlink(image, at(`images/${index}.tar`))),
  ]);
}

/** In any hierarchy of cgroups version 1, or in the one of version 2. */
function cgroupExists(name: string): boolean {
  const root = "/sys/fs/cgroup";
  return [root, ...readdirSync(root).map((each) => join(root, each))].some((folder) => existsSync(join(folder, name)));
}
