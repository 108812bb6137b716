import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makePrivateFolder, preparePrivateFolder, tightenPermissions } from "./private-files.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "oaas-files-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test("creates missing folders for the owner only, and leaves existing ones alone", () => {
  chmodSync(folder, 0o755);
  makePrivateFolder(join(folder, "a", "b"));
  makePrivateFolder(join(folder, "a", "b"));
  expect([folder, join(folder, "a"), join(folder, "a", "b")].map(modeOf)).toEqual([0o755, 0o700, 0o700]);
});

test("tightens a file and reports its permissions before and after", () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  chmodSync(file, 0o664);
  expect(tightenPermissions(file)).toEqual({ path: file, before: "0664", after: "0600" });
  expect(tightenPermissions(file), "private already").toBeUndefined();
  expect(tightenPermissions(join(folder, "missing"))).toBeUndefined();
});

describe("an existing folder", () => {
  test.each([
    { case: "is empty", files: [], mode: 0o700 },
    { case: "contains our file", files: ["store.sqlite", "other"], mode: 0o700 },
    { case: "contains only files of others", files: ["other"], mode: 0o755 },
  ])("has mode $mode when it $case", ({ files, mode }) => {
    const data = join(folder, "data");
    mkdirSync(data);
    chmodSync(data, 0o755);
    for (const name of files) writeFileSync(join(data, name), "");
    expect(preparePrivateFolder(data, "store.sqlite") !== undefined).toBe(mode === 0o700);
    expect(modeOf(data)).toBe(mode);
  });
});
