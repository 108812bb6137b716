import { internal } from "@oaas/foundation";
import {
  makeRunFolder,
  startCluster,
  startFailure,
  type ClusterParts,
  type Kubectl,
  type LocalCluster,
} from "@oaas/real-components";
import { auditArgs, prepareAudit, readAudit, type AuditedRequest } from "./audit.ts";
import { createRestartableProcess, type RestartableProcess } from "./restartable-process.ts";

export interface KubernetesOptions extends ClusterParts {
  /** Enables the audit log; read it with `auditTrail`. */
  readonly audit?: boolean;
}

/** A real Kubernetes control plane on loopback. `token` is in the group system:masters. */
export interface KubernetesUnderTest extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly caFile: string;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly kubectl: Kubectl;
  /** All completed requests and started watches; only with `audit`. */
  auditTrail(): Promise<readonly AuditedRequest[]>;
  /** For outage tests. */
  readonly etcd: RestartableProcess;
  readonly apiServer: RestartableProcess;
  close(): Promise<void>;
}

/**
 * Starts a real cluster.
 *
 * Guarantees: all requested parts are ready when it returns. `close` stops clients, then the API server, then etcd, with
 * SIGKILL: the data is discarded, and a graceful shutdown of the API server takes three seconds.
 */
export async function startKubernetes(options: KubernetesOptions = {}): Promise<KubernetesUnderTest> {
  const { audit: isAudited = false, ...parts } = options;
  const folder = await makeRunFolder("kubernetes");
  try {
    const audit = isAudited ? await prepareAudit(folder.path) : undefined;
    const cluster = await startCluster({
      ...parts,
      name: "test",
      folder: folder.path,
      fsync: false,
      apiServerArgs: auditArgs(audit),
    });
    const { etcd, apiServer } = serversOf(cluster, folder.path);
    const close = async (): Promise<void> => {
      await cluster.stop(0);
      await apiServer.kill();
      await etcd.kill();
      await folder.remove();
    };
    const { url, token, caFile, kubeconfig, kubectl } = cluster;
    const auditTrail = async (): Promise<readonly AuditedRequest[]> => (audit ? readAudit(audit) : []);
    return {
      url,
      token,
      caFile,
      kubeconfig,
      kubectl,
      auditTrail,
      etcd,
      apiServer,
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    throw await startFailure("Kubernetes", folder, error);
  }
}

function serversOf(cluster: LocalCluster, folder: string): Pick<KubernetesUnderTest, "etcd" | "apiServer"> {
  const [etcd, apiServer] = cluster.processes;
  if (!etcd || !apiServer) throw internal("the cluster has no etcd or API server process");
  const isReady = async (): Promise<boolean> => (await cluster.kubectl(["get", "--raw", "/readyz"])).exitCode === 0;
  // Only the API server uses etcd, and it waits for it.
  return {
    etcd: createRestartableProcess(etcd, folder, async () => true),
    apiServer: createRestartableProcess(apiServer, folder, isReady),
  };
}
