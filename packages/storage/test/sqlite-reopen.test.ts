import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@oaas/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SqliteProcess } from "./sqlite-process.ts";

const VALUE = "x".repeat(50_000);
/** Below the size of the write-ahead log after the first writes. */
const TOO_SMALL = 100_000;
const WITHIN = { timeoutMs: 30_000 };

let folder: string;
let file: string;
let store: SqliteProcess;
let written = 0;

beforeEach(async ({ skip }) => {
  if (spawnSync("prlimit", ["--version"]).status !== 0) skip("needs prlimit (util-linux)");
  folder = mkdtempSync(join(tmpdir(), "oaas-reopen-"));
  file = join(folder, "store.db");
  store = await SqliteProcess.start(file);
  written = 0;
  for (let n = 0; n < 10; n += 1) expect((await put()).fault).toBeUndefined();
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const put = () => store.call("put", `k/${(written += 1)}`, VALUE);
/** Fails a write, and with it the store. */
const breakDisk = async () => {
  store.limitFiles(TOO_SMALL);
  const failed = await put();
  expect(failed.fault).toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("disk I/O error"),
    outcomeUnknown: true,
  });
  return failed;
};
const isUsable = async () => (await store.call("revision")).fault === undefined;

describe("an I/O error", () => {
  test("rejects calls with the reason until the file can be written, and loses nothing", async () => {
    const { value: before } = await store.call("revision");
    await breakDisk();
    for (const op of ["get", "put", "revision", "count"] as const) {
      expect((await store.call(op, "k/1", "")).fault, op).toMatchObject({
        kind: "unavailable",
        message: expect.stringMatching(/store\.db cannot be read or written: disk I\/O error.* being opened again/),
        outcomeUnknown: false,
      });
    }
    await eventually(() => store.incidents.includes("reopen database failed"), WITHIN);
    store.limitFiles("unlimited");
    await eventually(isUsable, WITHIN);
    expect(store.incidents.at(-1)).toBe("reopened database");
    expect((await store.call("revision")).value, "the failed write is not applied").toBe(before);
    expect((await store.call("count", "k/")).value).toBe(10);
    expect((await put()).value).toBe((before as number) + 1);
    await eventually(() => store.seen === 11, WITHIN);
    expect(store.lost, "the watch and the lease continue").toEqual([]);
    expect((await store.call("get", "leased")).value).toBe("");
  });

  test("does not create a new file when the file is missing, and continues when it is back", async () => {
    await breakDisk();
    renameSync(file, `${file}.away`);
    await eventually(
      async () => /store\.db is missing/.test((await store.call("revision")).fault?.message ?? ""),
      WITHIN,
    );
    store.limitFiles("unlimited");
    await store.call("revision");
    expect(existsSync(file)).toBe(false);
    renameSync(`${file}.away`, file);
    await eventually(isUsable, WITHIN);
    expect((await store.call("count", "k/")).value).toBe(10);
  });

  test("does not use a file without the acknowledged writes", async () => {
    await store[Symbol.asyncDispose]();
    store = await SqliteProcess.start(file);
    await store.call("close");
    copyFileSync(file, `${file}.old`);
    await store[Symbol.asyncDispose]();
    store = await SqliteProcess.start(file);
    await put();
    await breakDisk();
    for (const suffix of ["", "-wal"]) {
      if (existsSync(file + suffix)) renameSync(file + suffix, `${file}.new${suffix}`);
    }
    copyFileSync(`${file}.old`, file);
    store.limitFiles("unlimited");
    await eventually(
      async () => /revision \d+ was acknowledged/.test((await store.call("get", "k/1")).fault?.message ?? ""),
      WITHIN,
    );
    rmSync(`${file}-wal`, { force: true });
    for (const suffix of ["-wal", ""]) {
      if (existsSync(`${file}.new${suffix}`)) renameSync(`${file}.new${suffix}`, file + suffix);
    }
    await eventually(isUsable, WITHIN);
    expect((await store.call("count", "k/")).value).toBe(11);
  });

  test("ends watches and leases when another process has used the file in the meantime", async () => {
    await breakDisk();
    {
      await using other = await SqliteProcess.startBetween(file);
      expect((await other.call("put", "k/theirs", "")).fault).toBeUndefined();
      store.limitFiles("unlimited");
      await eventually(
        async () => /is in use by process/.test((await store.call("revision")).fault?.message ?? ""),
        WITHIN,
      );
    }
    await eventually(isUsable, WITHIN);
    await eventually(() => store.lost.length === 2, WITHIN);
    expect(store.lost.toSorted()).toEqual(["lease", "watch: OAAS_STORE_COMPACTED"]);
    expect((await store.call("count", "k/")).value).toBe(11);
    expect((await store.call("get", "leased")).value).toBeUndefined();
  });
});
