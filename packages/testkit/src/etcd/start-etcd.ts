import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { internal } from "@oaas/foundation";
import {
  componentFile,
  etcdArgs,
  makeRunFolder,
  onFreePorts,
  runCommand,
  startFailure,
  type EtcdServerSpec,
  type RunFolder,
} from "@oaas/real-components";
import { createEtcdMember, type EtcdMember, type RunningMember } from "./etcd-member.ts";
import {
  authCommands,
  writeEtcdCertificates,
  type ClientTls,
  type EtcdCertificates,
  type EtcdCredentials,
} from "./etcd-security.ts";

/** Default: one member of etcd 3.6 without TLS, authentication and fsync. */
export interface EtcdOptions {
  readonly version?: "3.6" | "3.4";
  readonly members?: 1 | 3;
  /** TLS for clients and peers; clients must present a certificate. */
  readonly tls?: boolean;
  /** Creates the users `root` and `pm`; pm can read and write below /oaas/. */
  readonly auth?: boolean;
  /** Enable for durability tests. etcd 3.4 always syncs. */
  readonly fsync?: boolean;
  readonly quotaBytes?: number;
}

/** A real etcd on loopback. */
export interface EtcdUnderTest extends AsyncDisposable {
  readonly endpoints: string[];
  /** Certificate of the user pm. */
  readonly tls?: ClientTls;
  /** The user pm. */
  readonly auth?: EtcdCredentials;
  /** The user root, for tests that administer. */
  readonly rootAuth?: EtcdCredentials;
  readonly members: EtcdMember[];
  /** Runs etcdctl as root against all members; throws with its output on failure. */
  etcdctl(...args: string[]): Promise<string>;
  close(): Promise<void>;
}

const ROOT: EtcdCredentials = { username: "root", password: "root-secret" };
const PM: EtcdCredentials = { username: "pm", password: "pm-secret" };
const PORTS_PER_MEMBER = 3;
/** Each new client authenticates; at etcd's default cost of 10, eight at once stall a busy machine. */
const CHEAPEST_BCRYPT = 4;

/** Starts an etcd and waits until every member is healthy. */
export function startEtcd(options: EtcdOptions = {}): Promise<EtcdUnderTest> {
  return onFreePorts((options.members ?? 1) * PORTS_PER_MEMBER, async (ports) => {
    const folder = await makeRunFolder("etcd");
    const certificates = options.tls ? await writeEtcdCertificates(join(folder.path, "certs")) : undefined;
    const members = planMembers({ options, folder: folder.path, ports, certificates });
    try {
      for (const member of members) await mkdir(join(folder.path, member.name), { recursive: true });
      await Promise.all(members.map((member) => member.launch()));
      await Promise.all(members.map((member) => member.untilHealthy()));
      return await underTest({ options, folder, members, certificates });
    } catch (error) {
      await Promise.all(members.map((member) => member.kill()));
      throw await startFailure("etcd", folder, error);
    }
  });
}

interface Parts {
  readonly options: EtcdOptions;
  readonly certificates: EtcdCertificates | undefined;
}

function planMembers(parts: Parts & { readonly folder: string; readonly ports: number[] }): RunningMember[] {
  const { options, folder, ports, certificates } = parts;
  const scheme = certificates ? "https" : "http";
  const count = options.members ?? 1;
  const specs = Array.from({ length: count }, (_, index) => {
    const [client = 0, peer = 0, health = 0] = ports.slice(index * PORTS_PER_MEMBER);
    return {
      name: `m${index + 1}`,
      clientUrl: `${scheme}://127.0.0.1:${client}`,
      peerUrl: `${scheme}://127.0.0.1:${peer}`,
      healthUrl: `http://127.0.0.1:${health}`,
    };
  });
  const initialCluster = specs.map((spec) => `${spec.name}=${spec.peerUrl}`).join(",");
  const members: RunningMember[] = specs.map((spec) =>
    createEtcdMember({
      name: spec.name,
      version: options.version ?? "3.6",
      folder,
      clientUrl: spec.clientUrl,
      healthUrl: spec.healthUrl,
      args: memberArgs({ ...spec, dataDir: join(folder, spec.name), initialCluster }, parts),
      hasQuorum: () => members.filter((member) => member.isRunning).length > count / 2,
    }),
  );
  return members;
}

function memberArgs(spec: Omit<EtcdServerSpec, "fsync">, { options, certificates }: Parts): string[] {
  return [
    ...etcdArgs({ ...spec, fsync: options.fsync === true || options.version === "3.4" }),
    ...(options.quotaBytes === undefined ? [] : [`--quota-backend-bytes=${options.quotaBytes}`]),
    ...(options.auth ? [`--bcrypt-cost=${CHEAPEST_BCRYPT}`] : []),
    ...(certificates ? tlsArgs(certificates.server) : []),
  ];
}

function tlsArgs(server: ClientTls): string[] {
  return ["", "peer-"].flatMap((side) => [
    `--${side}cert-file=${server.certFile}`,
    `--${side}key-file=${server.keyFile}`,
    `--${side}client-cert-auth`,
    `--${side}trusted-ca-file=${server.caFile}`,
  ]);
}

async function underTest(
  parts: Parts & { readonly folder: RunFolder; readonly members: RunningMember[] },
): Promise<EtcdUnderTest> {
  const { options, folder, members, certificates } = parts;
  const endpoints = members.map((member) => member.clientUrl);
  const run = etcdctlRunner({ options, certificates, endpoints, folder: folder.path });
  if (options.auth) for (const command of authCommands(ROOT, PM)) await run(command, undefined);
  const close = async (): Promise<void> => {
    await Promise.all(members.map((member) => member.kill()));
    await folder.remove();
  };
  return {
    endpoints,
    members,
    ...(certificates ? { tls: certificates.pm } : {}),
    ...(options.auth ? { auth: PM, rootAuth: ROOT } : {}),
    etcdctl: (...args) => run(args, options.auth ? ROOT : undefined),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function etcdctlRunner(
  parts: Parts & { readonly endpoints: readonly string[]; readonly folder: string },
): (args: readonly string[], user: EtcdCredentials | undefined) => Promise<string> {
  const { options, certificates, endpoints, folder } = parts;
  const command = componentFile(options.version === "3.4" ? "etcdctl34" : "etcdctl");
  const tls = certificates?.root;
  return async (args, user) => {
    const flags = [
      `--endpoints=${endpoints.join(",")}`,
      ...(tls ? [`--cacert=${tls.caFile}`, `--cert=${tls.certFile}`, `--key=${tls.keyFile}`] : []),
      ...(user ? [`--user=${user.username}:${user.password}`] : []),
    ];
    const result = await runCommand(command, [...flags, ...args], { cwd: folder, env: { ETCDCTL_API: "3" } });
    if (result.exitCode !== 0) throw internal(`etcdctl ${args.join(" ")}: ${(result.stderr || result.stdout).trim()}`);
    return result.stdout;
  };
}
