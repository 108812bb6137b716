import { err, ok } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterName } from "@oaas/models";
import { Collection } from "@oaas/storage";
import { AesGcmCipher, randomKey } from "@oaas/storage/encryption";
import { openMemoryStore } from "@oaas/storage/memory";
import { afterEach, describe, expect, it } from "vitest";
import { CLUSTERS, type StoredCluster } from "../stores/cluster-store.ts";
import type { ClusterRegistration } from "../use-cases.ts";
import { StoredClusterAdmin } from "./cluster-admin.ts";
import { ClusterRoster } from "./cluster-roster.ts";
import { ClusterReferences } from "./cluster-references.ts";

const call = { caller: "ann", correlationId: "c-1", reason: "more room" };

function registration(name: string, rest: Partial<ClusterRegistration> = {}): ClusterRegistration {
  return { name: name as ClusterName, url: `http://crm-${name}:8088`, labels: {}, retryAttempts: 3, ...rest };
}

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** Two managers on one store. */
async function managers(units = 0, abandoned = 0, canStoreTokens = true) {
  const ambient = virtualAmbient(1);
  const store = openMemoryStore({ ambient });
  open.push(store);
  const stored = new Collection<StoredCluster>(store, CLUSTERS, new AesGcmCipher([randomKey()]));
  const manager = async () => {
    const roster = new ClusterRoster({ configured: [registration("configured")], stored, ambient });
    await roster.start();
    open.push(roster);
    const references = new ClusterReferences({ store, roster, ambient });
    const deployments = {
      keysIn: (): readonly string[] => Array.from({ length: units }, (_, index) => `d${index}`),
      abandonRemovals: async (): Promise<number> => abandoned,
      reached: async () => undefined,
    };
    const files = {
      find: (name: string) => (name === "token" ? ok("/secrets/token") : err({ message: "leads out", fix: "" })),
    };
    const deps = { roster, stored, store, clock: ambient.clock, references, files, deployments, canStoreTokens };
    return { roster, references, deployments, admin: new StoredClusterAdmin(deps) };
  };
  return { store, stored, ambient, a: await manager(), b: await manager() };
}

