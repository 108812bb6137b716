import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { startEtcd } from "../etcd/start-etcd.ts";
import { makeRunFolder, startFailure } from "../process/run-folder.ts";
import { startApiServer, type ApiServer } from "./api-server.ts";
import { prepareAudit, readAudit, type AuditedRequest } from "./audit.ts";
import { startControllerManager, startScheduler } from "./controllers.ts";
import type { TokenUser } from "./kubeconfig.ts";
import { applyCrds, kubectlFor, type Kubectl } from "./kubectl.ts";
import { addNodes, startKwok } from "./kwok.ts";

/** Which parts of a cluster to start beside etcd and the API server. */
export interface KubernetesOptions {
  readonly controllerManager?: boolean;
  readonly scheduler?: boolean;
  /** How many simulated nodes. Their pods become ready at once, but for images tagged `missing` or `crashing`. */
  readonly kwokNodes?: number;
  /** More users, for tests of RBAC: `kubectl --user=<name>` or the token itself. */
  readonly users?: readonly TokenUser[];
  /** Files of CustomResourceDefinitions to install and wait for. */
  readonly crdFiles?: readonly string[];
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
  close(): Promise<void>;
}

/**
 * Starts a real cluster.
 *
 * Guarantees: everything asked for is ready when it returns. `close` ends clients first, then the API server, then etcd;
 * all by SIGKILL, since the data is thrown away and an orderly end of the API server takes three seconds.
 */
export async function startKubernetes(options: KubernetesOptions = {}): Promise<KubernetesUnderTest> {
  const folder = await makeRunFolder("kubernetes");
  const cleanup = new AsyncDisposableStack();
  try {
    const etcd = cleanup.use(await startEtcd());
    const admin = { name: "admin", token: randomBytes(16).toString("hex"), groups: ["system:masters"] };
    const users = [admin, ...(options.users ?? [])];
    const audit = options.audit ? await prepareAudit(folder.path) : undefined;
    const api = await startApiServer({ folder: folder.path, etcdUrl: etcd.endpoints[0] ?? "", users, audit });
    cleanup.defer(async () => void (await api.process.stop(0)));
    const kubectl = kubectlFor(api.files.kubeconfig, folder.path);
    await startClients({ options, api, folder: folder.path, kubectl, cleanup });
    const close = async (): Promise<void> => {
      await cleanup.disposeAsync();
      await folder.remove();
    };
    const { caFile, kubeconfig } = api.files;
    const auditTrail = async (): Promise<readonly AuditedRequest[]> => (audit ? readAudit(audit) : []);
    const { url } = api;
    return { url, token: admin.token, caFile, kubeconfig, kubectl, auditTrail, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await cleanup.disposeAsync();
    throw await startFailure("Kubernetes", folder, error);
  }
}

interface ClientsPlan {
  readonly options: KubernetesOptions;
  readonly api: ApiServer;
  readonly folder: string;
  readonly kubectl: Kubectl;
  readonly cleanup: AsyncDisposableStack;
}

/** The clients of the API server end when it is away at their start, so they come after it; among themselves they are free. */
async function startClients(plan: ClientsPlan): Promise<void> {
  const { options, api, folder, kubectl, cleanup } = plan;
  const ca = await readFile(api.files.caFile, "utf8");
  const wanted = [
    ...(options.controllerManager ? [startControllerManager(api, folder)] : []),
    ...(options.scheduler ? [startScheduler(api, folder, ca)] : []),
    ...(options.kwokNodes ? [startKwok(api, folder)] : []),
  ];
  const [crds, ...started] = await Promise.allSettled([applyCrds(kubectl, options.crdFiles ?? []), ...wanted]);
  for (const part of started) {
    if (part.status === "fulfilled") cleanup.defer(async () => void (await part.value.stop(0)));
  }
  for (const part of [crds, ...started]) if (part.status === "rejected") throw part.reason;
  if (options.kwokNodes) await addNodes(kubectl, options.kwokNodes);
}
