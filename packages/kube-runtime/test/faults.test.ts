import { readdirSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Fault } from "@oaas/foundation";
import {
  describeWith,
  eventually,
  startHttpProxy,
  startTcpProxy,
  sweepSize,
  type HttpFate,
  type HttpProxy,
  type TcpFault,
  type TcpProxy,
} from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KubeClient } from "../src/client/kube-client.ts";
import type { ResourceClient } from "../src/client/resource-client.ts";
import { clientOf, follow, type Followed } from "./followed-config-maps.ts";
import { startKillableApiServer, type KillableApiServer } from "./killable-api-server.ts";
import { CONFIG_MAPS, configMap, NAMESPACES, type ConfigMap } from "./real-client.ts";

const NAMESPACE = "default";
/** Time for a cache to synchronize, also on a busy machine. */
const SYNC_MS = 60_000;
const BAD_FATES: Readonly<Record<string, HttpFate>> = {
  "429 with Retry-After": { do: "answer", status: 429, body: "slow down", headers: { "retry-after": "1" } },
  "500": {
    do: "answer",
    status: 500,
    body: '{"kind":"Status","status":"Failure","code":500,"reason":"InternalError"}',
  },
  "503 in HTML": { do: "answer", status: 503, body: "<html>busy</html>" },
  "410": { do: "answer", status: 410, body: '{"kind":"Status","status":"Failure","code":410,"reason":"Expired"}' },
  "410 inside the watch": {
    do: "answer",
    status: 200,
    body: '{"type":"ERROR","object":{"kind":"Status","status":"Failure","code":410,"reason":"Expired"}}\n',
  },
  "200 with an HTML body": { do: "answer", status: 200, body: "<html>please log in</html>\n" },
  "events without objects": { do: "answer", status: 200, body: '{"type":"ADDED"}\nnull\n42\n' },
  "200 with an empty object": { do: "answer", status: 200, body: "{}\n" },
  "401": { do: "answer", status: 401, body: "who are you" },
  "404": { do: "answer", status: 404, body: "404 page not found" },
  "no answer": { do: "hang" },
  "a response that ends inside a line": { do: "truncate", bytes: 150, how: "end" },
  "a response that breaks inside a line": { do: "truncate", bytes: 150, how: "break" },
};
const TCP_FAULTS: readonly TcpFault[] = ["swallow", "reset", "delay", "halve"];

