import path from "node:path";
import { grpcStatusName } from "@oaas/contracts/grpc";
import { makeRunFolder, startKubeTarget, sweepSize, type KubernetesUnderTest, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { crdFiles } from "../../../apps/class-runtime-manager/test/support/class-cluster.ts";
import {
  startManagerProcess,
  type ManagerProcess,
} from "../../../apps/class-runtime-manager/test/support/manager-process.ts";
import { encodeFrame, rawGrpc } from "../../../apps/class-runtime-manager/test/support/raw-grpc.ts";
import { measureImpact, probeEnvironment, untilIdle, type Impact } from "../src/attacked-process.ts";
import { deployBombs } from "../src/message-bombs.ts";

const MIB = 1024 * 1024;
/** Just below the limit of a request in the sweep. */
const REQUEST_BYTES = sweepSize(0.5 * MIB, 7.9 * MIB);
const LONGEST_TURN_MS = 250;
const MEMORY_BYTES = sweepSize(200, 600) * MIB;
const DEPLOY = "/oaas.deployment.DeploymentService/Deploy";

describe("requests that are expensive to read, sent to a class runtime manager process", () => {
  let folder: RunFolder;
  let cluster: KubernetesUnderTest;
  let probeFile: string;
  let manager: ManagerProcess;
  beforeAll(async () => {
    folder = await makeRunFolder("security-grpc-bombs");
    cluster = await startKubeTarget({ crdFiles: crdFiles() }, "embedded");
    probeFile = path.join(folder.path, "turns");
    manager = await startManagerProcess(cluster.kubeconfig, folder.path, probeEnvironment(probeFile));
    await untilIdle(probeFile);
  });
  afterAll(async () => {
    await manager?.stop();
    await cluster?.close();
    await folder?.remove();
  });

  const expectBounded = ({ longestTurnMs, memoryBytes }: Impact): void => {
    expect(memoryBytes).toBeLessThan(MEMORY_BYTES);
    expect(longestTurnMs).toBeLessThan(LONGEST_TURN_MS);
  };
  const expectHealthy = async (): Promise<void> => {
    expect((await fetch(`http://127.0.0.1:${manager.port}/health`)).status).toBe(200);
  };

  test.each(deployBombs(REQUEST_BYTES))("Deploy: $name", async ({ bytes }) => {
    const raw = rawGrpc(manager.port);
    let status = "";
    const impact = await measureImpact(manager.process.pid, probeFile, async () => {
      const [{ grpc }] = await Promise.all([raw.send(DEPLOY, encodeFrame(bytes)), expectHealthy()]);
      status = grpc === undefined ? "closed" : grpcStatusName(grpc);
    });
    raw.close();
    expect(status).toBe("INVALID_ARGUMENT");
    expectBounded(impact);
  });

  test.each([
    { name: "base64 with an invalid end", body: `${"A".repeat(REQUEST_BYTES)}!` },
    { name: "many padded texts", body: "AA==".repeat(REQUEST_BYTES / 4) },
    { name: "only padding", body: "=".repeat(REQUEST_BYTES) },
    { name: "spaces", body: " ".repeat(REQUEST_BYTES) },
  ])("gRPC-Web: $name", async ({ body }) => {
    const impact = await measureImpact(manager.process.pid, probeFile, async () => {
      const headers = { "content-type": "application/grpc-web-text+proto" };
      const sent = fetch(`http://127.0.0.1:${manager.port}${DEPLOY}`, { method: "POST", headers, body });
      await expectHealthy();
      await (await sent).arrayBuffer();
    });
    expectBounded(impact);
  });
});
