import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeAuthority } from "@oaas/real-components";

/** Certificate files of one client. */
export interface ClientTls {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** An etcd user. */
export interface EtcdCredentials {
  readonly username: string;
  readonly password: string;
}

/** The certificate files of a cluster. The common name of a client certificate is its etcd user. */
export interface EtcdCertificates {
  readonly server: ClientTls;
  readonly root: ClientTls;
  readonly pm: ClientTls;
}

/** Writes a CA, a server certificate for loopback and one client certificate per user. */
export async function writeEtcdCertificates(folder: string): Promise<EtcdCertificates> {
  await mkdir(folder, { recursive: true });
  const authority = makeAuthority("etcd-test-ca");
  const caFile = join(folder, "ca.crt");
  await writeFile(caFile, authority.certificate);
  const write = async (commonName: string, hosts: readonly string[]): Promise<ClientTls> => {
    const issued = authority.issue({ commonName, hosts });
    const files = { caFile, certFile: join(folder, `${commonName}.crt`), keyFile: join(folder, `${commonName}.key`) };
    await writeFile(files.certFile, issued.certificate);
    await writeFile(files.keyFile, issued.key, { mode: 0o600 });
    return files;
  };
  return {
    server: await write("etcd-server", ["127.0.0.1", "localhost"]),
    root: await write("root", []),
    pm: await write("pm", []),
  };
}

/** The commands that enable authentication: `root` has all rights, `pm` can read and write below /oaas/. */
export function authCommands(root: EtcdCredentials, pm: EtcdCredentials): string[][] {
  return [
    ["user", "add", `${root.username}:${root.password}`],
    ["role", "add", "root"],
    ["user", "grant-role", root.username, "root"],
    ["user", "add", `${pm.username}:${pm.password}`],
    ["role", "add", "pm"],
    ["role", "grant-permission", "pm", "--prefix=true", "readwrite", "/oaas/"],
    ["user", "grant-role", pm.username, "pm"],
    ["auth", "enable"],
  ];
}
