import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createConnection, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { outcomeUnknown, type KeyValueStore, type WatchBatch } from "@oaas/storage";
import { openEtcdStore, type EtcdStoreOptions } from "@oaas/storage/etcd";
import { describeWith, eventually, startEtcd, type EtcdMember, type EtcdUnderTest } from "@oaas/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { storeOptions } from "./etcd-under-suite.ts";

const open: KeyValueStore[] = [];
afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
});

function connect(etcd: EtcdUnderTest, options: Partial<EtcdStoreOptions> = {}): KeyValueStore {
  const store = openEtcdStore({ ...storeOptions(etcd), timeoutMs: 3000, attemptTimeoutMs: 1000, ...options });
  open.push(store);
  return store;
}

const put = (store: KeyValueStore, key: string, value = "v"): Promise<{ revision: number }> =>
  store.commit({ writes: [{ op: "put", key, value }] });

/** Collects the events of a watch until the test ends. */
function follow(store: KeyValueStore, fromRevision: number): string[] {
  const received: string[] = [];
  const watching = async (): Promise<void> => {
    for await (const batch of store.watch({ prefix: "w/", fromRevision })) {
      for (const event of batch.events) if (event.type === "put") received.push(event.entry.value);
    }
  };
  void watching().catch((thrown: unknown) => received.push((thrown as Error).message));
  return received;
}

