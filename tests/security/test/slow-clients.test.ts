import {
  eventually,
  makeRunFolder,
  startKubeTarget,
  sweepSize,
  type KubernetesUnderTest,
  type RunFolder,
} from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { crdFiles } from "../../../apps/class-runtime-manager/test/support/class-cluster.ts";
import { startManagerProcess } from "../../../apps/class-runtime-manager/test/support/manager-process.ts";
import { runPm } from "../../../apps/package-manager/test/pm-process.ts";
import { medianLatencies } from "../src/latency.ts";
import { SlowClients } from "../src/slow-clients.ts";

const IDLE_CONNECTIONS = sweepSize(400, 2_000);
const SLOW_CONNECTIONS = sweepSize(40, 400);
const ROUNDS = 60;
/** Others are served within this multiple of the latency of an undisturbed process. */
const MAX_SLOWDOWN = 2;

const HALF_HEAD = "GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ";
const SLOW_BODY =
  "POST /api/v1/packages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n{";
const EVENTS = "GET /api/v1/events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";

/** Attacks on any HTTP port. */
const ANY_PORT = [
  {
    name: "idle connections",
    attack: (port: number, clients: SlowClients) => clients.idle(port, IDLE_CONNECTIONS),
  },
  {
    name: "slow headers",
    attack: (port: number, clients: SlowClients) =>
      clients.drip(port, SLOW_CONNECTIONS, HALF_HEAD.padEnd(9999, "x"), 20),
  },
];

interface Server {
  readonly port: number;
  readonly health: string;
}

/** Attacks one of two equal servers and compares how both serve other clients. */
async function expectOthersServed(
  attacked: Server,
  quiet: Server,
  attack: (clients: SlowClients) => Promise<void>,
): Promise<void> {
  using clients = new SlowClients();
  await attack(clients);
  const request =
    ({ health }: Server) =>
    async (): Promise<void> => {
      const response = await fetch(health);
      await response.arrayBuffer();
      expect(response.status).toBe(200);
    };
  // A busy machine may disturb one measurement, not several.
  await eventually(
    async () => {
      const [disturbed = 0, undisturbed = 0] = await medianLatencies([request(attacked), request(quiet)], ROUNDS);
      expect(disturbed / undisturbed).toBeLessThan(MAX_SLOWDOWN);
    },
    { timeoutMs: 60_000 },
  );
}

describe("slow clients", () => {
  let folder: RunFolder;
  beforeAll(async () => {
    folder = await makeRunFolder("security-slow");
  });
  afterAll(() => folder?.remove());

  describe("of a package manager process", () => {
    const running: (Server & AsyncDisposable)[] = [];
    beforeAll(async () => {
      const env = { SERVER_REQUEST_TIMEOUT: "2s", SERVER_MAX_CONNECTIONS: "5000" };
      for (let each = 0; each < 2; each += 1) {
        const pm = await runPm({ folder: folder.path, env });
        const stop = async (): Promise<void> => void (await pm.stop());
        running.push({ port: Number(new URL(pm.url).port), health: `${pm.url}/health`, [Symbol.asyncDispose]: stop });
      }
    });
    afterAll(async () => {
      for (const pm of running) await pm[Symbol.asyncDispose]();
    });

    test.each([
      ...ANY_PORT,
      {
        name: "slow bodies",
        attack: (port: number, clients: SlowClients) =>
          clients.drip(port, SLOW_CONNECTIONS, SLOW_BODY.padEnd(9999, " "), 20),
      },
      {
        name: "readers of events that do not read",
        attack: (port: number, clients: SlowClients) => clients.readNothing(port, SLOW_CONNECTIONS, EVENTS),
      },
    ])("$name: others are served", async ({ attack }) => {
      const [attacked, quiet] = running;
      if (attacked === undefined || quiet === undefined) throw new Error("two servers are required");
      await expectOthersServed(attacked, quiet, (clients) => attack(attacked.port, clients));
    });

    test("connections that stop in the middle of a request are closed", async () => {
      using clients = new SlowClients();
      for (const text of [HALF_HEAD, SLOW_BODY]) await clients.stall(running[0]?.port ?? 0, 1, text);
      await eventually(() => clients.closedByServer === 2, { timeoutMs: 45_000 });
    });
  });

  describe("of a class runtime manager process", () => {
    let cluster: KubernetesUnderTest;
    const running: (Server & AsyncDisposable)[] = [];
    beforeAll(async () => {
      cluster = await startKubeTarget({ crdFiles: crdFiles() }, "embedded");
      for (let each = 0; each < 2; each += 1) {
        const manager = await startManagerProcess(cluster.kubeconfig, folder.path, {});
        const stop = async (): Promise<void> => void (await manager.stop());
        running.push({
          port: manager.port,
          health: `http://127.0.0.1:${manager.port}/healthz`,
          [Symbol.asyncDispose]: stop,
        });
      }
    });
    afterAll(async () => {
      for (const manager of running) await manager[Symbol.asyncDispose]();
      await cluster?.close();
    });

    test.each([
      ...ANY_PORT,
      {
        name: "half an HTTP/2 preface",
        attack: (port: number, clients: SlowClients) => clients.stall(port, SLOW_CONNECTIONS, "PRI * HT"),
      },
    ])("$name: others are served", async ({ attack }) => {
      const [attacked, quiet] = running;
      if (attacked === undefined || quiet === undefined) throw new Error("two servers are required");
      await expectOthersServed(attacked, quiet, (clients) => attack(attacked.port, clients));
    });

    test("connections that stop in the middle of a request are closed", async () => {
      using clients = new SlowClients();
      for (const text of [HALF_HEAD, "PRI * HT"]) await clients.stall(running[0]?.port ?? 0, 1, text);
      await eventually(() => clients.closedByServer === 2, { timeoutMs: 45_000 });
    });
  });
});
