import { writeFile } from "node:fs/promises";
import path from "node:path";
import {
  CrmInfoService,
  DeploymentService,
  grpcStatusName,
  HealthService,
  PackageService,
  TopologyService,
} from "@oaas/contracts/grpc";
import {
  makeAuthority,
  makeRunFolder,
  startKubeTarget,
  type IssuedCertificate,
  type KubernetesUnderTest,
  type RunFolder,
} from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { crdFiles } from "../../../apps/class-runtime-manager/test/support/class-cluster.ts";
import { startManagerProcess } from "../../../apps/class-runtime-manager/test/support/manager-process.ts";
import { encodeFrame, rawGrpc, type RawGrpc } from "../../../apps/class-runtime-manager/test/support/raw-grpc.ts";
import { runPm } from "../../../apps/package-manager/test/pm-process.ts";
import {
  accessOfGrpcStatus,
  CREDENTIALS,
  expectedAccess,
  METRICS_ROUTES,
  rpcRequirement,
  VERBS,
  type Access,
} from "../src/access-table.ts";
import { makeCredentials, type Credentials } from "../src/credentials.ts";
import { startIssuer, type Issuer } from "../src/issuer.ts";

const MANAGER_SERVICES = [DeploymentService, CrmInfoService, TopologyService, HealthService];

/** Tokens of the class runtime manager; it has no admins. */
const TOKENS = { none: undefined, wrong: "wrong", viewer: "vvvv", deployer: "dddd" } as const;

type Service = (typeof MANAGER_SERVICES)[number] | typeof PackageService;

let folder: RunFolder;
let cluster: KubernetesUnderTest;
beforeAll(async () => {
  folder = await makeRunFolder("security-grpc-access");
  cluster = await startKubeTarget({ crdFiles: crdFiles() }, "embedded");
});
afterAll(async () => {
  await cluster?.close();
  await folder?.remove();
});

