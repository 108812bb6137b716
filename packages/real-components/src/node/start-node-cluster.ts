import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import { failedPrecondition, internal } from "@oaas/foundation";
import { makeAuthority } from "../certificates/authority.ts";
import { componentFile } from "../components/cache/component-file.ts";
import type { ComponentFileName } from "../components/manifest.ts";
import { startCluster, type ClusterOptions, type LocalCluster } from "../kubernetes/start-cluster.ts";
import { kubeconfigText, type TokenUser } from "../kubernetes/kubeconfig.ts";
import { untilReady } from "../process/ready.ts";
import { makeRunFolder, startFailure, type RunFolder } from "../process/run-folder.ts";
import { startProcess, type RunningProcess } from "../process/running-process.ts";
import {
  corefile,
  DNS_READY_PORT,
  egressConfig,
  KUBE_PROXY_HEALTH_PORT,
  kubeProxyConfig,
  NETWORK_ADDRESS,
  NODE_PERMISSIONS,
  nodeIdentity,
  nodeUsers,
  type NodeIdentity,
} from "./node-files.ts";
import { getWithin, startNetwork, toolEnvironment, type NodeNetwork } from "./node-network.ts";
import { missingForNodes } from "./requirements.ts";
import { startNode, type RealNode } from "./start-node.ts";

export interface NodeClusterOptions extends Omit<
  ClusterOptions,
  "controllerManager" | "scheduler" | "kwokNodes" | "podAccounts"
> {
  /** Number of real nodes: real-1 and so on. */
  readonly nodes: number;
  /** Writes the image archives that every node gets, into the given folder; runs while the control plane starts. */
  readonly images: (folder: string) => Promise<readonly string[]>;
}

/** A cluster with real nodes. Pods run from the given images. */
export interface NodeCluster extends LocalCluster {
  readonly nodes: ReadonlyMap<string, RealNode>;
  /** Starts a node again that was killed. */
  restartNode(name: string): Promise<void>;
  /** Opens a connection from within the network of the nodes, for example to the address of a Service. */
  dial(host: string, port: number): Promise<Socket>;
}

/**
 * Starts a control plane, kube-proxy, CoreDNS and real nodes.
 *
 * Guarantees: all nodes are Ready when it returns. Nothing of it is visible in the network or the mounts of the machine,
 * and all of it ends with this process. Throws at once, with the fix, where the machine cannot run a node.
 */
export async function startNodeCluster(options: NodeClusterOptions): Promise<NodeCluster> {
  const missing = await missingForNodes();
  if (missing.length > 0) throw failedPrecondition("real nodes", missing.join("; "));
  // A short path, because the paths of sockets are limited to 107 bytes.
  const folder = await makeRunFolder("nodes");
  const start = new NodeClusterStart(options, folder);
  try {
    return await start.run();
  } catch (error) {
    await start.stop(0);
    throw await startFailure("the cluster with real nodes", folder, error);
  }
}

class NodeClusterStart {
  readonly #options: NodeClusterOptions;
  readonly #folder: RunFolder;
  readonly #identities: readonly NodeIdentity[];
  readonly #users: readonly TokenUser[];
  readonly #nodes = new Map<string, RealNode>();
  readonly #services: RunningProcess[] = [];
  #cluster: LocalCluster | undefined;
  #network: NodeNetwork | undefined;
  #images: readonly string[] = [];
  #stopping: Promise<void> | undefined;

