import { describe, expect } from "vitest";
import { acquire, type Ownership } from "../leases/ownership.ts";
import type { KeyValueStore } from "../port/key-value-store.ts";
import type { SuiteOptions } from "./kv-suite.ts";
import { testWith } from "./using.ts";
import { until } from "./waiting.ts";

/** Cases of leases, ownership and fencing. */
export function leaseCases(options: SuiteOptions): void {
  const testStore = testWith(options);
  const { leaseMs } = options;

  // Concurrent, each with its own store, because they mostly wait on a real clock.
  describe.concurrent("time-bound", () => {
    describe("leases", () => {
      testStore(
        "a lease without renewal ends: first its owner is notified, then its keys are deleted",
        async ({ store, elapse }) => {
          const lease = await store.grantLease({ ttlMs: leaseMs, keepAlive: false });
          await putOn(store, "k", lease.id);
          expect((await store.get("k"))?.lease).toBe(lease.id);
          lease.assertHeld();
          let knownWhenGone: boolean | undefined;
          const onGone = async (): Promise<boolean> => {
            if ((await store.get("k")) !== undefined) return false;
            knownWhenGone = lease.lost.aborted;
            return true;
          };
          await until(elapse, "the key is gone", onGone);
          expect(knownWhenGone).toBe(true);
          expect(() => lease.assertHeld()).toThrow(expect.objectContaining({ code: "OAAS_LEASE_LOST" }));
        },
      );

      testStore("a renewed lease outlives its time to live", async ({ store, elapse }) => {
        const lease = await store.grantLease({ ttlMs: leaseMs });
        await putOn(store, "k", lease.id);
        for (let passed = 0; passed < leaseMs * 2.5; passed += 100) await elapse(100);
        lease.assertHeld();
        expect((await store.get("k"))?.lease).toBe(lease.id);
        await lease.revoke();
      });

      testStore("revoking deletes exactly its keys in one transaction", async ({ store }) => {
        const lease = await store.grantLease({ ttlMs: leaseMs * 5 });
        await putOn(store, "a", lease.id);
        await putOn(store, "b", lease.id);
        await putOn(store, "freed", lease.id);
        await store.commit({ writes: [{ op: "put", key: "freed", value: "mine no more" }] });
        await store.commit({ writes: [{ op: "put", key: "c", value: "" }] });
        await lease.revoke();
        await lease.revoke();
        expect(lease.lost.aborted).toBe(true);
        expect((await store.range({ prefix: "" })).entries.map((entry) => entry.key)).toEqual(["c", "freed"]);
        await expect(putOn(store, "late", lease.id)).rejects.toMatchObject({ code: "OAAS_LEASE_LOST" });
        expect(await store.get("late")).toBeUndefined();
      });

      testStore("a closed client loses its lease and is notified", async ({ store, connect, elapse }) => {
        const other = await connect();
        const lease = await other.grantLease({ ttlMs: leaseMs });
        await putOn(other, "k", lease.id);
        await other.close();
        expect(lease.lost.reason).toMatchObject({ code: "OAAS_LEASE_LOST" });
        await until(elapse, "the key is gone", async () => (await store.get("k")) === undefined);
      });

      testStore("rejects an invalid time to live", async ({ store }) => {
        await expect(store.grantLease({ ttlMs: 0 })).rejects.toMatchObject({ kind: "invalid-argument" });
      });
    });

    describe("ownership", () => {
      testStore("has one owner at a time, and the token grows", async ({ store, connect }) => {
        const other = await connect();
        const first = await owned(store, "one", leaseMs);
        expect(await acquire(other, { key: "owner", owner: "two", ttlMs: leaseMs })).toMatchObject({
          owned: false,
          by: { value: "one" },
        });
        await first.release();
        const second = await owned(other, "two", leaseMs);
        expect(second.token).toBeGreaterThan(first.token);
        await second.release();
      });

      testStore("the store rejects a late commit of a former owner", async ({ store, connect, elapse }) => {
        const dying = await connect();
        const before = await owned(dying, "one", leaseMs);
        await store.commit({ conditions: [before.fence], writes: [{ op: "put", key: "work", value: "by one" }] });
        await dying.close();
        await until(elapse, "the key is free", async () => (await store.get("owner")) === undefined);
        const after = await owned(store, "two", leaseMs);
        const late = store.commit({ conditions: [before.fence], writes: [{ op: "put", key: "work", value: "late" }] });
        await expect(late).rejects.toMatchObject({ kind: "conflict" });
        await store.commit({ conditions: [after.fence], writes: [{ op: "put", key: "work", value: "by two" }] });
        expect((await store.get("work"))?.value).toBe("by two");
        await after.release();
      });
    });
  });
}

async function owned(store: KeyValueStore, owner: string, ttlMs: number): Promise<Ownership> {
  const acquired = await acquire(store, { key: "owner", owner, ttlMs });
  if (!acquired.owned) throw new Error(`owned by ${acquired.by?.value}`);
  return acquired.ownership;
}

async function putOn(store: KeyValueStore, key: string, lease: string): Promise<void> {
  await store.commit({ writes: [{ op: "put", key, value: "leased", lease }] });
}
