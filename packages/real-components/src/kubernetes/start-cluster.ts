import { randomBytes } from "node:crypto";
import type { RunningProcess } from "../process/running-process.ts";
import { startApiServer, type ApiServer } from "./api-server.ts";
import { startClusterEtcd } from "./cluster-etcd.ts";
import { prepareFolder } from "./cluster-folder.ts";
import { startControllerManager, startScheduler } from "./controllers.ts";
import type { TokenUser } from "./kubeconfig.ts";
import { applyCrds, kubectlFor, type Kubectl } from "./kubectl.ts";
import { addNodes, startKwok } from "./kwok.ts";

/** Which parts of a cluster to start beside etcd and the API server. */
export interface ClusterParts {
  readonly controllerManager?: boolean;
  readonly scheduler?: boolean;
  /** How many simulated nodes. Their pods become ready at once, but for images tagged `missing` or `crashing`. */
  readonly kwokNodes?: number;
  /** More users, known by their tokens: `kubectl --user=<name>` or the token itself. */
  readonly users?: readonly TokenUser[];
  /** Files of CustomResourceDefinitions to install and wait for. */
  readonly crdFiles?: readonly string[];
}

export interface ClusterOptions extends ClusterParts {
  /** In its kubeconfig. */
  readonly name: string;
  /** Everything of the cluster lives here, and is found again by a later start. Two at once: the caller's to prevent. */
  readonly folder: string;
  /** The API server's port. Without it: that of the last start in this folder when it is free, else any free one. */
  readonly port?: number;
  /** Whether what is acknowledged survives a crash of the machine. */
  readonly fsync: boolean;
  /** More arguments for the API server. */
  readonly apiServerArgs?: readonly string[];
  /** Told what is about to be started. */
  readonly tell?: (text: string) => void;
}

/** A running cluster. `token` belongs to system:masters. */
export interface LocalCluster {
  readonly url: string;
  readonly token: string;
  readonly caFile: string;
  /** Path of a kubeconfig of the administrator. */
  readonly kubeconfig: string;
  readonly kubectl: Kubectl;
  readonly processes: readonly RunningProcess[];
  /** Ends clients first, then the API server, then etcd; each gets `graceMs`, 0 kills. Repeatable. */
  stop(graceMs: number): Promise<void>;
}

/** What runs, in the order of dependence: etcd, then the API server, then its clients. */
type Started = RunningProcess[];

/**
 * Starts a real Kubernetes control plane on loopback, on the data that its folder has.
 *
 * Guarantees: everything asked for is ready when it returns, and nothing runs when it throws. Whatever it started ends with this
 * process, however that ends; should the warden be killed too, the next start in the folder ends it.
 */
export async function startCluster(options: ClusterOptions): Promise<LocalCluster> {
  const { folder, tell = () => undefined } = options;
  const earlier = await prepareFolder(folder);
  const started: Started = [];
  try {
    tell("etcd");
    const etcd = await startClusterEtcd(folder, options.fsync);
    started.push(etcd.process);
    tell("kube-apiserver");
    const token = earlier.token ?? randomBytes(16).toString("hex");
    const admin = { name: "admin", token, groups: ["system:masters"] };
    const api = await startApiServer({
      name: options.name,
      folder,
      etcdUrl: etcd.url,
      users: [admin, ...(options.users ?? [])],
      port: options.port,
      lastPort: earlier.port,
      args: options.apiServerArgs ?? [],
    });
    started.push(api.process);
    const kubectl = kubectlFor(api.files.kubeconfig, folder);
    await startClients({ options, api, kubectl, started, tell });
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
  readonly tell: (text: string) => void;
}

/** The clients of the API server end when it is away at their start, so they come after it; among themselves they are free. */
async function startClients({ options, api, kubectl, started, tell }: ClientsPlan): Promise<void> {
  const { folder } = options;
  tell("controllers and nodes");
  const wanted = [
    ...(options.controllerManager ? [startControllerManager(api, folder)] : []),
    ...(options.scheduler ? [startScheduler(api, folder)] : []),
    ...(options.kwokNodes ? [startKwok(api, folder)] : []),
  ];
  const [crds, ...clients] = await Promise.allSettled([applyCrds(kubectl, options.crdFiles ?? []), ...wanted]);
  for (const client of clients) if (client.status === "fulfilled") started.push(client.value);
  for (const part of [crds, ...clients]) if (part.status === "rejected") throw part.reason;
  if (options.kwokNodes) await addNodes(kubectl, options.kwokNodes);
}

async function stopAll(started: Started, graceMs: number): Promise<void> {
  const [etcd, api, ...clients] = started;
  await Promise.all(clients.map((client) => client.stop(graceMs)));
  await api?.stop(graceMs);
  await etcd?.stop(graceMs);
}