describeWith(["etcd"], "a failing etcd", () => {
  let etcd: EtcdUnderTest;
  let member: EtcdMember;
  beforeAll(async () => {
    etcd = await startEtcd({ fsync: true });
    member = etcd.members[0] as EtcdMember;
  });
  afterAll(() => etcd?.close());

  test("stopped: calls fail as unavailable in time; restarted: calls work, watches continue without a gap", async () => {
    const store = connect(etcd);
    const { revision } = await put(store, "w/1", "1");
    const received = follow(store, revision);
    await eventually(() => expect(received).toEqual(["1"]));
    await member.kill();
    const away = { kind: "unavailable", retryable: true };
    await Promise.all([
      expect(store.get("w/1")).rejects.toMatchObject(away),
      expect(store.revision()).rejects.toMatchObject(away),
      expect(put(store, "w/x")).rejects.toMatchObject(away),
    ]);
    await member.start();
    await eventually(() => put(store, "w/2", "2"));
    await put(store, "w/3", "3");
    await eventually(() => expect(received).toEqual(["1", "2", "3"]));
  });

  test("stopped for long: running calls fail before their deadline, new calls fail after one attempt", async () => {
    let tries = 0;
    const store = connect(etcd, { timeoutMs: 3_600_000, onIncident: () => (tries += 1) });
    await put(store, "k");
    await member.kill();
    const away = { kind: "unavailable", retryable: true };
    await Promise.all([
      expect(store.get("k")).rejects.toMatchObject(away),
      expect(put(store, "k")).rejects.toMatchObject(away),
    ]);
    const before = tries;
    await expect(store.get("k")).rejects.toMatchObject(away);
    expect(tries - before).toBe(1);
    await member.start();
    await eventually(() => store.get("k"));
  });

  test("frozen for a while: resolves a write that was sent", async () => {
    const store = connect(etcd, { timeoutMs: 3_600_000, attemptTimeoutMs: 500 });
    await put(store, "k");
    member.freeze();
    const sent = store.commit({
      conditions: [{ key: "resolved", test: "absent" }],
      writes: [{ op: "put", key: "resolved", value: "v" }],
    });
    try {
      await expect(store.get("k")).rejects.toMatchObject({ kind: "unavailable" });
    } finally {
      member.thaw();
    }
    const { revision } = await sent;
    expect(await store.get("resolved")).toMatchObject({ version: 1, createRevision: revision });
  });

  test("frozen: calls end by their deadline, a write without a guard has an unknown outcome; resumed: calls work", async () => {
    const store = connect(etcd);
    await put(store, "k", "before");
    member.freeze();
    try {
      const [fault] = await Promise.all([
        put(store, "k", "blind").catch((thrown: unknown) => thrown),
        expect(store.get("k")).rejects.toMatchObject({ kind: "unavailable", retryable: true }),
      ]);
      expect(fault).toMatchObject({ kind: "unavailable", retryable: true });
      expect(outcomeUnknown(fault)).toBe(true);
    } finally {
      member.thaw();
    }
    await eventually(async () => expect(["before", "blind"]).toContain((await store.get("k"))?.value));
    await put(store, "k", "after");
  });

  test("frozen briefly: applies a guarded write exactly once", async () => {
    const store = connect(etcd, { timeoutMs: 20_000, attemptTimeoutMs: 500 });
    await store.commit({ writes: [{ op: "delete-prefix", prefix: "g" }] });
    member.freeze();
    const commits = Array.from({ length: 5 }, (_, n) =>
      store.commit({
        conditions: [{ key: `g/${n}`, test: "absent" }],
        writes: [{ op: "put", key: `g/${n}`, value: "v" }],
      }),
    );
    const thaw = setTimeout(() => member.thaw(), 1500);
    const done = await Promise.all(commits).finally(() => clearTimeout(thaw));
    for (const [n, { revision, changed }] of done.entries()) {
      expect(await store.get(`g/${n}`)).toMatchObject({ version: 1, createRevision: revision, modRevision: revision });
      expect(changed).toBe(true);
    }
  });

  test("frozen longer than a lease: reports the loss in time", async () => {
    const store = connect(etcd);
    const lease = await store.grantLease({ ttlMs: 2000 });
    member.freeze();
    try {
      await eventually(() => expect(lease.lost.aborted).toBe(true), { timeoutMs: 10_000 });
      expect(lease.lost.reason).toMatchObject({ code: "OAAS_LEASE_LOST" });
    } finally {
      member.thaw();
    }
  });

  test("frozen while a lease is requested: counts from the successful request, not from the first", async () => {
    const store = connect(etcd, { timeoutMs: 20_000, attemptTimeoutMs: 500 });
    await store.revision();
    member.freeze();
    const thaw = setTimeout(() => member.thaw(), 3000);
    const lease = await store.grantLease({ ttlMs: 2000, keepAlive: false }).finally(() => {
      clearTimeout(thaw);
      member.thaw();
    });
    lease.assertHeld();
  });

  test("revokes a lease: the next renewal reports the loss", async () => {
    const store = connect(etcd);
    // Long enough not to expire on a busy machine, which would give another reason.
    const lease = await store.grantLease({ ttlMs: 10_000 });
    await store.commit({ writes: [{ op: "put", key: "owned", value: "", lease: lease.id }] });
    await etcd.etcdctl("lease", "revoke", BigInt(lease.id).toString(16));
    expect(await store.get("owned")).toBeUndefined();
    await eventually(() => expect(lease.lost.aborted).toBe(true));
    expect(lease.lost.reason).toMatchObject({ message: expect.stringContaining("expired or was revoked") as string });
  });

  test("compacts while a watch is disconnected: the watch reports it", async () => {
    const direct = connect(etcd);
    await using proxy = await startProxy(etcd.endpoints[0] as string);
    const watcher = connect(etcd, { endpoints: [proxy.url] });
    const { revision } = await put(direct, "w/0", "0");
    const batches: WatchBatch[] = [];
    const watching = (async () => {
      for await (const batch of watcher.watch({ prefix: "w/", fromRevision: revision })) batches.push(batch);
    })();
    const ended = expect(watching).rejects.toMatchObject({ code: "OAAS_STORE_COMPACTED" });
    await eventually(() => expect(batches).toHaveLength(1));
    proxy.cut();
    await put(direct, "w/1", "never received");
    const { revision: last } = await put(direct, "w/2", "2");
    await direct.compact(last);
    proxy.restore();
    await ended;
  });

  test("no listener: unavailable after retries until the deadline", async () => {
    const store = connect(etcd, { endpoints: ["http://127.0.0.1:1"], timeoutMs: 500 });
    await expect(store.revision()).rejects.toMatchObject({ kind: "unavailable" });
    const fault: unknown = await put(store, "k").catch((thrown: unknown) => thrown);
    expect(outcomeUnknown(fault), "a request that was not sent has no effect").toBe(false);
  });
});

