import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterName } from "@oaas/models";
import { Collection } from "@oaas/storage";
import { openMemoryStore } from "@oaas/storage/memory";
import { afterEach, describe, expect, it } from "vitest";
import { CLUSTERS, type StoredCluster } from "../adapters/store/cluster-store.ts";
import type { ClusterRegistration } from "../use-cases.ts";
import { StoredClusterAdmin } from "./cluster-admin.ts";
import { ClusterRoster } from "./cluster-roster.ts";

const call = { caller: "ann", correlationId: "c-1", reason: "more room" };

function registration(name: string, rest: Partial<ClusterRegistration> = {}): ClusterRegistration {
  return { name: name as ClusterName, url: "http://crm:8088", labels: {}, retryAttempts: 3, ...rest };
}

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** Two managers on one store. */
async function managers(units = 0) {
  const ambient = virtualAmbient(1);
  const store = openMemoryStore({ ambient });
  open.push(store);
  const stored = new Collection<StoredCluster>(store, CLUSTERS);
  const manager = async () => {
    const roster = new ClusterRoster({ configured: [registration("configured")], stored, ambient });
    await roster.start();
    open.push(roster);
    const countInCluster = () => Promise.resolve(units);
    return { roster, admin: new StoredClusterAdmin({ roster, stored, clock: ambient.clock, countInCluster }) };
  };
  return { stored, ambient, a: await manager(), b: await manager() };
}

describe("adding and removing clusters", () => {
  it("shows an added cluster here at once and in the other manager soon, and again after a restart", async () => {
    const { a, b, stored, ambient } = await managers();
    const told: string[] = [];
    b.roster.onChange((name) => told.push(name));
    const entry = await a.admin.add(registration("edge", { token: "s3cret", timeoutSeconds: 2 }), call);
    expect(entry).toMatchObject({ name: "edge", origin: "api", timeoutMs: 2_000, tls: false });
    expect(JSON.stringify(entry)).not.toContain("s3cret");
    await ambient.time.advance(0);
    expect(told).toEqual(["edge"]);
    expect(b.roster.registration("edge" as ClusterName)).toMatchObject({ token: "s3cret" });
    expect(b.roster.entries().map(({ name, origin }) => [name, origin])).toEqual([
      ["configured", "configuration"],
      ["edge", "api"],
    ]);
    expect((await stored.get("edge"))?.record).toMatchObject({ addedBy: "ann", reason: "more room" });
    await b.admin.remove("edge" as ClusterName);
    await ambient.time.advance(0);
    expect(a.roster.entry("edge" as ClusterName)).toBeUndefined();
    expect(told).toEqual(["edge", "edge"]);
  });

  it("keeps the same registration while nothing changed, so that its connection stays", async () => {
    const { a, stored, ambient } = await managers();
    await a.admin.add(registration("edge"), call);
    const before = a.roster.registration("edge" as ClusterName);
    await stored.modify("edge", (record) => ({ ...record, addedBy: "bob" }));
    await ambient.time.advance(0);
    expect(a.roster.registration("edge" as ClusterName)).toBe(before);
  });

  const refusals: { name: string; cluster: ClusterRegistration; kind: string; path?: string }[] = [
    { name: "a name that is taken", cluster: registration("edge"), kind: "already-exists" },
    { name: "a name of the configuration", cluster: registration("configured"), kind: "already-exists" },
    { name: "a name that is none", cluster: registration("-"), kind: "invalid-argument", path: "$.name" },
    { name: "no address", cluster: registration("x", { url: "crm:80" }), kind: "invalid-argument", path: "$.url" },
    {
      name: "TLS without TLS",
      cluster: registration("x", { tls: { caFile: "/ca", insecure: false } }),
      kind: "invalid-argument",
      path: "$.tls",
    },
  ];
  it.each(refusals)("refuses $name", async ({ cluster, kind, path }) => {
    const { a, stored } = await managers();
    await a.admin.add(registration("edge"), call);
    await expect(a.admin.add(cluster, call)).rejects.toMatchObject({
      detail: { kind, ...(path === undefined ? {} : { violations: [{ path }] }) },
    });
    expect((await stored.list()).records).toHaveLength(1);
  });

  it("refuses to remove a configured, an unknown, or a used cluster", async () => {
    const { a } = await managers(2);
    await a.admin.add(registration("edge"), call);
    const remove = (name: string) => a.admin.remove(name as ClusterName);
    await expect(remove("configured")).rejects.toMatchObject({ detail: { kind: "failed-precondition" } });
    await expect(remove("nowhere")).rejects.toMatchObject({ detail: { kind: "not-found", resource: "cluster" } });
    await expect(remove("edge")).rejects.toThrow('2 deployments have units in cluster "edge"');
  });
});