describeWith(["kubernetes"], "client and informer during faults of a real API server", () => {
  let server: KillableApiServer;
  let straight: KubeClient;
  let maps: ResourceClient<ConfigMap>;
  let change: () => Promise<void>;

  /** A namespace with some objects. The returned function creates one object there, changes one and deletes one. */
  const populate = async (namespace: string): Promise<() => Promise<void>> => {
    const names = Array.from({ length: 20 }, (_, index) => `base-${index}`);
    await Promise.all(names.map((name) => maps.create(configMap(namespace, name, { a: "0" }))));
    let changes = 0;
    return async () => {
      changes += 1;
      await maps.create(configMap(namespace, `new-${changes}`, {}));
      await maps.patch({ namespace, name: `base-${changes % 20}` }, "merge", { data: { a: String(changes) } });
      if (changes > 1) await maps.delete({ namespace, name: `new-${changes - 1}` });
    };
  };

  beforeAll(async () => {
    server = await startKillableApiServer();
    straight = clientOf(server.access);
    maps = straight.resource(CONFIG_MAPS);
    change = await populate(NAMESPACE);
  });
  afterAll(async () => {
    await straight.close();
    await server.close();
  });

  /** Waits until the watch has failed this many more times. */
  const failed = (followed: Followed, times: number, from = followed.failures()): Promise<unknown> =>
    eventually(() => followed.failures() >= from + times, { what: "the informer to notice" });

  const overHttp = (http: HttpProxy, namespace: string): Followed =>
    follow({ ...server.access, server: http.url, tls: { insecure: false } }, namespace);
  const overTcp = (tcp: TcpProxy, namespace: string): Followed =>
    follow({ ...server.access, server: `https://127.0.0.1:${tcp.port}` }, namespace);
  const startHttp = (): Promise<HttpProxy> => startHttpProxy({ url: server.access.server, caFile: server.caFile });

  describe("behind a proxy that", () => {
    let places = 0;

    /** A separate namespace per test, so that several can wait concurrently. */
    const ownPlace = async (): Promise<{ readonly namespace: string; readonly alter: () => Promise<void> }> => {
      places += 1;
      const namespace = `place-${places}`;
      await straight
        .resource(NAMESPACES)
        .create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
      return { namespace, alter: await populate(namespace) };
    };

    test.concurrent.each(TCP_FAULTS)("manipulates bytes: %s", async (fault) => {
      const { namespace, alter } = await ownPlace();
      const tcp = await startTcpProxy(server.port);
      const followed = overTcp(tcp, namespace);
      await followed.informer.synced(AbortSignal.timeout(SYNC_MS));
      tcp.set(fault);
      await alter();
      if (fault !== "delay") await failed(followed, 1, 0);
      await alter();
      tcp.set("pass");
      await followed.caughtUp(maps);
      await alter();
      await followed.caughtUp(maps);
      await followed.close();
      await tcp.close();
    });

    test.concurrent.each(Object.entries(BAD_FATES))("responds with %s", async (_name, fate) => {
      const { namespace, alter } = await ownPlace();
      const http = await startHttp();
      const followed = overHttp(http, namespace);
      await followed.informer.synced(AbortSignal.timeout(SYNC_MS));
      http.set(() => fate);
      await alter();
      // Once because the proxy ended the watch, once because of its next response.
      await failed(followed, 2, 0);
      await alter();
      http.set(() => ({ do: "pass" }));
      await followed.caughtUp(maps);
      await alter();
      await followed.caughtUp(maps);
      await followed.close();
      await http.close();
    });

    test.concurrent.each(Object.entries(BAD_FATES))("responds with %s from the start", async (_name, fate) => {
      const http = await startHttp();
      http.set(() => fate);
      const followed = overHttp(http, NAMESPACE);
      await failed(followed, 2, 0);
      expect(followed.informer.isSynced).toBe(false);
      http.set(() => ({ do: "pass" }));
      await followed.caughtUp(maps);
      await followed.close();
      await http.close();
    });

    test("repeats all faults without leaking sockets or memory", async () => {
      const rounds = sweepSize(12, 200);
      const tcp = await startTcpProxy(server.port);
      const http = await startHttp();
      const slow = overTcp(tcp, NAMESPACE);
      const quick = overHttp(http, NAMESPACE);
      const fates = Object.values(BAD_FATES);
      const readings: { readonly sockets: number; readonly heap: number }[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const failures = quick.failures();
        tcp.set(TCP_FAULTS[round % TCP_FAULTS.length] ?? "reset");
        http.set(() => fates[round % fates.length] ?? { do: "hang" });
        await change();
        await failed(quick, 2, failures);
        tcp.set("pass");
        http.set(() => ({ do: "pass" }));
        await Promise.all([slow.caughtUp(maps), quick.caughtUp(maps)]);
        readings.push({ sockets: readdirSync("/proc/self/fd").length, heap: heapAfterCollection() });
      }
      // The first rounds warm caches and pools up.
      const settled = readings.slice(Math.floor(rounds / 4));
      const half = Math.floor(settled.length / 2);
      const most = (part: typeof readings, field: "sockets" | "heap"): number =>
        Math.max(...part.map((each) => each[field]));
      const [early, late] = [settled.slice(0, half), settled.slice(half)];
      expect(most(late, "sockets")).toBeLessThanOrEqual(most(early, "sockets") + 8);
      expect(most(late, "heap") - most(early, "heap")).toBeLessThan(6 * 1024 * 1024);
      await Promise.all([slow.close(), quick.close()]);
      await Promise.all([tcp.close(), http.close()]);
    }, 900_000);
  });

  test("rebuilds the cache in the same process after the server was killed and restarted", async () => {
    const rounds = sweepSize(2, 20);
    const streamed = follow(server.access, NAMESPACE, { streamingList: true });
    const paged = follow(server.access, NAMESPACE, { streamingList: false });
    await Promise.all([streamed.caughtUp(maps), paged.caughtUp(maps)]);
    for (let round = 0; round < rounds; round += 1) {
      await change();
      const seen = [streamed, paged].map((followed) => [followed, followed.failures()] as const);
      await server.kill();
      await Promise.all(seen.map(([followed, failures]) => failed(followed, 1, failures)));
      await expect(maps.create(configMap(NAMESPACE, "while-down", {}))).rejects.toMatchObject({ kind: "unavailable" });
      await server.start();
      await change();
      await Promise.all([streamed.caughtUp(maps), paged.caughtUp(maps)]);
    }
    await Promise.all([streamed.close(), paged.close()]);
  }, 600_000);

  test("frozen server: calls end at their deadline, the watch is detected as dead, and both recover", async () => {
    const frozenMs = sweepSize(4_000, 90_000);
    const followed = follow(server.access, NAMESPACE, { silenceMs: frozenMs / 2 });
    await followed.caughtUp(maps);
    server.freeze();
    const frozenAt = performance.now();
    try {
      const fault = await maps.list({ namespace: NAMESPACE }, { deadlineMs: 1_000 }).catch((thrown: unknown) => thrown);
      expect((fault as Fault).kind).toBe("deadline-exceeded");
      await eventually(() => followed.informer.fault !== undefined, { timeoutMs: frozenMs * 2 });
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, frozenAt + frozenMs - performance.now())));
    } finally {
      server.thaw();
    }
    await change();
    await followed.caughtUp(maps, 60_000);
    await followed.close();
  }, 300_000);
});

function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}
