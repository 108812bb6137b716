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
import { mortalProcess, type MortalProcess } from "./mortal-process.ts";

/** Which parts of a cluster to start beside etcd and the API server. */
export interface KubernetesOptions extends ClusterParts {
  /** Whether the API server writes down who asked for what, and what it answered; read it with `auditTrail`. */
  readonly audit?: boolean;
}

/** A real Kubernetes control plane on loopback. `token` belongs to system:masters. */
export interface KubernetesUnderTest extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly caFile: string;
  /** Path of a kubeconfig of the administrator. */
  readonly kubeconfig: string;
  readonly kubectl: Kubectl;
  /** Every request that was answered so far, or a watch that was begun; only with `audit`. */
  auditTrail(): Promise<readonly AuditedRequest[]>;
  /** For tests of outages. */
  readonly etcd: MortalProcess;
  readonly apiServer: MortalProcess;
  close(): Promise<void>;
}

/**
 * Starts a real cluster.
 *
 * Guarantees: everything asked for is ready when it returns. `close` ends clients first, then the API server, then etcd;
 * all by SIGKILL, since the data is thrown away and an orderly end of the API server takes three seconds.
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
  if (!etcd || !apiServer) throw internal("a cluster runs etcd and an API server");
  const isReady = async (): Promise<boolean> => (await cluster.kubectl(["get", "--raw", "/readyz"])).exitCode === 0;
  // Without the API server nobody here speaks to etcd; what starts after it waits for it anyway.
  return { etcd: mortalProcess(etcd, folder, async () => true), apiServer: mortalProcess(apiServer, folder, isReady) };
}
