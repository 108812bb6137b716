import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { ClassRuntimeSummarySchema, OClassSchema, OPackageSchema, PackageService } from "@oaas/contracts/grpc";
import { realAmbient } from "@oaas/foundation/real";
import { createRecordingLogger } from "@oaas/observability/testing";
import { RpcChannel, type RpcClient } from "@oaas/rpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { sendRequest, startPm, type PmUnderTest } from "./running-pm.ts";

const hash = (token: string): string => createHash("sha256").update(token).digest("hex");
const recorded = createRecordingLogger();
let crm: ScriptedCrm;
let pm: PmUnderTest;
const channels: RpcChannel[] = [];

beforeAll(async () => {
  crm = await ScriptedCrm.start({ name: "east", facts: { report: { persistentState: true } } });
  pm = await startPm({
    clusters: { east: crm.url },
    tokens: [
      `ann:deployer:${hash("ann")}`,
      `vic:viewer:${hash("vic")}`,
      `root:admin:${hash("root")}`,
      `east-crm:reporter@east:${hash("east-crm")}`,
      `west-crm:reporter@west:${hash("west-crm")}`,
    ].join("\n"),
    env: { GRPC_PORT: "0", SERVER_HOST: "127.0.0.1" },
    logger: recorded.log,
  });
});
afterAll(async () => {
  for (const channel of channels) channel.close();
  await pm.close();
  await crm.close();
});

function as(token: string | undefined, at = pm): RpcClient<typeof PackageService> {
  const channel = new RpcChannel({
    name: "pm",
    address: `127.0.0.1:${at.app.grpcPort}`,
    clock: realAmbient.clock,
    token: () => token,
  });
  channels.push(channel);
  return channel.client(PackageService);
}

const shop = create(OPackageSchema, {
  name: "shop",
  version: "1",
  metadata: { author: "ann", tags: ["web"] },
  classes: [
    {
      key: "Cart",
      functions: [{ functionKey: "add", accessModifier: "Public", name: "add", stateless: false }],
      stateSpec: { persistent: true, serializationFormat: "json" },
    },
  ],
  functions: [
    { key: "add", provisionConfig: { containerImage: "ghcr.io/oaas/add:1", maxConcurrency: 0, needHttp2: false } },
  ],
});

