import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { afterEach, beforeEach, expect, test } from "vitest";
import { nodeSecretFiles, ReloadedFiles } from "./secret-files.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "oaas-secret-files-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

test("reloads a file that was replaced within the resolution of its modification time", async () => {
  const file = path.join(folder, "tokens");
  writeFileSync(file, "old");
  const { atime, mtime } = statSync(file);
  utimesSync(file, atime, mtime);
  const { time } = virtualAmbient(1);
  const followed = new ReloadedFiles(nodeSecretFiles, time, [file]);
  expect(followed.texts()).toEqual(["old"]);
  writeFileSync(file, "new");
  utimesSync(file, atime, mtime);
  await time.advance(2_000);
  expect(followed.texts()).toEqual(["new"]);
});

test("keeps the contents when only the modification time changes", async () => {
  const file = path.join(folder, "tokens");
  writeFileSync(file, "same");
  const { time } = virtualAmbient(1);
  const followed = new ReloadedFiles(nodeSecretFiles, time, [file]);
  const before = followed.texts();
  writeFileSync(file, readFileSync(file));
  utimesSync(file, 1, 1);
  await time.advance(2_000);
  expect(followed.texts()).toBe(before);
});
