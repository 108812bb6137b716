import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realAmbient } from "@oaas/foundation/real";
import { virtualAmbient } from "@oaas/foundation/virtual";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openMemoryStore } from "../backends/memory/index.ts";
import { openSqliteStore } from "../backends/sqlite/index.ts";
import { Collection, type CollectionDefinition } from "../collections/collection.ts";
import type { KeyValueStore } from "../port/key-value-store.ts";
import { AesGcmCipher, parseKeys, randomKey } from "./aes-gcm-cipher.ts";

interface Login {
  readonly host: string;
  readonly credentials?: { readonly user: string; readonly token?: string };
}

const LOGINS = {
  name: "logins",
  codec: { version: 1, decode: (json: unknown) => json as Login },
  secrets: [["credentials", "token"]],
} satisfies CollectionDefinition<Login>;

const SECRET = "s3cret-with-ünicode";
const LOGIN: Login = { host: "h", credentials: { user: "u", token: SECRET } };
const old = randomKey();
const fresh = randomKey();

describe("AES-256-GCM", () => {
  test("opens what it sealed, with a new nonce each time", () => {
    const cipher = new AesGcmCipher([old]);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string(), (secret, context) => {
        const sealed = cipher.seal(secret.toWellFormed(), context);
        expect(cipher.open(sealed, context)).toBe(secret.toWellFormed());
        expect(cipher.seal(secret.toWellFormed(), context)).not.toEqual(sealed);
      }),
    );
  });

  test("rejects a changed secret, another context, and a truncated value", () => {
    const cipher = new AesGcmCipher([old]);
    const sealed = cipher.seal(SECRET, "a#token");
    const [version, id, text = ""] = sealed.$sealed.split(".");
    const flipped = (text[20] === "A" ? "B" : "A") + text.slice(21);
    for (const [value, context] of [
      [sealed.$sealed, "b#token"],
      [`${version}.${id}.${text.slice(0, 20)}${flipped}`, "a#token"],
      [`${version}.${id}.${text.slice(0, 30)}`, "a#token"],
      [`${version}.${id}.`, "a#token"],
      [`v9.${id}.${text}`, "a#token"],
    ] as const) {
      expect(() => cipher.open({ $sealed: value }, context)).toThrow(
        expect.objectContaining({ code: "OAAS_STORE_VALUE_INVALID" }),
      );
    }
  });

  test("encrypts with the first key and decrypts with every key", () => {
    const sealed = new AesGcmCipher([old]).seal(SECRET, "c");
    const rotating = new AesGcmCipher([fresh, old]);
    expect(rotating.open(sealed, "c")).toBe(SECRET);
    expect(() => new AesGcmCipher([fresh]).open(sealed, "c")).toThrow(
      expect.objectContaining({ code: "OAAS_STORE_KEY_MISSING" }),
    );
    expect(new AesGcmCipher([fresh]).open(rotating.seal(SECRET, "c"), "c")).toBe(SECRET);
  });
});

describe("a key file", () => {
  const text = old.toString("base64");
  test.each([
    { case: "one key", file: `${text}\n`, keys: 1 },
    { case: "comments and empty lines", file: `# new\n${text} # since May\n\n${fresh.toString("hex")}\n`, keys: 2 },
    { case: "an environment variable with commas", file: `${text},${fresh.toString("base64url")}`, keys: 2 },
  ])("with $case is accepted", ({ file, keys }) => {
    expect(parseKeys(file)).toMatchObject({ ok: true, keys: { length: keys } });
  });

  test.each([
    { file: "", problem: "contains no key" },
    { file: `${text}\nshort`, problem: "line 2 is not a key of 32 bytes" },
    { file: "p@ssword", problem: "line 1 is not a key of 32 bytes" },
    { file: `${text}${text}`, problem: "line 1 is not a key of 32 bytes" },
  ])("is rejected without repeating it: $problem", ({ file, problem }) => {
    expect(parseKeys(file)).toEqual({ ok: false, problem });
  });
});

