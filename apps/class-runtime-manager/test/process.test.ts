import { writeFileSync } from "node:fs";
import { request as requestHttps } from "node:https";
import path from "node:path";
import { CrmInfoService, DeploymentCondition, DeploymentService, grpcHealth } from "@oaas/contracts/grpc";
import { isFault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { RpcChannel, type ChannelTls } from "@oaas/rpc";
import {
  describeOnTarget,
  eventually,
  makeAuthority,
  makeRunFolder,
  runCommand,
  type IssuedCertificate,
  type KubernetesUnderTest,
  type RunFolder,
} from "@oaas/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startClassCluster } from "./support/class-cluster.ts";
import { MAIN, startManagerProcess, type ManagerProcess } from "./support/manager-process.ts";

function statusWithoutCertificate(port: number, ca: string, requestPath: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    requestHttps({ host: "localhost", port, path: requestPath, ca, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

describeOnTarget("manager process", { needs: ["kubectl"] }, () => {
  let cluster: KubernetesUnderTest;
  let folder: RunFolder;
  const running: ManagerProcess[] = [];

  const kubectl = async (...args: string[]): Promise<string> => (await cluster.kubectl(args)).stdout;
  const start = async (env: Record<string, string> = {}): Promise<ManagerProcess> => {
    const defaults = { OPRC_CRM_K8S_NAMESPACE: "classes", OPRC_CRM_FEATURES_ODGM: "true" };
    const manager = await startManagerProcess(cluster.kubeconfig, folder.path, { ...defaults, ...env });
    running.push(manager);
    return manager;
  };
  const kill = async ({ channel, process: manager }: ManagerProcess): Promise<void> => {
    channel.close();
    await manager.stop(0);
  };
  const deploymentsOf = (manager: ManagerProcess) => manager.channel.client(DeploymentService);
  const conditionOf = async (manager: ManagerProcess, deploymentId: string): Promise<DeploymentCondition | undefined> =>
    (await deploymentsOf(manager).getClassRuntime({ deploymentId })).deployment?.status?.condition;
  const unit = {
    id: "shop-order-1",
    packageName: "shop",
    classKey: "Order",
    targetEnv: "here",
    functions: [
      {
        functionKey: "Order.create",
        provisionConfig: { containerImage: "example.test/fn:1", maxConcurrency: 0, needHttp2: false },
      },
    ],
  };

  beforeAll(async () => {
    cluster = await startClassCluster({
      controllerManager: true,
      scheduler: true,
      kwokNodes: 2,
    });
    folder = await makeRunFolder("crm-process");
    await kubectl("create", "namespace", "classes");
  });
  afterEach(() => Promise.all(running.splice(0).map(kill)));
  afterAll(async () => {
    await cluster.close();
    await folder.remove();
  });

  test("deploys over gRPC, reports over gRPC, HTTP and kubectl, and deletes completely", async () => {
    const crm = await start();
    const http = `http://127.0.0.1:${crm.port}`;
    await eventually(async () => (await fetch(`${http}/readyz`)).status === 200);
    await eventually(
      async () =>
        (await crm.channel.client(grpcHealth.Health).check({ service: "" })).status ===
        grpcHealth.HealthCheckResponse_ServingStatus.SERVING,
    );
    await eventually(async () => (await deploymentsOf(crm).deploy({ deploymentUnit: unit })).deploymentId === unit.id, {
      what: "leadership",
    });
    await eventually(async () => (await conditionOf(crm, unit.id)) === DeploymentCondition.RUNNING, {
      timeoutMs: 60_000,
      what: "the class to run",
    });
    expect(await kubectl("get", "crt", "-n", "classes")).toMatch(/shop-order-1\s.*available/i);
    await eventually(async () => {
      const health = await crm.channel.client(CrmInfoService).getEnvHealth({ env: "" });
      expect(health).toMatchObject({ status: "Healthy", nodeCount: 2, readyNodes: 2 });
      expect(health.availability).toBeGreaterThan(0.5);
    });
    const metrics = await (await fetch(`${http}/metrics`)).text();
    expect(metrics).toMatch(/crm_active_deployments 1/);
    expect(metrics).toMatch(/crm_reconciliation_duration_seconds_count\{kind="class-runtime"\} [1-9]/);
    expect(metrics).toMatch(/kube_client_requests_total\{.*verb="patch"/);
    const explained = await deploymentsOf(crm).explainClassRuntime({ deploymentId: unit.id });
    expect(
      JSON.stringify(explained, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
    ).toContain("Order.create");
    await deploymentsOf(crm).deleteDeployment({ deploymentId: unit.id });
    await eventually(
      async () => (await kubectl("get", "crt,deploy,svc", "-n", "classes", "-l", "oaas.io/owner", "-o", "name")) === "",
    );
    await eventually(() =>
      deploymentsOf(crm)
        .getDeploymentStatus({ deploymentId: unit.id })
        .then(
          () => false,
          (thrown: unknown) => isFault(thrown, "not-found"),
        ),
    );
    expect(await crm.stop()).toBe(0);
  });

  test("a follower serves reads, names the leader for writes, and takes over after kill -9", async () => {
    const env = { OPRC_CRM_FEATURES_LEADER_ELECTION: "true", OPRC_CRM_LEADER_ELECTION_LEASE_SECS: "3" };
    const first = await start({ ...env, OPRC_CRM_LEADER_ELECTION_IDENTITY: "first" });
    await eventually(
      async () =>
        (await deploymentsOf(first).deploy({ deploymentUnit: { ...unit, id: "two-1" } })).deploymentId === "two-1",
      { what: "the first to become leader" },
    );
    const second = await start({ ...env, OPRC_CRM_LEADER_ELECTION_IDENTITY: "second" });
    await eventually(async () => (await conditionOf(second, "two-1")) === DeploymentCondition.RUNNING, {
      timeoutMs: 60_000,
    });
    await eventually(
      async () => {
        const rejected = await deploymentsOf(second)
          .deploy({ deploymentUnit: { ...unit, id: "two-2" } })
          .catch((thrown: unknown) => thrown);
        return isFault(rejected, "unavailable") && rejected.message.includes('"first" is the leader');
      },
      { what: "the second to name the first" },
    );
    await kill(first);
    await eventually(
      async () =>
        (await deploymentsOf(second).deploy({ deploymentUnit: { ...unit, id: "two-2" } })).deploymentId === "two-2",
      { timeoutMs: 60_000, what: "the second to become leader" },
    );
    await eventually(async () => (await conditionOf(second, "two-2")) === DeploymentCondition.RUNNING, {
      timeoutMs: 60_000,
    });
    expect(await second.stop()).toBe(0);
  });

  test("requires the token for everything but health, and reloads the token file", async () => {
    const file = path.join(folder.path, "token");
    writeFileSync(file, "first\n");
    const crm = await start({ OPRC_CRM_SECURITY_TOKEN_FILE: file });
    const anonymous = new RpcChannel({ name: "crm", address: `127.0.0.1:${crm.port}`, clock: realAmbient.clock });
    const listWith = (headers: Record<string, string>): Promise<unknown> =>
      anonymous
        .client(DeploymentService)
        .listClassRuntimes({}, { headers })
        .catch((thrown: unknown) => thrown);
    const accepts = async (token: string): Promise<boolean> =>
      !isFault(await listWith({ authorization: `Bearer ${token}` }), "unauthenticated");
    expect(isFault(await listWith({}), "unauthenticated")).toBe(true);
    const metricsWith = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`http://127.0.0.1:${crm.port}/metrics`, { headers })).status;
    expect(await metricsWith({})).toBe(401);
    expect(await metricsWith({ authorization: "Bearer first" })).toBe(200);
    expect((await anonymous.client(grpcHealth.Health).check({ service: "" })).status).toBeDefined();
    const headers = { authorization: "Bearer first" };
    await eventually(async () => (await deploymentsOf(crm).listClassRuntimes({}, { headers })).items.length > 0);
    expect(await accepts("second")).toBe(false);
    writeFileSync(file, "first\nsecond\n");
    await eventually(() => accepts("second"), { timeoutMs: 60_000, what: "the second token to be accepted" });
    expect(await accepts("first"), "until it is removed").toBe(true);
    writeFileSync(file, "second\n");
    await eventually(async () => !(await accepts("first")), {
      timeoutMs: 60_000,
      what: "the first token to be rejected",
    });
    expect(await accepts("second")).toBe(true);
    anonymous.close();
    expect(await crm.stop()).toBe(0);
  });

  test("mTLS verifies both sides and reloads replaced certificates", async () => {
    const file = (name: string): string => path.join(folder.path, name);
    const clients = makeAuthority("clients");
    const pm = clients.issue({ commonName: "pm" });
    const renew = (): string => {
      const servers = makeAuthority("servers");
      const server = servers.issue({ commonName: "crm", hosts: ["localhost", "127.0.0.1"] });
      writeFileSync(file("tls.crt"), server.certificate);
      writeFileSync(file("tls.key"), server.key);
      return servers.certificate;
    };
    writeFileSync(file("clients.crt"), clients.certificate);
    const oldCa = renew();
    const crm = await start({
      OPRC_CRM_SECURITY_MTLS: "true",
      OPRC_CRM_SECURITY_TLS_CERT_FILE: file("tls.crt"),
      OPRC_CRM_SECURITY_TLS_KEY_FILE: file("tls.key"),
      OPRC_CRM_SECURITY_TLS_CLIENT_CA_FILE: file("clients.crt"),
      OPRC_CRM_SECURITY_TLS_CLIENT_NAMES: "CN:pm=deployer,URI:spiffe://oaas/dashboard=viewer",
    });
    const succeeds = async (tls: ChannelTls, request: (channel: RpcChannel) => Promise<unknown>): Promise<boolean> => {
      const channel = new RpcChannel({ name: "crm", address: `localhost:${crm.port}`, clock: realAmbient.clock, tls });
      const isSuccess = await request(channel).then(
        () => true,
        () => false,
      );
      channel.close();
      return isSuccess;
    };
    const deadline = { deadlineMs: 15_000 };
    const list = (channel: RpcChannel) => channel.client(DeploymentService).listClassRuntimes({}, deadline);
    const check = (channel: RpcChannel) => channel.client(grpcHealth.Health).check({ service: "" }, deadline);
    const identity = { certificate: pm.certificate, key: pm.key };
    await eventually(() => succeeds({ ca: oldCa, ...identity }, list), { what: "the list to be served" });
    const untrusted = makeAuthority("others").issue({ commonName: "pm" });
    expect(await succeeds({ ca: oldCa, certificate: untrusted.certificate, key: untrusted.key }, check)).toBe(false);
    expect(await succeeds({ ca: oldCa }, list)).toBe(false);
    const remove = async (channel: RpcChannel): Promise<void> => {
      const call = channel.client(DeploymentService).deleteDeployment({ deploymentId: "unknown" }, deadline);
      const fault: unknown = await call.catch((thrown: unknown) => thrown);
      if (!isFault(fault, "not-found")) throw fault;
    };
    const dashboard = clients.issue({ commonName: "dashboard", uris: ["spiffe://oaas/dashboard"] });
    const unlisted = clients.issue({ commonName: "pm-2", hosts: ["pm"] });
    const table: [IssuedCertificate, (channel: RpcChannel) => Promise<unknown>, boolean][] = [
      [pm, remove, true],
      [dashboard, list, true],
      [dashboard, remove, false],
      [unlisted, list, false],
      [unlisted, check, true],
    ];
    for (const [{ certificate, key }, request, isAllowed] of table)
      expect(await succeeds({ ca: oldCa, certificate, key }, request)).toBe(isAllowed);
    expect(await succeeds({ ca: oldCa }, check)).toBe(true);
    expect(await statusWithoutCertificate(crm.port, oldCa, "/healthz")).toBe(200);
    expect(await statusWithoutCertificate(crm.port, oldCa, "/metrics")).toBe(403);
    const newCa = renew();
    await eventually(() => succeeds({ ca: newCa, ...identity }, list), {
      timeoutMs: 60_000,
      what: "the new certificate to be used",
    });
    expect(await crm.stop()).toBe(0);
  });

  test.each([
    {
      env: {
        OPRC_CRM_GRPC_WEB_ORIGINS: "https://console.example/path",
        OPRC_CRM_PROFIL: "dev",
        HTTP_PORT: "many",
        OPRC_CRM_K8S_NAMESPACE: "a,*,B",
      },
      says: ["OPRC_CRM_GRPC_WEB_ORIGINS", "OPRC_CRM_PROFILE", "HTTP_PORT", "OPRC_CRM_K8S_NAMESPACE"],
    },
    { env: { KUBECONFIG: "/no/such/file" }, says: ["/no/such/file"] },
  ])("a failed start reports every problem: $says", async ({ env, says }) => {
    const settings = { KUBECONFIG: cluster.kubeconfig, HTTP_PORT: "0", ...env };
    const { exitCode, stderr } = await runCommand(process.execPath, [MAIN], { env: settings, timeoutMs: 60_000 });
    expect(exitCode).toBe(1);
    for (const text of says) expect(stderr).toContain(text);
    expect(stderr).not.toContain("    at ");
  });
});