describeWith(["etcd"], "an etcd that is full", () => {
  test(
    "rejects writes, still reads, and accepts writes after compaction and disarming",
    { timeout: 180_000 },
    async () => {
      await using etcd = await startEtcd({ quotaBytes: 4 * 1024 * 1024 });
      const store = connect(etcd, { timeoutMs: 10_000 });
      let fault: unknown;
      for (let n = 0; fault === undefined && n < 200; n += 1) {
        fault = await put(store, "big", "x".repeat(200_000)).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      }
      expect(fault).toMatchObject({ code: "OAAS_STORE_FULL", kind: "resource-exhausted", retryable: true });
      expect(await store.get("big")).toBeDefined();
      await store.compact(await store.revision());
      await etcd.etcdctl("defrag");
      await etcd.etcdctl("alarm", "disarm");
      await eventually(() => put(store, "small"));
    },
  );
});

describeWith(["etcd"], "three members", () => {
  let etcd: EtcdUnderTest;
  beforeAll(async () => {
    etcd = await startEtcd({ members: 3 });
  });
  afterAll(() => etcd?.close());

  test("one member stops: writes continue, a watch has no gap, a lease is renewed", { timeout: 180_000 }, async () => {
    const store = connect(etcd, { timeoutMs: 20_000 });
    const lease = await store.grantLease({ ttlMs: 15_000 });
    const { revision } = await put(store, "w/start", "start");
    const received = follow(store, revision);
    let n = 0;
    for (const member of etcd.members) {
      await member.kill();
      for (let each = 0; each < 10; each += 1) {
        n += 1;
        await guardedPut(store, `w/${n}`, String(n));
      }
      await member.start();
    }
    const expected = ["start", ...Array.from({ length: n }, (_, index) => String(index + 1))];
    await eventually(() => expect(received).toEqual(expected));
    lease.assertHeld();
  });

  test("without a majority: unavailable; with a majority again: works", { timeout: 180_000 }, async () => {
    const store = connect(etcd);
    await put(store, "k", "before");
    const [one, two] = etcd.members as [EtcdMember, EtcdMember];
    await Promise.all([one.kill(), two.kill()]);
    await Promise.all([
      expect(put(store, "k", "lost leader")).rejects.toMatchObject({ kind: "unavailable", retryable: true }),
      expect(store.get("k")).rejects.toMatchObject({ kind: "unavailable" }),
    ]);
    await Promise.all([one.start(), two.start()]);
    await eventually(() => put(store, "k", "after"));
  });

  test("a frozen member is replaced by the next", async () => {
    const store = connect(etcd, { timeoutMs: 15_000, attemptTimeoutMs: 500 });
    await eventually(() => put(store, "k", "1"));
    for (const member of etcd.members) {
      member.freeze();
      try {
        await eventually(() => guardedPut(store, `frozen/${member.name}`, "v"));
      } finally {
        member.thaw();
      }
    }
    expect((await store.range({ prefix: "frozen/", count: true })).total).toBe(3);
  });
});

