import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeAuthority } from "../certificates/authority.ts";
import { componentFile } from "../components/component-file.ts";
import { onFreePorts } from "../process/free-ports.ts";
import { probe, type ProbeAnswer } from "../process/http-probe.ts";
import { startProcess, type ProcessUnderTest } from "../process/process-under-test.ts";
import { untilReady } from "../process/ready.ts";
import { auditArgs, type AuditFiles } from "./audit.ts";
import { kubeconfigText, tokenFile, type TokenUser } from "./kubeconfig.ts";

/** A running API server and the files its clients need. */
export interface ApiServer {
  readonly process: ProcessUnderTest;
  readonly url: string;
  readonly files: ClusterFiles;
  /** GET as the first user. */
  get(path: string): Promise<ProbeAnswer>;
}

/** The files of a cluster, all in its run folder. */
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
  readonly folder: string;
  readonly etcdUrl: string;
  /** The first is the administrator. */
  readonly users: readonly TokenUser[];
  readonly audit: AuditFiles | undefined;
}

/** Starts a kube-apiserver with RBAC and waits until it is ready and has the namespace `default`. */
export async function startApiServer(plan: ApiServerPlan): Promise<ApiServer> {
  const files = clusterFiles(plan.folder);
  const ca = await writeSecrets(files, plan.users);
  return onFreePorts(1, async ([port = 0]) => {
    const url = `https://127.0.0.1:${port}`;
    const server = await startProcess({
      command: componentFile("kube-apiserver"),
      args: [...apiServerArgs(plan.etcdUrl, port, files), ...auditArgs(plan.audit)],
      cwd: plan.folder,
      logFile: join(plan.folder, "kube-apiserver.log"),
    });
    const headers = { authorization: `Bearer ${plan.users[0]?.token ?? ""}` };
    const get = (path: string): Promise<ProbeAnswer> => probe(`${url}${path}`, { ca, headers });
    try {
      await untilReady(server, async () => (await get("/readyz")).status === 200);
      await untilReady(server, async () => (await get("/api/v1/namespaces/default")).status === 200);
    } catch (error) {
      await server.stop(0);
      throw error;
    }
    await writeFile(files.kubeconfig, kubeconfigText(url, ca, plan.users), { mode: 0o600 });
    return { process: server, url, files, get };
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

async function writeSecrets(files: ClusterFiles, users: readonly TokenUser[]): Promise<string> {
  const authority = makeAuthority("kubernetes-test-ca");
  const server = authority.issue({
    commonName: "kube-apiserver",
    hosts: ["127.0.0.1", "localhost", "kubernetes.default.svc"],
  });
  const account = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  await Promise.all([
    writeFile(files.caFile, authority.certificate),
    writeFile(files.serverCert, server.certificate),
    writeFile(files.serverKey, server.key, { mode: 0o600 }),
    writeFile(files.tokens, tokenFile(users), { mode: 0o600 }),
    writeFile(files.accountKey, account.privateKey.export({ type: "sec1", format: "pem" }), { mode: 0o600 }),
    writeFile(files.accountPublicKey, account.publicKey.export({ type: "spki", format: "pem" })),
  ]);
  return authority.certificate;
}

function apiServerArgs(etcdUrl: string, port: number, files: ClusterFiles): string[] {
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
    // Without a controller manager no namespace gets its default account, and every pod would be refused.
    "--disable-admission-plugins=ServiceAccount",
  ];
}
