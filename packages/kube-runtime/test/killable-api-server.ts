import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { realAmbient } from "@oaas/foundation/real";
import {
  componentFile,
  makeAuthority,
  makeRunFolder,
  onFreePorts,
  startEtcd,
  startProcess,
  untilReady,
  type CertificateRequest,
  type IssuedCertificate,
  type ProcessUnderTest,
} from "@oaas/testkit";
import { createUndiciTransport } from "../src/adapters/index.ts";
import type { ClusterAccess } from "../src/client/access.ts";
import { KubeClient } from "../src/client/kube-client.ts";

/**
 * A real API server that can be killed, restarted on the same port and data, frozen and thawed. It accepts client
 * certificates.
 */
export interface KillableApiServer {
  readonly port: number;
  readonly folder: string;
  /** As a member of system:masters, over a direct connection. */
  readonly access: ClusterAccess;
  readonly authority: string;
  readonly caFile: string;
  /** A certificate that authenticates as a user: its common name, in the group of its organization. */
  issue(request: CertificateRequest): IssuedCertificate;
  kill(): Promise<void>;
  start(): Promise<void>;
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

const TOKEN = "tok-admin";

/** Starts etcd and the API server and waits until it is ready. */
export async function startKillableApiServer(): Promise<KillableApiServer> {
  const folder = await makeRunFolder("killable-api-server");
  const etcd = await startEtcd();
  const authority = makeAuthority("killable-ca");
  const at = (name: string): string => join(folder.path, name);
  const server = authority.issue({ commonName: "kube-apiserver", hosts: ["127.0.0.1", "api.test"] });
  const account = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  await Promise.all([
    writeFile(at("ca.crt"), authority.certificate),
    writeFile(at("server.crt"), server.certificate),
    writeFile(at("server.key"), server.key),
    writeFile(at("tokens.csv"), `${TOKEN},admin,admin,"system:masters"\n`),
    writeFile(at("sa.key"), account.privateKey.export({ type: "sec1", format: "pem" })),
    writeFile(at("sa.pub"), account.publicKey.export({ type: "spki", format: "pem" })),
  ]);
  const launch = (port: number): Promise<ProcessUnderTest> =>
    startProcess({
      command: componentFile("kube-apiserver"),
      args: [
        `--etcd-servers=${etcd.endpoints[0] ?? ""}`,
        `--secure-port=${port}`,
        "--bind-address=127.0.0.1",
        `--tls-cert-file=${at("server.crt")}`,
        `--tls-private-key-file=${at("server.key")}`,
        `--client-ca-file=${at("ca.crt")}`,
        `--token-auth-file=${at("tokens.csv")}`,
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        `--service-account-key-file=${at("sa.pub")}`,
        `--service-account-signing-key-file=${at("sa.key")}`,
        "--service-cluster-ip-range=10.0.0.0/24",
        "--disable-admission-plugins=ServiceAccount",
      ],
      cwd: folder.path,
      logFile: at("kube-apiserver.log"),
    });
  const accessOn = (port: number): ClusterAccess => ({
    server: `https://127.0.0.1:${port}`,
    tls: { insecure: false, ca: { file: at("ca.crt") } },
    credentials: { type: "token", token: TOKEN },
    namespace: "default",
    origin: "a test",
  });
  const ready = async (process: ProcessUnderTest, access: ClusterAccess): Promise<void> => {
    const client = new KubeClient({ transport: createUndiciTransport(access, realAmbient), ambient: realAmbient });
    try {
      await untilReady(process, () => client.isReady({ deadlineMs: 2_000 }));
    } finally {
      await client.close();
    }
  };
  return onFreePorts(1, async ([port = 0]) => {
    const access = accessOn(port);
    let process = await launch(port);
    await ready(process, access).catch(async (error: unknown) => {
      await process.stop(0);
      throw error;
    });
    return {
      port,
      folder: folder.path,
      access,
      authority: authority.certificate,
      caFile: at("ca.crt"),
      issue: (request) => authority.issue(request),
      kill: async () => void (await process.stop(0)),
      start: async () => {
        process = await launch(port);
        await ready(process, access);
      },
      freeze: () => process.freeze(),
      thaw: () => process.signal("SIGCONT"),
      close: async () => {
        await process.stop(0);
        await etcd.close();
        await folder.remove();
      },
    };
  });
}