describeWith(["etcd"], "authentication", () => {
  let etcd: EtcdUnderTest;
  let folder: string;
  beforeAll(async () => {
    etcd = await startEtcd({ tls: true, auth: true });
    folder = mkdtempSync(join(tmpdir(), "oaas-etcd-tls-"));
  });
  afterAll(async () => {
    await etcd?.close();
    rmSync(folder, { recursive: true });
  });

  describe("user and password", () => {
    test("wrong: unauthenticated without endless retries", async () => {
      const store = connect(etcd, { auth: { username: "pm", password: "wrong" } });
      await expect(store.get("k")).rejects.toMatchObject({ kind: "unauthenticated" });
    });

    test("slow: a write waits for its token, because nothing was sent", async () => {
      await using slow = await startEtcd({ auth: true });
      const member = slow.members[0] as EtcdMember;
      const store = connect(slow, { timeoutMs: 20_000, attemptTimeoutMs: 300 });
      member.freeze();
      const written = put(store, "k");
      await delay(1200);
      member.thaw();
      await expect(written).resolves.toMatchObject({ revision: expect.any(Number) });
    });

    test("without permission: permission denied, for calls and watches", async () => {
      const store = connect(etcd, { keyPrefix: "/elsewhere/" });
      await expect(store.get("k")).rejects.toMatchObject({ kind: "permission-denied" });
      await expect(put(store, "k")).rejects.toMatchObject({ kind: "permission-denied" });
      const first = store.watch({ prefix: "", fromRevision: 1 })[Symbol.asyncIterator]().next();
      await expect(first).rejects.toMatchObject({ kind: "permission-denied" });
    });

    test("an expired token is fetched again", { timeout: 180_000 }, async () => {
      const store = connect(etcd, { timeoutMs: 20_000 });
      const { revision } = await put(store, "w/1", "1");
      const received = follow(store, revision);
      await etcd.members[0]?.stop();
      await etcd.members[0]?.start();
      await eventually(() => put(store, "w/2", "2"));
      await eventually(() => expect(received).toEqual(["1", "2"]));
    });
  });

  describe("certificates", () => {
    test("missing, or of another authority: unavailable with the reason", async () => {
      const tls = etcd.tls as NonNullable<EtcdUnderTest["tls"]>;
      for (const wrong of [{ caFile: tls.caFile }, { certFile: tls.certFile, keyFile: tls.keyFile }]) {
        const store = connect(etcd, { tls: wrong, timeoutMs: 1000 });
        await expect(store.revision()).rejects.toMatchObject({ kind: "unavailable" });
      }
    });

    test("missing files: a fault with the reason", async () => {
      const store = connect(etcd, { tls: { caFile: join(folder, "none.pem") } });
      await expect(store.revision()).rejects.toMatchObject({ kind: "failed-precondition" });
    });

    test("replaced files are used without a restart", async () => {
      const tls = etcd.tls as NonNullable<EtcdUnderTest["tls"]>;
      const files = { caFile: tls.caFile, certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
      writeFileSync(files.certFile, "");
      writeFileSync(files.keyFile, "");
      const store = connect(etcd, { tls: files, timeoutMs: 1500 });
      await expect(store.revision()).rejects.toBeDefined();
      copyFileSync(tls.certFile, files.certFile);
      copyFileSync(tls.keyFile, files.keyFile);
      expect(await eventually(() => store.revision())).toBeGreaterThan(0);
      rmSync(files.certFile);
      await put(store, "k", "the old ones stay in use while files are missing");
    });
  });
});

interface TcpProxy extends AsyncDisposable {
  readonly url: string;
  cut(): void;
  restore(): void;
}

/** A connection that can be interrupted without affecting etcd. */
async function startProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = createConnection(Number(port), hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => [near, far].forEach((each) => each.destroy()));
    }
    near.pipe(far).pipe(near);
  });
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    restore: () => (isCut = false),
    [Symbol.asyncDispose]: async () => {
      cut();
      server.close();
    },
  };
}

async function guardedPut(store: KeyValueStore, key: string, value: string): Promise<void> {
  await store.commit({ conditions: [{ key, test: "absent" }], writes: [{ op: "put", key, value }] });
}