describe("a collection with secrets", () => {
  let store: KeyValueStore;
  beforeEach(() => {
    store = openMemoryStore({ ambient: virtualAmbient(1) });
  });
  const loginsWith = (...keys: readonly Buffer[]) =>
    new Collection(store, LOGINS, keys.length === 0 ? undefined : new AesGcmCipher(keys));

  test("stores only the secret field encrypted, with its key id", async () => {
    const created = await loginsWith(old).create("a", LOGIN);
    expect(created.record).toEqual(LOGIN);
    expect(LOGIN.credentials?.token, "the record is not changed").toBe(SECRET);
    const text = (await store.get("c/logins/a"))?.value ?? "";
    expect(text).not.toContain("s3cret");
    expect(text).toContain(`"user":"u"`);
    expect(text).toContain(new AesGcmCipher([old]).keyId);
    expect((await loginsWith(old).get("a"))?.record).toEqual(LOGIN);
  });

  test("never stores a secret in clear, and needs no key for records without one", async () => {
    await expect(loginsWith().create("a", LOGIN)).rejects.toMatchObject({ code: "OAAS_STORE_KEY_MISSING" });
    expect(await store.get("c/logins/a")).toBeUndefined();
    await loginsWith().create("b", { host: "h", credentials: { user: "u" } });
    await loginsWith().create("c", { host: "h" });
    expect((await loginsWith().list()).records.map(({ record }) => record.host)).toEqual(["h", "h"]);
  });

  test("does not open a secret that was copied to another record", async () => {
    await loginsWith(old).create("a", LOGIN);
    const value = (await store.get("c/logins/a"))?.value ?? "";
    await store.commit({ writes: [{ op: "put", key: "c/logins/b", value }] });
    const { records, unreadable } = await loginsWith(old).list();
    expect(records.map(({ id }) => id)).toEqual(["a"]);
    expect(unreadable).toMatchObject([{ id: "b", fault: { code: "OAAS_STORE_VALUE_INVALID" } }]);
  });

  test("reports a record without its key and keeps it unchanged", async () => {
    await loginsWith(old).create("a", LOGIN);
    const before = await store.get("c/logins/a");
    for (const logins of [loginsWith(), loginsWith(fresh)]) {
      expect(await logins.list()).toMatchObject({
        records: [],
        unreadable: [{ id: "a", fault: { code: "OAAS_STORE_KEY_MISSING" } }],
      });
      expect(await logins.refresh()).toBe(0);
    }
    expect(await store.get("c/logins/a")).toEqual(before);
  });

  test("encrypts again with the first key, once", async () => {
    await loginsWith(old).create("a", LOGIN);
    await store.commit({ writes: [{ op: "put", key: "c/logins/b", value: JSON.stringify({ v: 1, d: LOGIN }) }] });
    expect((await loginsWith().get("b"))?.source, "written by an earlier release").toMatchObject({
      hasClearSecret: true,
      outdated: false,
    });
    const rotating = loginsWith(fresh, old);
    expect(await rotating.refresh()).toBe(2);
    expect(await rotating.refresh()).toBe(0);
    const { records } = await loginsWith(fresh).list();
    expect(records.map(({ record }) => record)).toEqual([LOGIN, LOGIN]);
    expect(records.some(({ source }) => source.hasClearSecret)).toBe(false);
  });
});

describe("in a SQLite file", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "oaas-encryption-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test("no file contains a secret, also not one that was stored in clear before", async () => {
    const file = join(folder, "store.db");
    const clear = openSqliteStore({ ambient: realAmbient, file });
    await clear.commit({ writes: [{ op: "put", key: "c/logins/a", value: JSON.stringify({ v: 1, d: LOGIN }) }] });
    await clear.close();
    const contents = () => readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    expect(contents().join()).toContain("s3cret");
    const store = openSqliteStore({ ambient: realAmbient, file });
    expect(await new Collection(store, LOGINS, new AesGcmCipher([old])).refresh()).toBe(1);
    await store.close();
    expect(contents().join()).not.toContain("s3cret");
  });
});