describe("PackageService", () => {
  test("registers, reads, lists, deploys and deletes like REST", async () => {
    const ann = as("ann");
    expect(await ann.createPackage({ package: shop })).toMatchObject({ packageId: "shop" });
    const { package: read } = await ann.getPackage({ name: "shop" });
    expect(read).toMatchObject({
      name: "shop",
      version: "1",
      classes: [{ key: "Cart", package: "shop", functions: [{ functionKey: "add" }], stateSpec: { persistent: true } }],
      functions: [{ key: "add", provisionConfig: { containerImage: "ghcr.io/oaas/add:1" } }],
    });
    expect(await ann.listPackages({ filter: "sho", limit: 10 })).toMatchObject({
      totalCount: 1,
      packages: [{ name: "shop" }],
    });
    const { deploymentId } = await ann.deployClass({ packageName: "shop", classKey: "Cart", targetEnvs: ["east"] });
    expect(deploymentId).toBe("shop-cart");
    expect(crm.units.size).toBe(1);
    await expect(ann.deletePackage({ name: "shop" })).rejects.toMatchObject({ kind: "failed-precondition" });
    await ann.deletePackage({ name: "shop", cascade: true });
    expect(crm.units.size).toBe(0);
  });

  test("rejects a derived key that another class uses", async () => {
    const ann = as("ann");
    await ann.createPackage({
      package: { ...shop, classes: [...shop.classes, create(OClassSchema, { key: "cart" })] },
    });
    await ann.deployClass({ packageName: "shop", classKey: "Cart", targetEnvs: ["east"] });
    await expect(
      ann.deployClass({ packageName: "shop", classKey: "cart", targetEnvs: ["east"] }),
    ).rejects.toMatchObject({
      kind: "already-exists",
      message: expect.stringContaining("deployment_key"),
    });
    await ann.deployClass({ packageName: "shop", classKey: "Cart", targetEnvs: ["east"] });
    await ann.deletePackage({ name: "shop", cascade: true });
  });

  test("audits rejections with caller and status, like REST", async () => {
    await expect(as("vic").deletePackage({ name: "shop" })).rejects.toMatchObject({ kind: "permission-denied" });
    await expect(as("ann").deletePackage({ name: "none" })).rejects.toMatchObject({ kind: "not-found" });
    await expect(as("eve").deletePackage({ name: "none" })).rejects.toMatchObject({ kind: "unauthenticated" });
    const lines = recorded.records.filter(
      ({ fields }) => fields["action"] === "deletePackage" && fields["status"] !== 200,
    );
    expect(lines.slice(-3).map(({ fields }) => [fields["caller"], fields["status"]])).toEqual([
      ["vic", 403],
      ["ann", 404],
      ["unknown", 401],
    ]);
  });

  test("limits the rate of a caller over REST and gRPC together", async () => {
    const busy = await startPm({
      clusters: {},
      tokens: `vic:viewer:${hash("vic")}`,
      env: { GRPC_PORT: "0", SERVER_HOST: "127.0.0.1", SERVER_RATE_LIMIT: "0.1", SERVER_RATE_BURST: "2" },
    });
    try {
      const vic = as("vic", busy);
      await vic.listPackages({});
      expect((await busy.call("GET", "/api/v1/packages", { headers: { authorization: "Bearer vic" } })).status).toBe(
        200,
      );
      await expect(vic.listPackages({})).rejects.toMatchObject({ kind: "resource-exhausted" });
    } finally {
      await busy.close();
    }
  });

  test("rejects missing roles and unknown callers", async () => {
    await expect(as(undefined).getPackage({ name: "x" })).rejects.toMatchObject({ kind: "unauthenticated" });
    await expect(as("vic").createPackage({ package: shop })).rejects.toMatchObject({ kind: "permission-denied" });
    await expect(as("vic").getPackage({ name: "nothing" })).rejects.toMatchObject({ kind: "not-found" });
  });

  test.each([
    { why: "no package", request: {}, path: "$.package" },
    { why: "a bad name", request: { package: { name: "bad name" } }, path: "$.name" },
    {
      why: "a binding to an unknown function",
      request: { package: { name: "p", classes: [{ key: "C", functions: [{ functionKey: "f", name: "f" }] }] } },
      path: "$.classes[0].function_bindings[0].function_key",
    },
    {
      why: "an invalid quantity",
      request: {
        package: {
          name: "p",
          functions: [{ key: "f", provisionConfig: { cpuRequest: "lots", maxConcurrency: 0, needHttp2: false } }],
        },
      },
      path: "$.functions[0].provision_config.cpu_request",
    },
  ])("refuses $why with the path", async ({ request, path }) => {
    await expect(as("ann").createPackage(request as never)).rejects.toMatchObject({
      detail: { kind: "invalid-argument", violations: expect.arrayContaining([expect.objectContaining({ path })]) },
    });
  });

  describe("reports of clusters", () => {
    let unitId = "";
    beforeAll(async () => {
      await as("ann").createPackage({ package: shop });
      await as("ann").deployClass({ packageName: "shop", classKey: "Cart", targetEnvs: ["east"] });
      unitId = crm.units.all()[0]?.unit.id ?? "";
    });
    afterAll(async () => {
      await as("ann").deletePackage({ name: "shop", cascade: true });
    });

    const report = (token: string, cluster: string, sequence: bigint, id = unitId) =>
      as(token).reportDeploymentStatus({
        deploymentId: id,
        status: {
          deploymentId: id,
          status: "RUNNING",
          classRuntime: create(ClassRuntimeSummarySchema, {
            id,
            deploymentUnitId: id,
            packageName: "shop",
            classKey: "shop.Cart",
            deploymentKey: "shop-cart",
            // Later than the status that the package manager watches.
            updatedAt: "2999-01-01T00:00:00Z",
          }),
        },
        origin: { cluster, epoch: "e1", sequence },
      });
    const measure = (token: string, cluster: string, id = unitId) =>
      as(token).reportRuntimeMetrics({
        deploymentId: id,
        samples: [{ component: "add", metric: "rps", value: 12, observedAt: { seconds: 10n }, windowSeconds: 60 }],
        origin: { cluster, epoch: "e1", sequence: 2n },
      });

    test("are accepted once from the reporter of the cluster", async () => {
      expect(await report("east-crm", "east", 1n)).toMatchObject({ message: "accepted" });
      expect(await report("east-crm", "east", 1n)).toMatchObject({ message: "unchanged" });
      expect(await measure("east-crm", "east")).toMatchObject({ acceptedSamples: 1 });
    });

    test("show the newest measurements in the status of the deployment", async () => {
      await measure("east-crm", "east");
      const { json } = await sendRequest(pm.url, "GET", "/api/v1/deployments/shop-cart/status", {
        headers: { authorization: "Bearer vic" },
      });
      expect(json.clusters).toMatchObject([
        {
          cluster: "east",
          reported_metrics: [
            { component: "add", metric: "rps", value: 12, observed_at: "1970-01-01T00:00:10.000Z", window_seconds: 60 },
          ],
        },
      ]);
    });

    test.each(["ann", "vic", "root", "west-crm"])("of another cluster are refused to %s", async (token) => {
      await expect(report(token, "east", 9n)).rejects.toMatchObject({ kind: "permission-denied" });
      await expect(measure(token, "east")).rejects.toMatchObject({ kind: "permission-denied" });
    });

    test("are refused for units that the package manager does not know", async () => {
      await expect(report("east-crm", "east", 3n, "stranger")).rejects.toMatchObject({ kind: "not-found" });
      await expect(measure("east-crm", "east", "stranger")).rejects.toMatchObject({ kind: "not-found" });
    });

    test("give a reporter no other right", async () => {
      await expect(as("east-crm").listPackages({})).rejects.toMatchObject({ kind: "permission-denied" });
      await expect(as("east-crm").createPackage({ package: shop })).rejects.toMatchObject({
        kind: "permission-denied",
      });
    });
  });
});
