import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { realAmbient } from "@oaas/foundation/real";
import type { KeyValueStore } from "@oaas/storage";
import { openSqliteStore } from "@oaas/storage/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

let folder: string;
let file: string;
const isRoot = process.getuid?.() === 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "oaas-sqlite-faults-"));
  file = join(folder, "store.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (options: { maxBytes?: number; file?: string } = {}): KeyValueStore =>
  openSqliteStore({ ambient: realAmbient, file, ...options });

async function fill(store: KeyValueStore, count: number, size: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await store.commit({
      writes: [{ op: "put", key: `k/${String(n).padStart(5, "0")}`, value: `${n}`.padEnd(size, "x") }],
    });
  }
}

async function makeFile(count = 10, size = 10): Promise<void> {
  const store = open();
  await fill(store, count, size);
  await store.close();
}

/** Returns all files of the folder, to verify that nothing changed. */
function snapshot(): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [
      name,
      `${statSync(join(folder, name)).mtimeMs}:${readFileSync(join(folder, name), "hex")}`,
    ]),
  );
}

function rewrite(at: number, bytes: Buffer): void {
  writeSync(openSync(file, "r+"), bytes, 0, bytes.length, at);
}

describe("a foreign file", () => {
  test("of a newer version is rejected and unchanged", async () => {
    await makeFile();
    const database = new DatabaseSync(file);
    database.exec("PRAGMA user_version = 999");
    database.close();
    const before = snapshot();
    expect(() => open()).toThrow(
      expect.objectContaining({ code: "OAAS_STORE_NEWER_SCHEMA", kind: "failed-precondition" }),
    );
    expect(snapshot()).toEqual(before);
  });

  test("of another program is rejected and unchanged", () => {
    const database = new DatabaseSync(file);
    database.exec("PRAGMA user_version = 1; CREATE TABLE theirs (x)");
    database.close();
    const before = snapshot();
    expect(() => open()).toThrow(/another program/);
    expect(snapshot()).toEqual(before);
  });

  test("in use is rejected with the name of the owner", async () => {
    const store = open();
    expect(() => open()).toThrow(
      expect.objectContaining({
        code: "OAAS_STORE_IN_USE",
        message: expect.stringContaining(`process ${process.pid}`) as string,
      }),
    );
    await store.commit({ writes: [{ op: "put", key: "k", value: "still works" }] });
    await store.close();
    const other = await holdInAnotherProcess();
    try {
      expect(() => open()).toThrow(
        expect.objectContaining({
          code: "OAAS_STORE_IN_USE",
          message: expect.stringContaining(`process ${other.pid}`) as string,
        }),
      );
    } finally {
      other.kill("SIGKILL");
      await once(other, "exit");
    }
    const again = open();
    expect((await again.get("k"))?.value, "the lock ends with the process, however that ends").toBe("still works");
    await again.close();
    expect(readdirSync(folder)).not.toContain("store.db.owner");
  });
});

describe("a damaged file", () => {
  const damages: { case: string; damage: () => void }[] = [
    {
      case: "not a database",
      damage: () => writeFileSync(file, "something else entirely, long enough to be a header ".repeat(4)),
    },
    { case: "truncated in its header", damage: () => writeFileSync(file, readFileSync(file).subarray(0, 50)) },
    { case: "pages overwritten", damage: () => rewrite(4096, Buffer.alloc(4096 * 20, 0xa5)) },
    { case: "truncated in the middle", damage: () => writeFileSync(file, readFileSync(file).subarray(0, 4096 * 12)) },
  ];
  test.each(damages)("is rejected: $case", async ({ damage }) => {
    await makeFile(300, 1000);
    damage();
    expect(() => open()).toThrow(expect.objectContaining({ code: "OAAS_STORE_CORRUPT" }));
  });

  test("is reported when it is damaged while the store is open", async () => {
    // More than the page cache of SQLite.
    await makeFile(600, 50_000);
    const store = open();
    rewrite(4096 * 3, Buffer.alloc(statSync(file).size - 4096 * 3, 0xa5));
    await expect(readAll(store)).rejects.toMatchObject({ code: "OAAS_STORE_CORRUPT" });
    await store.close();
  });
});

