import { readFile } from "node:fs/promises";
import path from "node:path";
import { DeploymentService } from "@oaas/contracts/grpc";
import { realAmbient } from "@oaas/foundation/real";
import type { KubeObject } from "@oaas/kube-core";
import { KubeClient } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import {
  eventually,
  makeRunFolder,
  startKubeTarget,
  startProcess,
  sweepSize,
  untilReady,
  type KubernetesUnderTest,
  type RunFolder,
} from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLASS_RUNTIMES } from "../../../apps/class-runtime-manager/src/controller/kinds/resource-types.ts";
import { crdFiles } from "../../../apps/class-runtime-manager/test/support/class-cluster.ts";
import {
  startManagerProcess,
  type ManagerProcess,
} from "../../../apps/class-runtime-manager/test/support/manager-process.ts";
import { encodeFrame } from "../../../apps/class-runtime-manager/test/support/raw-grpc.ts";
import { runPm } from "../../../apps/package-manager/test/pm-process.ts";
import { measureMemory } from "../src/attacked-process.ts";
import { medianLatencies } from "../src/latency.ts";
import { SlowClients } from "../src/slow-clients.ts";

const IDLE_CONNECTIONS = sweepSize(400, 2_000);
const SLOW_CONNECTIONS = sweepSize(40, 400);
/** More than one caller may hold. */
const WATCH_CALLS = 300;
/** A quarter of OPRC_CRM_LIMITS_WATCHERS. */
const WATCH_CALLS_PER_CALLER = 64;
const WATCH_CONNECTIONS = sweepSize(30, 200);
/** A gRPC stream would buffer 16 events by itself. */
const CLASS_CHANGES = sweepSize(32, 128);
const WATCHED_CHANGES = sweepSize(64, 400);
const EVENT_BYTES = 256 * 1024;
const MIB = 1024 * 1024;
/** Slow readers may cost this much memory, in comparison with a server that has none. Each of them misses 8 MiB or more. */
const MAX_GRPC_BUFFERS = 160 * MIB;
/** The kernel takes a few MiB for each connection, which the server formats and collects. */
const MAX_WATCH_BUFFERS = sweepSize(250, 600) * MIB;
const ROUNDS = 60;
/** Others are served within this multiple of the latency of an undisturbed process. */
const MAX_SLOWDOWN = 2;

