import { randomBytes } from "node:crypto";
import type { RunningProcess } from "../process/running-process.ts";
import { startApiServer, type ApiServer } from "./api-server.ts";
import { startClusterEtcd } from "./cluster-etcd.ts";
import { prepareFolder } from "./cluster-folder.ts";
import { startControllerManager, startScheduler } from "./controllers.ts";
import type { TokenUser } from "./kubeconfig.ts";
import { applyCrds, kubectlFor, type Kubectl } from "./kubectl.ts";
import { addNodes, startKwok } from "./kwok.ts";

/** The optional parts of a cluster. */
export interface ClusterParts {
  readonly controllerManager?: boolean;
  /** Additional arguments of the controller manager. */
  readonly controllerManagerArgs?: readonly string[];
  readonly scheduler?: boolean;
  /** Number of simulated nodes. Their pods become ready at once, except for images tagged `missing` or `crashing`. */
  readonly kwokNodes?: number;
  /** Additional files of stages and metrics for KWOK. */
  readonly kwokConfigs?: readonly string[];
  /** Additional users, selected with `kubectl --user=<name>` or by token. */
  readonly users?: readonly TokenUser[];
  /** CRD files to install. */
  readonly crdFiles?: readonly string[];
}

export interface ClusterOptions extends ClusterParts {
  /** Name in the kubeconfig. */
  readonly name: string;
  /** Folder of the cluster; a later start uses its data. The caller must prevent concurrent use. */
  readonly folder: string;
  /** Port of the API server. Default: the port of the last start in this folder if free, else a free port. */
  readonly port?: number;
  /** Whether acknowledged writes survive a machine crash. */
  readonly fsync: boolean;
  /**
   * Whether pods need a service account, which gives them access to the API server; requires the controller manager.
   * Default: no, because simulated pods call nothing.
   */
  readonly podAccounts?: boolean;
  /** Additional arguments of the API server. */
  readonly apiServerArgs?: readonly string[];
  /** Receives the name of each part before it starts. */
  readonly onProgress?: (text: string) => void;
}

/** A running cluster. `token` is in the group system:masters. */
export interface LocalCluster {
  readonly url: string;
  readonly token: string;
  readonly caFile: string;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly kubectl: Kubectl;
  readonly processes: readonly RunningProcess[];
  /** Stops clients, then the API server, then etcd; each gets `graceMs`, 0 kills. Idempotent. */
  stop(graceMs: number): Promise<void>;
}

/** The running processes in the order of dependency: etcd, API server, clients. */
type Started = RunningProcess[];

/**
 * Starts a real Kubernetes control plane on loopback with the existing data of its folder.
 *
 * Guarantees: all requested parts are ready when it returns, and nothing runs when it throws. All processes end with this
 * process; if the warden is killed too, the next start in the folder stops them.
 */
export async function startCluster(options: ClusterOptions): Promise<LocalCluster> {
  const { folder, onProgress = () => undefined } = options;
  const earlier = await prepareFolder(folder);
  const started: Started = [];
  try {
    onProgress("etcd");
    const etcd = await startClusterEtcd(folder, options.fsync);
    started.push(etcd.process);
    onProgress("kube-apiserver");
    const token = earlier.token ?? randomBytes(16).toString("hex");
    const admin = { name: "admin", token, groups: ["system:masters"] };
    const api = await startApiServer({
      name: options.name,
      folder,
      etcdUrl: etcd.url,
      users: [admin, ...(options.users ?? [])],
      port: options.port,
      lastPort: earlier.port,
      podAccounts: options.podAccounts ?? false,
      args: options.apiServerArgs ?? [],
    });
    started.push(api.process);
    const kubectl = kubectlFor(api.files.kubeconfig, folder);
    await startClients({ options, api, kubectl, started, onProgress });
    const { caFile, kubeconfig } = api.files;
    return {
      url: api.url,
      token,
      caFile,
      kubeconfig,
      kubectl,
      processes: started,
      stop: (graceMs) => stopAll(started, graceMs),
    };
  } catch (error) {
    await stopAll(started, 0);
    throw error;
  }
}

interface ClientsPlan {
  readonly options: ClusterOptions;
  readonly api: ApiServer;
  readonly kubectl: Kubectl;
  readonly started: Started;
  readonly onProgress: (text: string) => void;
}

/** Starts the clients of the API server in parallel; they exit if the API server is not available at their start. */
async function startClients({ options, api, kubectl, started, onProgress }: ClientsPlan): Promise<void> {
  const { folder } = options;
  onProgress("controllers and nodes");
  const wanted = [
    ...(options.controllerManager ? [startControllerManager(api, folder, options.controllerManagerArgs)] : []),
    ...(options.scheduler ? [startScheduler(api, folder)] : []),
    ...(options.kwokNodes ? [startKwok(api, folder, options.kwokConfigs)] : []),
  ];
  const [crds, ...clients] = await Promise.allSettled([applyCrds(kubectl, options.crdFiles ?? []), ...wanted]);
  for (const client of clients) if (client.status === "fulfilled") started.push(client.value);
  for (const part of [crds, ...clients]) if (part.status === "rejected") throw part.reason;
  if (options.kwokNodes) {
    await addNodes(kubectl, options.kwokNodes, { untainted: options.controllerManager === true });
  }
}

async function stopAll(started: Started, graceMs: number): Promise<void> {
  const [etcd, api, ...clients] = started;
  await Promise.all(clients.map((client) => client.stop(graceMs)));
  await api?.stop(graceMs);
  await etcd?.stop(graceMs);
}
