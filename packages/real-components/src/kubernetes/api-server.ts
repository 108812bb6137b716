import { generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { failedPrecondition } from "@oaas/foundation";
import { makeAuthority } from "../certificates/authority.ts";
import { canBind, onPortOrFree } from "../process/free-ports.ts";
import { probe, type ProbeAnswer } from "../process/http-probe.ts";
import type { RunningProcess } from "../process/running-process.ts";
import { startInFolder } from "./cluster-folder.ts";
import { kubeconfigText, tokenFile, type TokenUser } from "./kubeconfig.ts";

/** A running API server and the files for its clients. */
export interface ApiServer {
  readonly process: RunningProcess;
  readonly url: string;
  readonly ca: string;
  readonly files: ClusterFiles;
  /** Sends a GET request as the first user. */
  get(path: string): Promise<ProbeAnswer>;
}

/** The files of a cluster, all in its folder. */
interface ClusterFiles {
  readonly caFile: string;
  readonly kubeconfig: string;
  readonly serverCert: string;
  readonly serverKey: string;
  readonly tokens: string;
  readonly accountKey: string;
  readonly accountPublicKey: string;
}

export interface ApiServerPlan {
  /** Name of the cluster in its kubeconfig. */
  readonly name: string;
  readonly folder: string;
  readonly etcdUrl: string;
  /** The first is the administrator. */
  readonly users: readonly TokenUser[];
  /** The required port. */
  readonly port: number | undefined;
  /** The preferred port, used if free. */
  readonly lastPort: number | undefined;
  /** Whether pods need a service account and get its token. */
  readonly podAccounts: boolean;
  readonly args: readonly string[];
}

/** Each start creates new certificates, so this limits the run time of a cluster. */
const VALID_DAYS = 3650;

/** Starts a kube-apiserver with RBAC and waits until it is ready and has the namespace `default`. */
export async function startApiServer(plan: ApiServerPlan): Promise<ApiServer> {
  if (plan.port !== undefined && !(await canBind(plan.port))) {
    throw failedPrecondition("kube-apiserver", `127.0.0.1:${plan.port} is in use by another process`);
  }
  const files = clusterFiles(plan.folder);
  const ca = await writeSecrets(files, plan.users);
  return onPortOrFree(plan.port ?? plan.lastPort, async (port) => {
    const url = `https://127.0.0.1:${port}`;
    const headers = { authorization: `Bearer ${plan.users[0]?.token ?? ""}` };
    const get = (path: string): Promise<ProbeAnswer> => probe(`${url}${path}`, { ca, headers });
    const answers = async (path: string): Promise<boolean> => (await get(path)).status === 200;
    const server = await startInFolder(plan.folder, {
      program: "kube-apiserver",
      args: [...apiServerArgs(plan, port, files), ...plan.args],
      isReady: async () => (await answers("/readyz")) && (await answers("/api/v1/namespaces/default")),
    });
    await writeFile(files.kubeconfig, kubeconfigText(plan.name, url, ca, plan.users), { mode: 0o600 });
    return { process: server, url, ca, files, get };
  });
}

function clusterFiles(folder: string): ClusterFiles {
  const at = (name: string): string => join(folder, name);
  return {
    caFile: at("ca.crt"),
    kubeconfig: at("kubeconfig"),
    serverCert: at("server.crt"),
    serverKey: at("server.key"),
    tokens: at("tokens.csv"),
    accountKey: at("sa.key"),
    accountPublicKey: at("sa.pub"),
  };
}

/** Creates new certificates on each start, so that none expires; keys that signed stored tokens are kept. */
async function writeSecrets(files: ClusterFiles, users: readonly TokenUser[]): Promise<string> {
  const authority = makeAuthority("local-kubernetes-ca", VALID_DAYS);
  const server = authority.issue({
    commonName: "kube-apiserver",
    // The last one is the Service of the API server, by which pods call it.
    hosts: ["127.0.0.1", "localhost", "kubernetes.default.svc", "10.0.0.1"],
  });
  await Promise.all([
    writeFile(files.caFile, authority.certificate),
    writeFile(files.serverCert, server.certificate),
    writeFile(files.serverKey, server.key, { mode: 0o600 }),
    writeFile(files.tokens, tokenFile(users), { mode: 0o600 }),
  ]);
  if (existsSync(files.accountPublicKey)) return authority.certificate;
  const account = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  await writeFile(files.accountKey, account.privateKey.export({ type: "sec1", format: "pem" }), { mode: 0o600 });
  await writeFile(files.accountPublicKey, account.publicKey.export({ type: "spki", format: "pem" }));
  return authority.certificate;
}

function apiServerArgs({ etcdUrl, podAccounts }: ApiServerPlan, port: number, files: ClusterFiles): string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    `--secure-port=${port}`,
    "--bind-address=127.0.0.1",
    `--tls-cert-file=${files.serverCert}`,
    `--tls-private-key-file=${files.serverKey}`,
    `--token-auth-file=${files.tokens}`,
    "--authorization-mode=RBAC",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${files.accountPublicKey}`,
    `--service-account-signing-key-file=${files.accountKey}`,
    "--service-cluster-ip-range=10.0.0.0/24",
    "--allow-privileged",
    // Without a controller manager, namespaces have no default service account and every pod would be rejected.
    ...(podAccounts ? [] : ["--disable-admission-plugins=ServiceAccount"]),
  ];
}