describe("StoredClusterAdmin", () => {
  it("adds and removes a cluster in all processes on the store", async () => {
    const { a, b, stored, ambient } = await managers();
    const changed: string[] = [];
    b.roster.onChange((name) => changed.push(name));
    const entry = await a.admin.add(registration("edge", { token: "s3cret", timeoutSeconds: 2 }), call);
    expect(entry).toMatchObject({ name: "edge", origin: "api", timeoutMs: 2_000, tls: false });
    expect(JSON.stringify(entry)).not.toContain("s3cret");
    await ambient.time.advance(0);
    expect(changed).toEqual(["edge"]);
    expect(b.roster.registration("edge" as ClusterName)).toMatchObject({ token: "s3cret" });
    expect(b.roster.entries().map(({ name, origin }) => [name, origin])).toEqual([
      ["configured", "configuration"],
      ["edge", "api"],
    ]);
    expect((await stored.get("edge"))?.record).toMatchObject({ addedBy: "ann", reason: "more room" });
    await b.admin.remove("edge" as ClusterName);
    await ambient.time.advance(0);
    expect(a.roster.entry("edge" as ClusterName)).toBeUndefined();
    expect(changed).toEqual(["edge", "edge"]);
  });

  it("keeps the registration object until it changes", async () => {
    const { a, stored, ambient } = await managers();
    await a.admin.add(registration("edge"), call);
    const before = a.roster.registration("edge" as ClusterName);
    await stored.modify("edge", (record) => ({ ...record, addedBy: "bob" }));
    await ambient.time.advance(0);
    expect(a.roster.registration("edge" as ClusterName)).toBe(before);
  });

  const refusals: { name: string; cluster: ClusterRegistration; kind: string; path?: string }[] = [
    { name: "an existing name", cluster: registration("edge"), kind: "already-exists" },
    { name: "a configured name", cluster: registration("configured"), kind: "already-exists" },
    { name: "an invalid name", cluster: registration("-"), kind: "invalid-argument", path: "$.name" },
    { name: "an invalid URL", cluster: registration("x", { url: "crm:80" }), kind: "invalid-argument", path: "$.url" },
    {
      name: "TLS settings for an http:// URL",
      cluster: registration("x", { tls: { caFile: "token", insecure: false } }),
      kind: "invalid-argument",
      path: "$.tls",
    },
    { name: "a reserved name", cluster: registration("health"), kind: "invalid-argument", path: "$.name" },
    {
      name: "a token file outside the secrets folder",
      cluster: registration("x", { tokenFile: "/etc/passwd" }),
      kind: "invalid-argument",
      path: "$.api_key_file",
    },
    {
      name: "a key file outside the secrets folder",
      cluster: registration("x", {
        url: "https://crm",
        tls: { certificateFile: "token", keyFile: "/etc/key", insecure: false },
      }),
      kind: "invalid-argument",
      path: "$.tls.client_key",
    },
    {
      name: "a promised availability of tomorrow",
      cluster: registration("x", {
        availability: { value: 0.999, weightHours: 168, source: "contract", date: "2999-12-31" },
      }),
      kind: "invalid-argument",
      path: "$.availability.date",
    },
    {
      name: "the address of another cluster",
      cluster: registration("a", { url: "http://CRM-configured:8088/" }),
      kind: "invalid-argument",
      path: "$.url",
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

  it("refuses a token without an encrypted store, and accepts a token file", async () => {
    const { a, stored } = await managers(0, 0, false);
    await expect(a.admin.add(registration("edge", { token: "s3cret" }), call)).rejects.toMatchObject({
      detail: {
        violations: [
          { path: "$.api_key", fix: expect.stringMatching(/STORAGE_ENCRYPTION_KEY_FILE.*api_key_file/) as string },
        ],
      },
    });
    expect((await stored.list()).records).toEqual([]);
    await a.admin.add(registration("edge", { tokenFile: "token" }), call);
  });

  it("keeps a cluster whose record another process encrypted with an unknown key", async () => {
    const { a, stored, store, ambient } = await managers();
    await a.admin.add(registration("edge", { token: "s3cret" }), call);
    const other = new Collection<StoredCluster>(store, CLUSTERS, new AesGcmCipher([randomKey()]));
    const found = await stored.get("edge");
    await store.commit(other.stageUpdate(found!, found!.record));
    await ambient.time.advance(0);
    expect(a.roster.registration("edge" as ClusterName)).toMatchObject({ token: "s3cret" });
  });

  it("stores the resolved path of a file", async () => {
    const { a } = await managers();
    await a.admin.add(registration("edge", { tokenFile: "token" }), call);
    expect(a.roster.registration("edge" as ClusterName)).toMatchObject({ tokenFile: "/secrets/token" });
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

it("abandons removals in a cluster that is not configured any more", async () => {
  const { a } = await managers(0, 1);
  await expect(a.admin.remove("nowhere" as ClusterName)).resolves.toBeUndefined();
});

describe("ClusterReferences", () => {
  const edge = "edge" as ClusterName;

  it("rejects a reference to a cluster that was removed in between", async () => {
    const { a, b, store, ambient } = await managers();
    await a.admin.add(registration("edge"), call);
    await ambient.time.advance(0);
    const reference = await b.references.stageReference([edge]);
    await a.admin.remove(edge);
    await expect(store.commit(reference)).rejects.toMatchObject({ detail: { kind: "conflict" } });
    await expect(b.references.stageReference([edge])).rejects.toThrow('cluster "edge" is not registered any more');
  });

  it("rejects a removal when a deployment was placed in between", async () => {
    const { a, b, store, stored, ambient } = await managers();
    await a.admin.add(registration("edge"), call);
    await ambient.time.advance(0);
    const reference = await b.references.stageReference([edge]);
    const counts: string[][] = [];
    a.deployments.keysIn = () => {
      // A concurrent placement between the first count and the write of the removal.
      if (counts.push(counts.length === 0 ? [] : ["orders"]) === 1) placing = store.commit(reference);
      return counts.at(-1) ?? [];
    };
    let placing: Promise<unknown> | undefined;
    await expect(a.admin.remove(edge)).rejects.toThrow('1 deployment has a unit in cluster "edge"');
    await placing;
    expect(counts).toHaveLength(2);
    expect(await stored.get("edge")).toBeDefined();
  });

  it("writes nothing for configured clusters", async () => {
    const { a } = await managers();
    expect(await a.references.stageReference(["configured" as ClusterName])).toEqual({ writes: [] });
  });
});
