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
  // As Kubernetes mounts a Secret: each name leads to a folder that is replaced as a whole.
  symlinkSync("..2026", path.join(secrets, "..data"));
  symlinkSync(path.join("..data", "token"), path.join(secrets, "token"));
  symlinkSync(path.join(folder, "private"), path.join(secrets, "way-out"));
  symlinkSync("secrets", path.join(folder, "linked"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("files that callers may name", () => {
  it("are those of the folder, by their path from there or in full, and stay where a new one will be put", () => {
    const found = path.join(secrets, "token");
    expect(secretFolder(secrets).find("token")).toEqual({ ok: true, value: found });
    expect(secretFolder(secrets).find(found)).toEqual({ ok: true, value: found });
    const linked = path.join(folder, "linked");
    expect(secretFolder(linked).find("./token")).toEqual({ ok: true, value: path.join(linked, "token") });
  });

  it.each([
    { name: "../private", says: "leads out of the folder", why: "the folder above" },
    { name: "../secrets-of-others", says: "leads out of the folder", why: "a name that begins alike" },
    { name: "/etc/passwd", says: "leads out of the folder", why: "somewhere else" },
    { name: "/no/such", says: "leads out of the folder", why: "nothing is said of what is elsewhere" },
    { name: "way-out", says: "leads out of the folder", why: "a link that leads out" },
    { name: ".", says: "leads out of the folder", why: "the folder itself" },
    { name: "..2026", says: "is no file", why: "a folder in it" },
    { name: "missing", says: "ENOENT", why: "not there" },
    { name: "a\0b", says: "cannot be read", why: "no path at all" },
  ])("are not: $why", ({ name, says }) => {
    expect(secretFolder(secrets).find(name)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining(says) as string },
    });
  });

  it("are none without a folder", () => {
    expect(secretFolder(undefined).find("token")).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("CRM_SECRETS_DIR is not set") as string },
    });
  });
});