const CLUSTER_MAIN = path.resolve(import.meta.dirname, "../../../packages/kube-apiserver/src/main.ts");

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
      await eventually(() => clients.closedByServer === 2, { timeoutMs: 120_000 });
    });
  });

  describe("of a class runtime manager process", () => {
    let cluster: KubernetesUnderTest;
    const running: (Server & ManagerProcess & AsyncDisposable)[] = [];
    beforeAll(async () => {
      cluster = await startKubeTarget({ crdFiles: crdFiles() }, "embedded");
      for (let each = 0; each < 2; each += 1) {
        const manager = await startManagerProcess(cluster.kubeconfig, folder.path, {});
        const stop = async (): Promise<void> => void (await manager.stop());
        running.push({
          ...manager,
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

    /** Changes the status of a class many times; the events of each change have about EVENT_BYTES. */
    async function changeClass(name: string, count: number, after: () => Promise<void>): Promise<void> {
      const access = loadAccess({ env: {}, kubeconfig: cluster.kubeconfig });
      const client = new KubeClient({ transport: createUndiciTransport(access, realAmbient), ambient: realAmbient });
      const classes = client.resource<KubeObject>(CLASS_RUNTIMES);
      const metadata = { name, namespace: "default" };
      const type = { apiVersion: "oaas.io/v1alpha1", kind: "ClassRuntime" };
      await classes.create({
        ...type,
        metadata,
        spec: { package_class_key: "shop.Order", state_spec: {} },
      } as KubeObject);
      for (let change = 1; change <= count; change += 1) {
        const conditions = Array.from({ length: 8 }, (_, index) => {
          return {
            type: `Test${index}`,
            status: "True",
            reason: `Change${change}`,
            message: "x".repeat(EVENT_BYTES / 8 - 1),
          };
        });
        const status = { status: { conditions } };
        await classes.patch({ namespace: "default", name }, "merge", status, { subresource: "status" });
        await after();
      }
      await client.close();
    }

    test("watch calls that read nothing: limited per caller, bounded in memory, and others are served", async () => {
      const [attacked, quiet] = running;
      if (attacked === undefined || quiet === undefined) throw new Error("two servers are required");
      await eventually(() => attacked.channel.client(DeploymentService).listClassRuntimes({}));
      await expectOthersServed(attacked, quiet, async (clients) => {
        const [disturbed = 0, undisturbed = 0] = await measureMemory(
          [attacked.process.pid, quiet.process.pid],
          async () => {
            const headers = {
              ":method": "POST",
              ":path": `/${DeploymentService.typeName}/WatchClassRuntimes`,
              "content-type": "application/grpc",
              te: "trailers",
            };
            await clients.readNoStreams(attacked.port, WATCH_CALLS, headers, encodeFrame(new Uint8Array(0)));
            await eventually(() => expect(clients.streamsEndedByServer).toBe(WATCH_CALLS - WATCH_CALLS_PER_CALLER), {
              timeoutMs: 20_000,
            });
            const expectHealthy = async (): Promise<void> => expect((await fetch(attacked.health)).status).toBe(200);
            await Promise.all([
              readUntil(attacked, `Change${CLASS_CHANGES}`),
              changeClass("watched", CLASS_CHANGES, expectHealthy),
            ]);
          },
        );
        expect(disturbed - undisturbed).toBeLessThan(MAX_GRPC_BUFFERS);
        expect(clients.streamsEndedByServer).toBe(WATCH_CALLS - WATCH_CALLS_PER_CALLER);
      });
    });

    /** Watches as another caller until a condition has the reason. */
    async function readUntil({ channel }: ManagerProcess, reason: string): Promise<void> {
      const watch = channel.client(DeploymentService).watchClassRuntimes({}, { deadlineMs: 60_000 });
      for await (const { classRuntime } of watch)
        if (classRuntime?.status?.conditions.some((condition) => condition.reason === reason) === true) return;
      throw new Error("the watch ended");
    }
  });

  describe("of an embedded API server process", () => {
    const running: (Server & AsyncDisposable & { readonly pid: number; readonly url: string })[] = [];
    beforeAll(async () => {
      for (let each = 0; each < 2; each += 1) {
        const logFile = path.join(folder.path, `cluster-${each}.log`);
        const server = await startProcess({
          name: "cluster",
          command: process.execPath,
          args: [CLUSTER_MAIN, "--port=0", "--memory", "--no-simulation", `--data=${folder.path}/cluster-${each}`],
          cwd: folder.path,
          logFile,
        });
        let url = "";
        await untilReady(server, async () => {
          url = /cluster at (http:\S+)/.exec(await readFile(logFile, "utf8"))?.[1] ?? "";
          return url !== "";
        });
        const stop = async (): Promise<void> => void (await server.stop());
        const port = Number(new URL(url).port);
        running.push({ pid: server.pid, url, port, health: `${url}/livez`, [Symbol.asyncDispose]: stop });
      }
    });
    afterAll(async () => {
      for (const server of running) await server[Symbol.asyncDispose]();
    });

    const COLLECTION = "/api/v1/namespaces/default/configmaps";

    /** Replaces an object; the content differs each time. */
    async function change(url: string, name: string, version: number, bytes: number): Promise<void> {
      const body = { metadata: { name }, data: { version: String(version), text: "x".repeat(bytes) } };
      const response = await fetch(`${url}${COLLECTION}/${name}?fieldManager=test&force=true`, {
        method: "PATCH",
        headers: { "content-type": "application/apply-patch+yaml" },
        body: JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", ...body }),
      });
      await response.arrayBuffer();
      expect(response.ok).toBe(true);
    }

    test.each(ANY_PORT)("$name: others are served", async ({ attack }) => {
      const [attacked, quiet] = running;
      if (attacked === undefined || quiet === undefined) throw new Error("two servers are required");
      await expectOthersServed(attacked, quiet, (clients) => attack(attacked.port, clients));
    });

    // Each watcher of a table has events of its own; watchers of objects share them.
    const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const WATCH = `${COLLECTION}?watch=1&includeObject=Object`;

    test.each([
      {
        name: "watches over HTTP/1.1 that read nothing",
        attack: (port: number, clients: SlowClients) => {
          const text = `GET ${WATCH} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: ${TABLE}\r\n\r\n`;
          return clients.readNothing(port, WATCH_CONNECTIONS, text);
        },
      },
      {
        name: "watches over HTTP/2 that read nothing",
        attack: (port: number, clients: SlowClients) =>
          clients.readNoStreams(port, WATCH_CONNECTIONS, { ":path": WATCH, accept: TABLE }),
      },
    ])("$name: others are served while objects change, and memory is bounded", async ({ name, attack }) => {
      const [attacked, quiet] = running;
      if (attacked === undefined || quiet === undefined) throw new Error("two servers are required");
      const object = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
      await expectOthersServed(attacked, quiet, async (clients) => {
        const [disturbed = 0, undisturbed = 0] = await measureMemory([attacked.pid, quiet.pid], async () => {
          await attack(attacked.port, clients);
          for (let version = 1; version <= WATCHED_CHANGES; version += 1) {
            for (const { url, health } of [attacked, quiet]) {
              await change(url, object, version, EVENT_BYTES);
              expect((await fetch(health)).status).toBe(200);
            }
          }
        });
        expect(disturbed - undisturbed).toBeLessThan(MAX_WATCH_BUFFERS);
      });
    });
  });
});
