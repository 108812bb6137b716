import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { secretFolder } from "./secret-folder.ts";

let folder: string;
let secrets: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "oaas-secrets-"));
  secrets = path.join(folder, "secrets");
  mkdirSync(path.join(secrets, "..2026"), { recursive: true });
  writeFileSync(path.join(folder, "private"), "p");
  writeFileSync(path.join(folder, "secrets-of-others"), "p");
  writeFileSync(path.join(secrets, "..2026", "token"), "t");
  // The layout of a mounted Kubernetes Secret: links into a folder that is replaced as a whole.
  symlinkSync("..2026", path.join(secrets, "..data"));
  symlinkSync(path.join("..data", "token"), path.join(secrets, "token"));
  symlinkSync(path.join(folder, "private"), path.join(secrets, "way-out"));
  symlinkSync("secrets", path.join(folder, "linked"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("files that API callers may reference", () => {
  it("are found by relative and absolute path, and links are not resolved", () => {
    const found = path.join(secrets, "token");
    expect(secretFolder(secrets).find("token")).toEqual({ ok: true, value: found });
    expect(secretFolder(secrets).find(found)).toEqual({ ok: true, value: found });
    const linked = path.join(folder, "linked");
    expect(secretFolder(linked).find("./token")).toEqual({ ok: true, value: path.join(linked, "token") });
  });

  it.each([
    { name: "../private", message: "is outside of the folder", why: "the folder above" },
    { name: "../secrets-of-others", message: "is outside of the folder", why: "a folder with the same prefix" },
    { name: "/etc/passwd", message: "is outside of the folder", why: "an absolute path elsewhere" },
    { name: "/no/such", message: "is outside of the folder", why: "does not reveal whether an outside file exists" },
    { name: "way-out", message: "is outside of the folder", why: "a link to the outside" },
    { name: ".", message: "is outside of the folder", why: "the folder itself" },
    { name: "..2026", message: "is not a file", why: "a subfolder" },
    { name: "missing", message: "ENOENT", why: "a missing file" },
    { name: "a\0b", message: "cannot be read", why: "not a path" },
  ])("are not found: $why", ({ name, message }) => {
    expect(secretFolder(secrets).find(name)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining(message) as string },
    });
  });

  it("do not exist without a folder", () => {
    expect(secretFolder(undefined).find("token")).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("CRM_SECRETS_DIR is not set") as string },
    });
  });
});
