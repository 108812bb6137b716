import path from "node:path";
import { realAmbient } from "@oaas/foundation/real";
import type { KeyValueStore } from "@oaas/storage";
import { openEtcdStore } from "@oaas/storage/etcd";
import { openMemoryStore } from "@oaas/storage/memory";
import { randomKey } from "@oaas/storage/encryption";
import { openSqliteStore } from "@oaas/storage/sqlite";
import {
  describeWith,
  eventually,
  makeRunFolder,
  startEtcd,
  startTcpProxy,
  type EtcdUnderTest,
  type RunFolder,
} from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { echoPackage, recordVersions, startPm, type PmUnderTest } from "./running-pm.ts";

const ambient = realAmbient;

describeWith(["etcd"], "stores", () => {
  let folder: RunFolder;
  let etcd: EtcdUnderTest;
  beforeAll(async () => {
    [folder, etcd] = await Promise.all([makeRunFolder("pm-stores"), startEtcd()]);
  });
  afterAll(async () => {
    await etcd.close();
    await folder.remove();
  });

  const STORES: readonly { readonly name: string; readonly open: () => KeyValueStore }[] = [
    { name: "memory", open: () => openMemoryStore({ ambient }) },
    { name: "sqlite", open: () => openSqliteStore({ ambient, file: path.join(folder.path, "pm.db") }) },
    { name: "etcd", open: () => openEtcdStore({ ambient, endpoints: etcd.endpoints, keyPrefix: "/oaas/suite/" }) },
  ];

  describe("the same over every store", () => {
    describe.each(STORES)("$name", ({ open }) => {
      let store: KeyValueStore;
      let crm: ScriptedCrm;
      let pm: PmUnderTest;
      beforeAll(async () => {
        store = open();
        crm = await ScriptedCrm.start({ name: "east" });
        pm = await startPm({ store, clusters: { east: crm.url }, env: { DEPLOY_WAIT: "20s" } });
      });
      afterAll(async () => {
        await pm.close();
        await store.close();
        await crm.close();
      });
      const deployment = { key: "echo", package_name: "shop", class_key: "Echo", target_clusters: ["east"] };

      test("cluster tokens: encrypted, encrypted again with a new key, and never stored without one", async () => {
        const [first, second] = [randomKey().toString("base64"), randomKey().toString("base64")];
        const withKeys = (...keys: readonly string[]) =>
          startPm({
            store,
            env: { STORAGE_TYPE: "sqlite", ...(keys.length === 0 ? {} : { STORAGE_ENCRYPTION_KEY: keys.join("\n") }) },
          });
        const textOf = async () => (await store.get("c/clusters/vault"))?.value ?? "";
        const body = { name: "vault", url: "http://127.0.0.1:1", api_key: "s3cret-token" };
        {
          await using pm = await withKeys();
          expect(await pm.call("POST", "/api/v1/clusters", { body })).toMatchObject({
            status: 400,
            json: { violations: [{ path: "$.api_key", fix: expect.stringContaining("STORAGE_ENCRYPTION_KEY_FILE") }] },
          });
          expect(await textOf()).toBe("");
        }
        {
          await using pm = await withKeys(first);
          expect((await pm.call("POST", "/api/v1/clusters", { body })).status).toBe(201);
        }
        const sealed = await textOf();
        expect(sealed).toContain("$sealed");
        expect(sealed).not.toContain("s3cret");
        for (const keys of [[], [second]]) {
          await expect(withKeys(...keys)).rejects.toMatchObject({
            code: "OAAS_STORE_KEY_MISSING",
            message: expect.stringMatching(/^STORAGE_ENCRYPTION_KEY_FILE: .*vault.*Nothing was changed$/) as string,
          });
          expect(await textOf()).toBe(sealed);
        }
        await (await withKeys(second, first)).close();
        expect(await textOf()).not.toBe(sealed);
        await using pm = await withKeys(second);
        expect((await pm.call("GET", "/api/v1/clusters/vault")).status).toBe(200);
        expect((await pm.call("DELETE", "/api/v1/clusters/vault")).status).toBe(204);
      });

      test("cluster tokens of earlier releases: used with a warning, and encrypted once there is a key", async () => {
        const registration = { name: "old", url: "http://127.0.0.1:2", labels: {}, retryAttempts: 1, token: "s3cret" };
        const value = JSON.stringify({ v: 1, d: { registration, addedBy: "ann", addedAt: "2026-01-01T00:00:00Z" } });
        await store.commit({ writes: [{ op: "put", key: "c/clusters/old", value }] });
        const warningsOf = async (pm: PmUnderTest) => ((await pm.call("GET", "/health")).json.warnings ?? []).join();
        {
          await using pm = await startPm({ store, env: { STORAGE_TYPE: "sqlite" } });
          expect(await warningsOf(pm)).toContain("the token of cluster old is stored in clear");
          expect((await store.get("c/clusters/old"))?.value).toBe(value);
        }
        const key = randomKey().toString("base64");
        await using pm = await startPm({ store, env: { STORAGE_TYPE: "sqlite", STORAGE_ENCRYPTION_KEY: key } });
        expect(await warningsOf(pm)).not.toContain("in clear");
        expect((await store.get("c/clusters/old"))?.value).not.toContain("s3cret");
        expect((await pm.call("DELETE", "/api/v1/clusters/old")).status).toBe(204);
      });

      test("packages: versions, history, rejections without effect, pages", async () => {
        const created = await pm.call("POST", "/api/v1/packages", { body: echoPackage("shop") });
        expect(created.status).toBe(201);
        expect((await pm.call("POST", "/api/v1/packages", { body: echoPackage("shop") })).status).toBe(409);
        const etag = (await pm.call("GET", "/api/v1/packages/shop")).headers.get("etag") as string;
        const change = { body: echoPackage("shop", { version: "2" }), headers: { "if-match": etag } };
        expect((await pm.call("POST", "/api/v1/packages/shop", change)).status).toBe(200);
        const before = await recordVersions(store);
        expect((await pm.call("POST", "/api/v1/packages/shop", change)).status).toBe(412);
        expect((await pm.call("POST", "/api/v1/packages", { body: { name: "bad name" } })).status).toBe(400);
        expect(await recordVersions(store)).toEqual(before);
        expect((await pm.call("POST", "/api/v1/packages/shop/rollback", { body: { revision: 1 } })).status).toBe(200);
        const history = await pm.call("GET", "/api/v1/packages/shop/revisions");
        expect(history.json.map((each: { revision: number }) => each.revision)).toEqual([3, 2, 1]);
        const page = await pm.call("GET", "/api/v1/packages?limit=1");
        expect([page.json.length, page.headers.get("x-total-count")]).toEqual([1, "1"]);
      });

      test("deployments: plan, apply, repeat, history, delete, idempotency key", async () => {
        const plan = await pm.call("POST", "/api/v1/plans", { body: { deployment: deployment } });
        const once = { body: { ...deployment, plan_digest: plan.json.digest }, headers: { "idempotency-key": "k" } };
        expect((await pm.call("POST", "/api/v1/deployments", once)).status).toBe(200);
        const replayed = await pm.call("POST", "/api/v1/deployments", once);
        expect([replayed.status, replayed.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
        expect(crm.units.size).toBe(1);
        expect((await pm.call("POST", "/api/v1/deployments", { body: deployment })).json.status).toBe("unchanged");
        const isRecorded = async () =>
          expect((await pm.call("GET", "/api/v1/deployments/echo/revisions")).json).toMatchObject([
            { outcome: "Running", outcome_at: expect.any(String) },
          ]);
        await eventually(isRecorded, { what: "the outcome of the revision" });
        expect((await pm.call("DELETE", "/api/v1/packages/shop")).status).toBe(400);
        expect((await pm.call("DELETE", "/api/v1/deployments/echo")).status).toBe(200);
        expect(crm.units.size).toBe(0);
        expect((await pm.call("DELETE", "/api/v1/packages/shop")).status).toBe(204);
      });

      test("another package manager finds everything in the same store", async () => {
        await pm.call("POST", "/api/v1/packages", { body: echoPackage("kept") });
        await using other = await startPm({ store });
        expect((await other.call("GET", "/api/v1/packages")).json).toEqual(
          (await pm.call("GET", "/api/v1/packages")).json,
        );
      });
    });
  });

  describe("a failing store", () => {
    test("etcd unavailable: 503 with retry-after, no partial write, and recovery", async () => {
      const proxy = await startTcpProxy(Number(new URL(etcd.endpoints[0] as string).port));
      const store = openEtcdStore({
        ambient,
        endpoints: [`http://127.0.0.1:${proxy.port}`],
        keyPrefix: "/oaas/gone/",
        timeoutMs: 1_000,
      });
      const pm = await startPm({ store });
      const post = (name: string) => pm.call("POST", "/api/v1/packages", { body: echoPackage(name) });
      expect((await post("before")).status).toBe(201);
      proxy.set("reset");
      const refused = await post("during");
      expect(refused).toMatchObject({ status: 503, json: { retryable: true } });
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect((await pm.call("GET", "/health")).status).toBe(503);
      expect(await pm.call("GET", "/readyz")).toMatchObject({
        status: 503,
        json: { ready: false, checks: { storage: { ok: false } } },
      });
      proxy.set("pass");
      await eventually(async () => (await pm.call("GET", "/health")).status === 200, { timeoutMs: 60_000 });
      expect((await pm.call("GET", "/api/v1/packages/during")).status).toBe(404);
      await eventually(async () => (await post("after")).status === 201, { timeoutMs: 60_000 });
      const names = (await pm.call("GET", "/api/v1/packages")).json.map((each: { name: string }) => each.name);
      expect(names).toEqual(["after", "before"]);
      await pm.close();
      await store.close();
      await proxy.close();
    });

    test("a full disk: 503, reads work, no partial write", async () => {
      const file = path.join(folder.path, "full.db");
      const store = openSqliteStore({ ambient, file, maxBytes: 400_000 });
      const pm = await startPm({ store });
      const body = (at: number) => echoPackage(`p-${at}`, { metadata: { description: "x".repeat(20_000) } });
      let stored = 0;
      let last = await pm.call("POST", "/api/v1/packages", { body: body(stored) });
      for (
        ;
        last.status === 201 && stored < 100;
        last = await pm.call("POST", "/api/v1/packages", { body: body(stored) })
      ) {
        stored += 1;
      }
      expect(last, last.text).toMatchObject({ status: 503, json: { code: "OAAS_STORE_FULL" } });
      expect(last.headers.get("retry-after")).toMatch(/^\d+$/);
      expect((await pm.call("GET", `/api/v1/packages/p-${stored}`)).status).toBe(404);
      expect((await pm.call("GET", "/api/v1/packages")).json).toHaveLength(stored);
      expect((await pm.call("GET", "/api/v1/packages/p-0/revisions")).json).toHaveLength(1);
      await pm.close();
      await store.close();
    });
  });
});