  constructor(options: NodeClusterOptions, folder: RunFolder) {
    this.#options = options;
    this.#folder = folder;
    this.#identities = Array.from({ length: options.nodes }, (_, index) => nodeIdentity(index + 1));
    this.#users = nodeUsers(
      this.#identities.map(({ name }) => name),
      () => randomBytes(16).toString("hex"),
    );
  }

  async run(): Promise<NodeCluster> {
    const { onProgress = () => undefined } = this.#options;
    const [cluster, images] = await Promise.allSettled([
      this.#startControlPlane(),
      this.#options.images(this.#folder.path),
    ]);
    if (cluster.status === "fulfilled") this.#cluster = cluster.value;
    for (const part of [cluster, images]) if (part.status === "rejected") throw part.reason;
    if (cluster.status === "rejected" || images.status === "rejected") throw internal("unreachable");
    this.#images = images.value;
    onProgress("the network of the nodes");
    const network = await startNetwork({
      folder: this.#folder.path,
      proxySocket: this.#at("proxy.sock"),
      register: this.#register,
      apiPort: Number(new URL(cluster.value.url).port),
      addresses: this.#identities.map(({ address }) => address),
    });
    this.#network = network;
    await this.#applyPermissions(cluster.value);
    onProgress("containerd, kubelet, kube-proxy and CoreDNS");
    const parts = await Promise.allSettled([
      ...this.#identities.map((identity) => this.#startNode(identity)),
      this.#startKubeProxy(network),
      this.#startDns(network),
    ]);
    for (const part of parts) if (part.status === "rejected") throw part.reason;
    return {
      ...cluster.value,
      processes: [
        ...cluster.value.processes,
        ...network.processes,
        ...this.#services,
        ...[...this.#nodes.values()].map((node) => node.process),
      ],
      nodes: this.#nodes,
      restartNode: async (name) => {
        const identity = this.#identities.find((each) => each.name === name);
        if (identity === undefined) throw failedPrecondition(name, `the cluster has no node ${name}`);
        await this.#nodes.get(name)?.kill();
        await this.#startNode(identity);
      },
      dial: (host, port) => network.dial(host, port),
      stop: (graceMs) => this.stop(graceMs).then(() => this.#folder.remove()),
    };
  }

  /** Nodes first, then the network, then the control plane. Idempotent. */
  stop(graceMs: number): Promise<void> {
    this.#stopping ??= this.#stopAll(graceMs);
    return this.#stopping;
  }

  async #stopAll(graceMs: number): Promise<void> {
    await Promise.all([
      ...[...this.#nodes.values()].map((node) => node.kill()),
      ...this.#services.map((each) => each.stop(0)),
    ]);
    await this.#network?.close();
    await this.#cluster?.stop(graceMs);
  }

  get #register(): string {
    return join(this.#options.folder, "processes");
  }

  #at(name: string): string {
    return join(this.#folder.path, name);
  }

  /** The API server reaches the nodes through the proxy in their network and identifies itself to the kubelets. */
  async #startControlPlane(): Promise<LocalCluster> {
    const authority = makeAuthority("kubelet-clients", 3650);
    const client = authority.issue({ commonName: "kube-apiserver", organization: "system:masters" });
    await Promise.all([
      writeFile(this.#at("kubelet-clients.crt"), authority.certificate),
      writeFile(this.#at("kubelet-client.crt"), client.certificate),
      writeFile(this.#at("kubelet-client.key"), client.key, { mode: 0o600 }),
      writeFile(this.#at("egress.json"), JSON.stringify(egressConfig(this.#at("proxy.sock")))),
    ]);
    return startCluster({
      ...this.#options,
      controllerManager: true,
      scheduler: true,
      podAccounts: true,
      users: [...(this.#options.users ?? []), ...this.#users],
      apiServerArgs: [
        `--egress-selector-config-file=${this.#at("egress.json")}`,
        `--kubelet-client-certificate=${this.#at("kubelet-client.crt")}`,
        `--kubelet-client-key=${this.#at("kubelet-client.key")}`,
        "--kubelet-preferred-address-types=InternalIP",
        `--advertise-address=${NETWORK_ADDRESS}`,
        ...(this.#options.apiServerArgs ?? []),
      ],
    });
  }

  async #applyPermissions({ kubectl }: LocalCluster): Promise<void> {
    const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: NODE_PERMISSIONS });
    const { exitCode, stderr } = await kubectl(["apply", "--server-side", "-f", "-"], { stdin });
    if (exitCode !== 0) throw internal(`granting permissions to the nodes failed: ${stderr}`);
  }

  async #startNode(identity: NodeIdentity): Promise<void> {
    const [cluster, network] = [this.#cluster, this.#network];
    if (cluster === undefined || network === undefined) throw internal("a node needs the cluster and the network");
    const node = await startNode({
      identity,
      folder: this.#at(identity.name),
      networkPid: network.pid,
      register: this.#register,
      api: {
        url: cluster.url,
        ca: await readFile(cluster.caFile, "utf8"),
        user: this.#user(`system:node:${identity.name}`),
      },
      clientCaFile: this.#at("kubelet-clients.crt"),
      images: this.#images,
      isReady: () => isNodeReady(cluster, identity.name),
    });
    this.#nodes.set(identity.name, node);
  }

  async #startKubeProxy(network: NodeNetwork): Promise<void> {
    const config = kubeProxyConfig(await this.#kubeconfig("system:kube-proxy"));
    await writeFile(this.#at("kube-proxy.json"), JSON.stringify(config));
    await this.#startService(network, {
      program: "kube-proxy",
      args: [`--config=${this.#at("kube-proxy.json")}`],
      isReady: async () => (await getWithin(network, "127.0.0.1", KUBE_PROXY_HEALTH_PORT, "/healthz")) === 200,
    });
  }

  async #startDns(network: NodeNetwork): Promise<void> {
    await writeFile(this.#at("Corefile"), corefile(await this.#kubeconfig("system:coredns")));
    await this.#startService(network, {
      program: "coredns",
      args: ["-conf", this.#at("Corefile")],
      isReady: async () => (await getWithin(network, "127.0.0.1", DNS_READY_PORT, "/ready")) === 200,
    });
  }

  /** Starts a program in the network of the nodes. */
  async #startService(
    network: NodeNetwork,
    {
      program,
      args,
      isReady,
    }: { program: ComponentFileName; args: readonly string[]; isReady: () => Promise<boolean> },
  ): Promise<void> {
    const running = await startProcess({
      name: program,
      command: "nsenter",
      args: [`--net=/proc/${network.pid}/ns/net`, componentFile(program), ...args],
      env: toolEnvironment(),
      cwd: this.#folder.path,
      logFile: this.#at(`${program}.log`),
      register: this.#register,
    });
    this.#services.push(running);
    await untilReady(running, isReady);
  }

  async #kubeconfig(user: string): Promise<string> {
    const cluster = this.#cluster;
    if (cluster === undefined) throw internal("a kubeconfig needs the cluster");
    const file = this.#at(`${user.replaceAll(":", "-")}.kubeconfig`);
    const ca = await readFile(cluster.caFile, "utf8");
    await writeFile(file, kubeconfigText("cluster", cluster.url, ca, [this.#user(user)]), { mode: 0o600 });
    return file;
  }

  #user(name: string): TokenUser {
    const user = this.#users.find((each) => each.name === name);
    if (user === undefined) throw internal(`there is no user ${name}`);
    return user;
  }
}

/** Ready, and without the taint that the controller manager removes a moment later. */
async function isNodeReady({ kubectl }: LocalCluster, name: string): Promise<boolean> {
  const path = '{.status.conditions[?(@.type=="Ready")].status} {.spec.taints[*].key}';
  const { stdout } = await kubectl(["get", "node", name, "--ignore-not-found", "-o", `jsonpath=${path}`]);
  const [ready, taint] = stdout.trim().split(" ");
  return ready === "True" && (taint ?? "") === "";
}