/** The access to each method of the services, with an empty request. */
async function accessOf(
  raw: RawGrpc,
  services: readonly Service[],
  headers: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, Access | "closed">>> {
  const found: Record<string, Access | "closed"> = {};
  for (const { typeName, methods } of services) {
    for (const { name } of methods) {
      const sent = { "grpc-timeout": "500m", ...headers };
      const { grpc } = await raw.send(`/${typeName}/${name}`, encodeFrame(new Uint8Array(0)), sent);
      found[name] = grpc === undefined ? "closed" : accessOfGrpcStatus(grpcStatusName(grpc));
    }
  }
  return found;
}

const expectedOf = (services: readonly Service[], credential: (typeof CREDENTIALS)[number]) =>
  Object.fromEntries(
    services
      .flatMap(({ methods }) => methods)
      .map((method) => [method.name, expectedAccess(rpcRequirement(method), credential)]),
  );

describe("access to the gRPC methods of a class runtime manager process", () => {
  test("every method answers as its role demands for every token", async () => {
    const env = { OPRC_CRM_SECURITY_TOKEN: "dashboard:viewer:vvvv,pm:deployer:dddd" };
    const manager = await startManagerProcess(cluster.kubeconfig, folder.path, env);
    const raw = rawGrpc(manager.port);
    for (const [credential, token] of Object.entries(TOKENS)) {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      expect(await accessOf(raw, MANAGER_SERVICES, headers), credential).toEqual(
        expectedOf(MANAGER_SERVICES, credential as keyof typeof TOKENS),
      );
    }
    raw.close();
    await manager.stop();
  });

  test("HTTP paths of the port: health for everyone, metrics for viewers, nothing else", async () => {
    const env = { OPRC_CRM_SECURITY_TOKEN: "dashboard:viewer:vvvv,pm:deployer:dddd" };
    const manager = await startManagerProcess(cluster.kubeconfig, folder.path, env);
    const statusOf = async (method: string, target: string, token: string | undefined): Promise<number> => {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return (await fetch(`http://127.0.0.1:${manager.port}${target}`, { method, headers })).status;
    };
    for (const [credential, token] of Object.entries(TOKENS)) {
      const isKnown = credential === "viewer" || credential === "deployer";
      expect(await statusOf("GET", "/healthz", token), credential).toBe(200);
      expect(await statusOf("GET", "/metrics", token), credential).toBe(isKnown ? 200 : 401);
      for (const target of ["/healthz", "/metrics", "/", "/debug/pprof", "/../etc/passwd"])
        for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
          expect(await statusOf(method, target, token), `${method} ${target}`).toBeGreaterThanOrEqual(400);
    }
    await manager.stop();
  });

  test("mutual TLS: only listed names of the authority, each with its role", async () => {
    const authority = makeAuthority("clients");
    const files = await writeServerCertificate(authority.certificate);
    const env = {
      OPRC_CRM_SECURITY_MTLS: "true",
      ...files.env,
      OPRC_CRM_SECURITY_TLS_CLIENT_NAMES: "CN:pm=deployer,CN:dashboard=viewer",
    };
    const manager = await startManagerProcess(cluster.kubeconfig, folder.path, env);
    const accessWith = async (client: IssuedCertificate | undefined) => {
      const identity = client === undefined ? {} : { cert: client.certificate, key: client.key };
      const raw = rawGrpc(manager.port, { ca: files.ca, ...identity });
      const { Deploy, ListClassRuntimes } = await accessOf(raw, [DeploymentService], {});
      raw.close();
      return { Deploy, ListClassRuntimes };
    };
    expect(await accessWith(authority.issue({ commonName: "pm" }))).toEqual({
      Deploy: "served",
      ListClassRuntimes: "served",
    });
    expect(await accessWith(authority.issue({ commonName: "dashboard" }))).toEqual({
      Deploy: "403",
      ListClassRuntimes: "served",
    });
    expect(await accessWith(authority.issue({ commonName: "guest" }))).toEqual({
      Deploy: "403",
      ListClassRuntimes: "403",
    });
    expect(await accessWith(undefined)).toEqual({ Deploy: "401", ListClassRuntimes: "401" });
    const stranger = makeAuthority("other tenant").issue({ commonName: "pm" });
    expect(await accessWith(stranger)).toEqual({ Deploy: "closed", ListClassRuntimes: "closed" });
    await manager.stop();
  });

  test("metrics port: scrapeable without a certificate where the main port requires one, on loopback, nothing else", async () => {
    const files = await writeServerCertificate(makeAuthority("clients").certificate);
    const env = {
      OPRC_CRM_SECURITY_MTLS: "true",
      ...files.env,
      OPRC_CRM_SECURITY_TLS_CLIENT_NAMES: "CN:pm=deployer",
      OPRC_CRM_METRICS_PORT: "0",
    };
    const manager = await startManagerProcess(cluster.kubeconfig, folder.path, env);
    const listening = (await manager.log()).find(({ message }) => message.endsWith("listening"));
    const port = Number(listening?.["metrics_port"]);
    const statusOf = async (host: string, method: string, target: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`http://${host}:${port}${target}`, { method, headers });
      return response.status;
    };
    for (const { path: target, verbs } of METRICS_ROUTES)
      for (const verb of VERBS)
        expect(await statusOf("127.0.0.1", verb, target), verb).toBe(verbs.includes(verb) ? 200 : 404);
    for (const target of ["/healthz", "/", "/metrics/", "/oprc.DeploymentService/Deploy"])
      expect(await statusOf("127.0.0.1", "GET", target), target).toBe(404);
    expect(await statusOf("127.0.0.1", "GET", "/metrics", { origin: "https://evil.example" })).toBe(403);
    await expect(statusOf("127.0.0.2", "GET", "/metrics")).rejects.toThrow();
    const raw = rawGrpc(manager.port, { ca: files.ca });
    expect(await accessOf(raw, [DeploymentService], {})).toMatchObject({ ListClassRuntimes: "401" });
    raw.close();
    await manager.stop();
  });

  async function writeServerCertificate(clientCa: string) {
    const server = makeAuthority("server");
    const { certificate, key } = server.issue({ commonName: "crm", hosts: ["127.0.0.1", "localhost"] });
    const write = async (name: string, content: string): Promise<string> => {
      const file = path.join(folder.path, name);
      await writeFile(file, content, { mode: 0o600 });
      return file;
    };
    const env = {
      OPRC_CRM_SECURITY_TLS_CERT_FILE: await write("crm.crt", certificate),
      OPRC_CRM_SECURITY_TLS_KEY_FILE: await write("crm.key", key),
      OPRC_CRM_SECURITY_TLS_CLIENT_CA_FILE: await write("clients.crt", clientCa),
    };
    return { ca: server.certificate, env };
  }
});

describe("access to the gRPC methods of a package manager process", () => {
  let issuer: Issuer;
  let credentials: Credentials;
  beforeAll(async () => {
    issuer = await startIssuer();
    credentials = await makeCredentials(folder.path, issuer);
  });
  afterAll(() => issuer?.[Symbol.asyncDispose]());

  test("every method answers as its role demands for every credential", async () => {
    const env = { ...credentials.env, SERVER_HOST: "127.0.0.1", GRPC_PORT: "0" };
    const pm = await runPm({ folder: folder.path, env });
    const listening = (await pm.log()).find(({ message }) => message === "package manager listening");
    const raw = rawGrpc(Number(listening?.["grpc_port"]));
    for (const credential of CREDENTIALS) {
      expect(await accessOf(raw, [PackageService], credentials.headers(credential)), credential).toEqual(
        expectedOf([PackageService], credential),
      );
    }
    raw.close();
    await pm.stop();
  });
});
