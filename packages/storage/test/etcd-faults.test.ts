import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createConnection, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

/** Collects what a watch delivers until the test is over. */
function follow(store: KeyValueStore, fromRevision: number): string[] {
  const seen: string[] = [];
  const watching = async (): Promise<void> => {
    for await (const batch of store.watch({ prefix: "w/", fromRevision })) {
      for (const event of batch.events) if (event.type === "put") seen.push(event.entry.value);
    }
  };
  void watching().catch((thrown: unknown) => seen.push((thrown as Error).message));
  return seen;
}

describeWith(["etcd"], "one etcd in trouble", () => {
  let etcd: EtcdUnderTest;
  let member: EtcdMember;
  beforeAll(async () => {
    etcd = await startEtcd({ fsync: true });
    member = etcd.members[0] as EtcdMember;
  });
  afterAll(() => etcd?.close());

  test("dead: calls are refused as unavailable in time; back: everything goes on, watches without gap", async () => {
    const store = connect(etcd);
    const { revision } = await put(store, "w/1", "1");
    const seen = follow(store, revision);
    await eventually(() => expect(seen).toEqual(["1"]));
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
    await eventually(() => expect(seen).toEqual(["1", "2", "3"]));
  });

  test("dead for a while: nobody waits for it as long as a call may take, and whoever asks then is refused after one try", async () => {
    let tries = 0;
    const store = connect(etcd, { timeoutMs: 3_600_000, onTrouble: () => (tries += 1) });
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

  test("frozen for a while: a write that was sent is settled all the same", async () => {
    const store = connect(etcd, { timeoutMs: 3_600_000, attemptTimeoutMs: 500 });
    await put(store, "k");
    member.freeze();
    const sent = store.commit({
      conditions: [{ key: "settled", test: "absent" }],
      writes: [{ op: "put", key: "settled", value: "v" }],
    });
    try {
      await expect(store.get("k")).rejects.toMatchObject({ kind: "unavailable" });
    } finally {
      member.thaw();
    }
    const { revision } = await sent;
    expect(await store.get("settled")).toMatchObject({ version: 1, createRevision: revision });
  });

  test("frozen: calls end by their time, a blind write says its outcome is unknown; thawed: works again", async () => {
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

  test("frozen for a moment: a guarded write is settled, exactly once", async () => {
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

  test("frozen longer than a lease lives: its owner is told in time", async () => {
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

  test("frozen while a lease is asked for: it counts from the request that was answered, not from the first", async () => {
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

  test("revokes a lease: its owner is told with the next renewal", async () => {
    const store = connect(etcd);
    // Long enough that it is not lost by itself on a busy machine, which would be told otherwise.
    const lease = await store.grantLease({ ttlMs: 10_000 });
    await store.commit({ writes: [{ op: "put", key: "owned", value: "", lease: lease.id }] });
    await etcd.etcdctl("lease", "revoke", BigInt(lease.id).toString(16));
    expect(await store.get("owned")).toBeUndefined();
    await eventually(() => expect(lease.lost.aborted).toBe(true));
    expect(lease.lost.reason).toMatchObject({ message: expect.stringContaining("no longer knows it") as string });
  });

  test("compacts while a watch is cut off: the watch says so instead of skipping", async () => {
    const direct = connect(etcd);
    await using line = await startLine(etcd.endpoints[0] as string);
    const watcher = connect(etcd, { endpoints: [line.url] });
    const { revision } = await put(direct, "w/0", "0");
    const batches: WatchBatch[] = [];
    const watching = (async () => {
      for await (const batch of watcher.watch({ prefix: "w/", fromRevision: revision })) batches.push(batch);
    })();
    const ended = expect(watching).rejects.toMatchObject({ code: "OAAS_STORE_COMPACTED" });
    await eventually(() => expect(batches).toHaveLength(1));
    line.cut();
    await put(direct, "w/1", "never seen");
    const { revision: last } = await put(direct, "w/2", "2");
    await direct.compact(last);
    line.mend();
    await ended;
  });

  test("nobody listens at all: unavailable, and the address is tried again and again until the time is up", async () => {
    const store = connect(etcd, { endpoints: ["http://127.0.0.1:1"], timeoutMs: 500 });
    await expect(store.revision()).rejects.toMatchObject({ kind: "unavailable" });
    const fault: unknown = await put(store, "k").catch((thrown: unknown) => thrown);
    expect(outcomeUnknown(fault), "what was never sent was never done").toBe(false);
  });
});

describeWith(["etcd"], "an etcd that is full", () => {
  test(
    "refuses writes, still reads, and takes them again after compaction and disarming",
    { timeout: 180_000 },
    async () => {
      await using etcd = await startEtcd({ quotaBytes: 4 * 1024 * 1024 });
      const store = connect(etcd, { timeoutMs: 10_000 });
      let refusal: unknown;
      for (let n = 0; refusal === undefined && n < 200; n += 1) {
        refusal = await put(store, "big", "x".repeat(200_000)).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      }
      expect(refusal).toMatchObject({ code: "OAAS_STORE_FULL", kind: "resource-exhausted", retryable: true });
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

  test("any one may die: writes go on, a watch misses nothing, a lease is kept", { timeout: 180_000 }, async () => {
    const store = connect(etcd, { timeoutMs: 20_000 });
    const lease = await store.grantLease({ ttlMs: 15_000 });
    const { revision } = await put(store, "w/start", "start");
    const seen = follow(store, revision);
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
    await eventually(() => expect(seen).toEqual(expected));
    lease.assertHeld();
  });

  test("without a majority: unavailable; with it again: works", { timeout: 180_000 }, async () => {
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

  test("one that is frozen is left for the next", async () => {
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

describeWith(["etcd"], "who we are", () => {
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
    test("wrong: unauthenticated, and not tried for ever", async () => {
      const store = connect(etcd, { auth: { username: "pm", password: "wrong" } });
      await expect(store.get("k")).rejects.toMatchObject({ kind: "unauthenticated" });
    });

    test("not supported by the user may do: permission denied, for calls and watches", async () => {
      const store = connect(etcd, { keyPrefix: "/elsewhere/" });
      await expect(store.get("k")).rejects.toMatchObject({ kind: "permission-denied" });
      await expect(put(store, "k")).rejects.toMatchObject({ kind: "permission-denied" });
      const first = store.watch({ prefix: "", fromRevision: 1 })[Symbol.asyncIterator]().next();
      await expect(first).rejects.toMatchObject({ kind: "permission-denied" });
    });

    test("a token that etcd forgot is fetched anew, without anybody noticing", { timeout: 180_000 }, async () => {
      const store = connect(etcd, { timeoutMs: 20_000 });
      const { revision } = await put(store, "w/1", "1");
      const seen = follow(store, revision);
      await etcd.members[0]?.stop();
      await etcd.members[0]?.start();
      await eventually(() => put(store, "w/2", "2"));
      await eventually(() => expect(seen).toEqual(["1", "2"]));
    });
  });

  describe("certificates", () => {
    test("none, or of somebody else: unavailable with the reason", async () => {
      const tls = etcd.tls as NonNullable<EtcdUnderTest["tls"]>;
      for (const wrong of [{ caFile: tls.caFile }, { certFile: tls.certFile, keyFile: tls.keyFile }]) {
        const store = connect(etcd, { tls: wrong, timeoutMs: 1000 });
        await expect(store.revision()).rejects.toMatchObject({ kind: "unavailable" });
      }
    });

    test("files that are not there: a fault that says so", async () => {
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

interface Line extends AsyncDisposable {
  readonly url: string;
  cut(): void;
  mend(): void;
}

/** A connection that can be cut without touching etcd. */
async function startLine(target: string): Promise<Line> {
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
    mend: () => (isCut = false),
    [Symbol.asyncDispose]: async () => {
      cut();
      server.close();
    },
  };
}

async function guardedPut(store: KeyValueStore, key: string, value: string): Promise<void> {
  await store.commit({ conditions: [{ key, test: "absent" }], writes: [{ op: "put", key, value }] });
}