describe("a path that is not writable", () => {
  const places: { case: string; prepare: () => string; only?: "root" | "user" }[] = [
    {
      case: "the file is a folder",
      prepare: () => {
        mkdirSync(file);
        return file;
      },
    },
    {
      case: "the folder is a file",
      prepare: () => {
        writeFileSync(file, "");
        return join(file, "store.db");
      },
    },
    {
      case: "the parent of the missing folder is a file",
      prepare: () => {
        writeFileSync(file, "");
        return join(file, "missing", "store.db");
      },
    },
    {
      case: "the folder cannot be created and the file system returns ENOENT",
      prepare: () => "/proc/missing/deeper/store.db",
    },
    {
      case: "the folder is not writable (as a user)",
      only: "user",
      prepare: () => {
        chmodSync(folder, 0o500);
        return file;
      },
    },
    {
      case: "the file system is read-only (as root)",
      only: "root",
      prepare: () => {
        mkdirSync(file);
        mount(["-t", "tmpfs", "-o", "ro,size=1m", "tmpfs", file]);
        return join(file, "store.db");
      },
    },
  ];
  test.for(places)("is rejected with the reason: $case", ({ prepare, only }, { skip }) => {
    if (only !== undefined && (only === "root") !== isRoot) skip(`it can only be tested as ${only}`);
    const place = prepare();
    try {
      expect(() => open({ file: place })).toThrow(
        expect.objectContaining({
          kind: "failed-precondition",
          message: expect.stringMatching(/cannot be opened/) as string,
        }),
      );
    } finally {
      if (only === "root") spawnSync("umount", [file]);
      if (only === "user") chmodSync(folder, 0o700);
    }
  });
});

describe("a full store", () => {
  test("rejects writes at its quota, changes nothing, and recovers when there is space", async () => {
    await provesFull(open({ maxBytes: 256 * 1024 }));
  });

  test("rejects writes on a full disk, changes nothing, and recovers when there is space", async (context) => {
    if (!isRoot) context.skip("mounting a small tmpfs needs root");
    const disk = join(folder, "disk");
    mkdirSync(disk);
    mount(["-t", "tmpfs", "-o", "size=2m", "tmpfs", disk]);
    try {
      writeFileSync(join(disk, "ballast"), Buffer.alloc(1024 * 1024));
      const place = join(disk, "store.db");
      await provesFull(open({ file: place }), () => rmSync(join(disk, "ballast")));
      const again = open({ file: place });
      expect((await again.get("after"))?.value).toBe("room again");
      await again.close();
    } finally {
      spawnSync("umount", [disk]);
    }
  });
});

describe("opening again", () => {
  test("has all acknowledged writes, continues the revision, and ends the leases of the ended process", async () => {
    const store = open();
    const lease = await store.grantLease({ ttlMs: 60_000 });
    await store.commit({ writes: [{ op: "put", key: "leased", value: "", lease: lease.id }] });
    await store.commit({ writes: [{ op: "put", key: "k", value: "1" }] });
    const { revision } = await store.commit({ writes: [{ op: "delete", key: "k" }] });
    await store.close();
    const again = open();
    expect(await again.get("leased")).toBeUndefined();
    expect(await again.revision(), "never goes back, not even when the newest key is gone").toBe(revision + 1);
    await expect(again.range({ prefix: "", atRevision: revision - 1 })).rejects.toMatchObject({
      code: "OAAS_STORE_COMPACTED",
    });
    const next = await again.commit({ writes: [{ op: "put", key: "k", value: "2" }] });
    expect(next.revision).toBe(revision + 2);
    await again.close();
    const third = open();
    expect(await third.get("k")).toMatchObject({ value: "2", version: 1, modRevision: revision + 2 });
    await third.close();
  });
});

/** Fills the store until it rejects a write, then frees space and writes again. */
async function provesFull(store: KeyValueStore, makeRoom: () => void = () => undefined): Promise<void> {
  const value = "x".repeat(20_000);
  const fillUp = async (): Promise<{ written: number; fault: unknown }> => {
    for (let written = 0; ; written += 1) {
      const key = `k/${written}`;
      const writes = [key, `${key}/too`].map((name) => ({ op: "put", key: name, value }) as const);
      try {
        await store.commit({ writes });
      } catch (fault) {
        return { written, fault };
      }
    }
  };
  const { written, fault } = await fillUp();
  expect(fault).toMatchObject({ code: "OAAS_STORE_FULL", kind: "resource-exhausted", retryable: true });
  expect(written).toBeGreaterThan(0);
  const { total, revision } = await store.range({ prefix: "k/", limit: 1, count: true });
  expect(total, "all acknowledged writes and no partial write").toBe(written * 2);
  expect(revision).toBe(written + 1);
  makeRoom();
  for (let n = 0; n < Math.floor(written / 2); n += 1) {
    await store.commit({ writes: [{ op: "delete-prefix", prefix: `k/${n}` }] });
  }
  await store.commit({ writes: [{ op: "put", key: "after", value: "room again" }] });
  expect((await store.get("after"))?.value).toBe("room again");
  await store.close();
}

async function readAll(store: KeyValueStore): Promise<void> {
  for (let page = await store.range({ prefix: "" }); page.next !== undefined;) {
    page = await store.range({ prefix: "", after: page.next });
  }
}

function mount(args: readonly string[]): void {
  const { status, stderr } = spawnSync("mount", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`mount failed: ${stderr}`);
}

async function holdInAnotherProcess(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "crash-writer.ts"), "sqlite", file, "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}
