import { virtualAmbient } from "@oaas/foundation/virtual";
import type { KubeObject } from "@oaas/kube-core";
import { expect, test } from "vitest";
import { KubeClient } from "../client/kube-client.ts";
import { resourceType } from "../client/resource-type.ts";
import { scriptedTransport } from "../testing/scripted-transport.ts";
import { InformerPool } from "./informer-pool.ts";

const THINGS = resourceType<KubeObject>({
  group: "",
  version: "v1",
  kind: "Thing",
  resource: "things",
  namespaced: true,
});

const thing = (namespace: string, name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { namespace, name, uid: `${namespace}-${name}`, resourceVersion: "1" },
});

/** A server with one object in each namespace. Forbidden namespaces respond with 403 until granted. */
function setUp(forbidden: ReadonlySet<string> = new Set()) {
  const ambient = virtualAmbient(3);
  const denied = new Set(forbidden);
  const transport = scriptedTransport(({ path }) => {
    const namespace = /namespaces\/([a-z]+)\//.exec(path)?.[1] ?? "";
    if (denied.has(namespace)) {
      const message = `things is forbidden in ${namespace}`;
      return { status: 403, body: { kind: "Status", status: "Failure", reason: "Forbidden", code: 403, message } };
    }
    if (/[?&]watch=/.test(path)) return "hang";
    return {
      status: 200,
      body: { kind: "ThingList", metadata: { resourceVersion: "1" }, items: [thing(namespace, "x")] },
    };
  });
  const pool = new InformerPool(new KubeClient({ transport, ambient }), { ambient, watch: { streamingList: false } });
  return { pool, transport, time: ambient.time, grant: (namespace: string) => denied.delete(namespace) };
}

test("merges several namespaces into one view without cluster-wide requests", async () => {
  const { pool, transport, time } = setUp();
  const first = ({ metadata }: KubeObject): string[] => [(metadata.name ?? "").charAt(0)];
  const view = pool.view(THINGS, ["a", "b"], {}, { indexes: { first } });
  const events: string[] = [];
  const end = view.onChange(({ type, object }) => events.push(`${type} ${object.metadata.namespace}`));
  expect(view.isSynced).toBe(false);
  pool.start();
  await time.advance(10);
  await pool.synced();
  expect([view.isSynced, view.fault, view.cache.size]).toEqual([true, undefined, 2]);
  expect(events).toEqual(["added a", "added b"]);
  expect([...view.cache.list()].length).toBe(2);
  expect([...view.cache.list("b")].map(({ metadata }) => metadata.namespace)).toEqual(["b"]);
  expect([...view.cache.list("c")]).toEqual([]);
  expect(view.cache.byIndex("first", "x").length).toBe(2);
  expect([view.get({ namespace: "a", name: "x" })?.metadata.uid, view.get({ namespace: "c", name: "x" })]).toEqual([
    "a-x",
    undefined,
  ]);
  expect(transport.sent.every(({ path }) => path.includes("/namespaces/"))).toBe(true);
  end();
  await pool.release(THINGS, ["a", "b"]);
  expect([pool.unsynced, time.pendingTimers]).toEqual([[], 0]);
  await pool.stop();
});

test("uses a plain informer for one namespace and for all namespaces", async () => {
  const { pool } = setUp();
  expect(pool.view(THINGS, ["a"])).toBe(pool.informer(THINGS, { namespace: "a" }));
  expect(pool.view(THINGS, undefined)).toBe(pool.informer(THINGS));
  const before = pool.informer(THINGS, { namespace: "a" });
  await pool.release(THINGS, ["a"]);
  expect(pool.informer(THINGS, { namespace: "a" })).not.toBe(before);
});

test("does not wait for an optional forbidden namespace, reports it, and reads it once granted", async () => {
  const { pool, time, grant } = setUp(new Set(["b"]));
  const view = pool.view(THINGS, ["a", "b"], {}, { isOptional: true });
  pool.start();
  await time.advance(10);
  await pool.synced();
  expect([view.isSynced, view.fault?.kind, pool.unsynced]).toEqual([false, "permission-denied", []]);
  expect([view.faultIn("a"), view.faultIn("b")?.kind]).toEqual([undefined, "permission-denied"]);
  expect(pool.forbidden.map(({ informer, fault }) => [informer.includes("b"), fault.message])).toEqual([
    [true, expect.stringContaining("forbidden in b") as string],
  ]);
  grant("b");
  await time.advance(60_000);
  expect([view.isSynced, view.cache.size, pool.forbidden]).toEqual([true, 2, []]);
  await pool.stop();
});

test("waits for a required forbidden namespace", async () => {
  const { pool, time } = setUp(new Set(["b"]));
  pool.view(THINGS, ["b"]);
  pool.start();
  let synced = false;
  pool.synced().then(
    () => (synced = true),
    () => undefined,
  );
  await time.advance(1_000);
  expect([synced, pool.unsynced.length, pool.forbidden]).toEqual([false, 1, []]);
  await pool.stop();
});
