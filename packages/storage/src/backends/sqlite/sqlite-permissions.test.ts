import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realAmbient } from "@oaas/foundation/real";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSqliteStore, type SqliteIncident } from "./index.ts";

let folder: string;
let file: string;
let incidents: SqliteIncident[];
const isRoot = process.geteuid?.() === 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "oaas-permissions-"));
  file = join(folder, "new", "deeper", "store.db");
  incidents = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = () => openSqliteStore({ ambient: realAmbient, file, onIncident: (incident) => incidents.push(incident) });
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const put = (store: ReturnType<typeof open>) => store.commit({ writes: [{ op: "put", key: "k", value: "secret" }] });

test("creates files and folders that only the owner can read", async () => {
  const store = open();
  await put(store);
  expect(existsSync(`${file}-wal`)).toBe(true);
  expect([file, `${file}-wal`, `${file}.owner`].map(modeOf)).toEqual(["600", "600", "600"]);
  expect([join(folder, "new"), join(folder, "new", "deeper")].map(modeOf)).toEqual(["700", "700"]);
  expect(incidents).toEqual([]);
  await store.close();
});

test("removes permissions of other users from existing files and reports it", async () => {
  const first = open();
  await put(first);
  await first.close();
  chmodSync(file, 0o644);
  for (const suffix of ["-wal", "-shm", "-journal", ".owner"]) writeFileSync(`${file}${suffix}`, "", { mode: 0o664 });
  const again = open();
  expect((await again.get("k"))?.value).toBe("secret");
  await put(again);
  expect([file, `${file}-wal`, `${file}.owner`].map(modeOf)).toEqual(["600", "600", "600"]);
  expect(incidents).toContainEqual({
    what: "removed permissions of other users",
    path: file,
    details: { before: "0644", after: "0600" },
  });
  expect(incidents.map(({ path }) => path)).toContain(`${file}-wal`);
  await again.close();
});

test("does not change the permissions of the file of another program", () => {
  mkdirSync(join(folder, "new", "deeper"), { recursive: true });
  writeFileSync(file, "the file of another program, and long enough to be a header ".repeat(3), { mode: 0o644 });
  expect(open).toThrow(/not a database/);
  expect(modeOf(file)).toBe("644");
});

test("does not change an existing folder, and reports when others can replace its files", async () => {
  mkdirSync(join(folder, "new", "deeper"), { recursive: true });
  chmodSync(join(folder, "new", "deeper"), 0o777);
  await open().close();
  expect(incidents).toEqual([
    { what: "other users can replace files of the database", path: join(folder, "new", "deeper") },
  ]);
  chmodSync(join(folder, "new", "deeper"), 0o1777);
  incidents = [];
  await open().close();
  expect(incidents, "a sticky folder protects the files").toEqual([]);
  expect(modeOf(join(folder, "new", "deeper"))).toBe("777");
});

test("rejects a file that belongs to another user, and leaves it unchanged", async ({ skip }) => {
  if (!isRoot) skip("only root can change the owner of a file");
  await open().close();
  chownSync(file, 12_345, 12_345);
  expect(open).toThrow(
    expect.objectContaining({
      kind: "failed-precondition",
      message: expect.stringMatching(/belongs to user 12345, but this process runs as user 0/) as string,
    }),
  );
  chownSync(file, 0, 0);
  chmodSync(file, 0o640);
  await open().close();
  expect(modeOf(file)).toBe("600");
});
