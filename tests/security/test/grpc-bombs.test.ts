import path from "node:path";
import type { DescService } from "@bufbuild/protobuf";
import {
  CrmInfoService,
  DeploymentService,
  grpcStatusName,
  HealthService,
  PackageService,
  TopologyService,
} from "@oaas/contracts/grpc";
import { makeRunFolder, startKubeTarget, sweepSize, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { crdFiles } from "../../../apps/class-runtime-manager/test/support/class-cluster.ts";
import { startManagerProcess } from "../../../apps/class-runtime-manager/test/support/manager-process.ts";
import { rawGrpc } from "../../../apps/class-runtime-manager/test/support/raw-grpc.ts";
import { runPm } from "../../../apps/package-manager/test/pm-process.ts";
import { measureImpact, probeEnvironment, untilIdle, type Impact } from "../src/attacked-process.ts";
import { anyMethodBombs, createPackageBombs, deployBombs, type MessageBomb } from "../src/message-bombs.ts";

const MIB = 1024 * 1024;
/** Just below the limit of a request in the sweep. */
const REQUEST_BYTES = sweepSize(0.5 * MIB, 7.9 * MIB);
const LONGEST_TURN_MS = 250;
const MEMORY_BYTES = sweepSize(200, 600) * MIB;
const SERVER_ERRORS = ["INTERNAL", "UNKNOWN", "DATA_LOSS"];

interface Target extends AsyncDisposable {
  readonly pid: number;
  readonly grpcPort: number;
  readonly health: string;
  readonly probeFile: string;
}

let folder: RunFolder;
beforeAll(async () => {
  folder = await makeRunFolder("security-grpc-bombs");
});
afterAll(() => folder?.remove());

async function startManager(): Promise<Target> {
  const cluster = await startKubeTarget({ crdFiles: crdFiles() }, "embedded");
  const probeFile = path.join(folder.path, "crm-turns");
  const manager = await startManagerProcess(cluster.kubeconfig, folder.path, probeEnvironment(probeFile));
  return {
    pid: manager.process.pid,
    grpcPort: manager.port,
    health: `http://127.0.0.1:${manager.port}/health`,
    probeFile,
    [Symbol.asyncDispose]: async () => {
      await manager.stop();
      await cluster.close();
    },
  };
}

async function startPackageManager(): Promise<Target> {
  const probeFile = path.join(folder.path, "pm-turns");
  const pm = await runPm({ folder: folder.path, env: { GRPC_PORT: "0", ...probeEnvironment(probeFile) } });
  const listening = (await pm.log()).find(({ message }) => message === "package manager listening");
  return {
    pid: pm.process.pid,
    grpcPort: Number(listening?.["grpc_port"]),
    health: `${pm.url}/health`,
    probeFile,
    [Symbol.asyncDispose]: async () => void (await pm.stop()),
  };
}

describe.each([
  {
    name: "a class runtime manager process",
    start: startManager,
    services: [DeploymentService, CrmInfoService, TopologyService, HealthService] as readonly DescService[],
    method: `/${DeploymentService.typeName}/Deploy`,
    bombs: deployBombs(REQUEST_BYTES),
  },
  {
    name: "a package manager process",
    start: startPackageManager,
    services: [PackageService] as readonly DescService[],
    method: `/${PackageService.typeName}/CreatePackage`,
    bombs: createPackageBombs(REQUEST_BYTES),
  },
])("requests that are expensive to read, sent to $name", ({ start, services, method, bombs }) => {
  let target: Target;
  beforeAll(async () => {
    target = await start();
    await untilIdle(target.probeFile);
  });
  afterAll(() => target?.[Symbol.asyncDispose]());

  const expectHealthy = async (): Promise<void> => {
    expect((await fetch(target.health)).status).toBe(200);
  };
  const expectBounded = ({ longestTurnMs, memoryBytes }: Impact): void => {
    expect(memoryBytes).toBeLessThan(MEMORY_BYTES);
    expect(longestTurnMs).toBeLessThan(LONGEST_TURN_MS);
  };
  /** Sends the bomb to the methods while the process answers others; returns the statuses. */
  const attack = async (methods: readonly string[], { frame, headers }: MessageBomb): Promise<readonly string[]> => {
    const raw = rawGrpc(target.grpcPort);
    const statuses: string[] = [];
    const impact = await measureImpact(target.pid, target.probeFile, async () => {
      for (const each of methods) {
        const sent = raw.send(each, frame, { "grpc-timeout": "300m", ...headers });
        const [{ grpc }] = await Promise.all([sent, expectHealthy()]);
        statuses.push(grpc === undefined ? "closed" : grpcStatusName(grpc));
      }
    });
    raw.close();
    expectBounded(impact);
    return statuses;
  };

  test.each(bombs)("its largest method: $name", async (bomb) => {
    expect(await attack([method], bomb)).toEqual(["INVALID_ARGUMENT"]);
  });

  test.each(anyMethodBombs(REQUEST_BYTES))("every method: $name", async (bomb) => {
    const methods = services.flatMap(({ typeName, methods: all }) => all.map(({ name }) => `/${typeName}/${name}`));
    for (const status of await attack(methods, bomb)) expect(SERVER_ERRORS).not.toContain(status);
  });
});
