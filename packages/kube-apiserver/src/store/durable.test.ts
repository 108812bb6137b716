import { unavailable, type Result } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { ok } from "@oaas/foundation";
import type { KeyValueStore } from "@oaas/storage";
import { openMemoryStore } from "@oaas/storage/memory";
import { describe, expect, test } from "vitest";
import type { JsonObject, Status } from "@oaas/kube-core";
import { KeyValueJournal } from "./key-value-journal.ts";
import { ObjectStore, type Written } from "./object-store.ts";

const KIND = "configmaps";

function object(name: string, data: number): JsonObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" }, data: { x: String(data) } };
}

function put(store: ObjectStore, name: string, data: number): Promise<Result<Written, Status>> {
  return store.write(KIND, `default/${name}`, () => ok({ put: object(name, data) }));
}

async function opened(store: KeyValueStore, seed = 1) {
  const { timers } = virtualAmbient(seed);
  const objects = new ObjectStore({ journal: new KeyValueJournal({ store, timers }) });
  await objects.load();
  return objects;
}

function contents(store: ObjectStore): readonly string[] {
  return [...store.objects(KIND).from("")].map(
    ({ key, object: one }) =>
      `${key}=${JSON.stringify(one["data"])}@${(one["metadata"] as { readonly resourceVersion: string }).resourceVersion}`,
  );
}

/** A store whose commits can fail: before they are applied, or after, with a lost response. */
function flaky(store: KeyValueStore, outcome: () => "fine" | "refused" | "lost"): KeyValueStore {
  return new Proxy(store, {
    get: (target, name) => {
      if (name !== "commit") return Reflect.get(target, name).bind(target);
      return async (...args: Parameters<KeyValueStore["commit"]>) => {
        const what = outcome();
        if (what === "refused") throw unavailable("the store", "store is unavailable");
        const result = await target.commit(...args);
        if (what === "lost") throw unavailable("the store", "no answer", { context: { outcomeUnknown: true } });
        return result;
      };
    },
  });
}

describe("objects on the key-value port", () => {
  test("survive a restart, and versions continue after it, also after a deletion", async () => {
    const { ...ambient } = virtualAmbient(1);
    const store = openMemoryStore({ ambient });
    const before = await opened(store);
    await Promise.all(["a", "b", "c"].map((name, index) => put(before, name, index)));
    await before.write(KIND, "default/b", () => ok({ remove: true }));
    const after = await opened(store);
    expect(contents(after)).toEqual(contents(before));
    expect(after.revision).toBe(before.revision);
    const written = await put(after, "d", 4);
    expect(written.ok && written.value.stored?.revision).toBe(before.revision + 1);
  });

  test("concurrent writes share a transaction and become visible only when durable", async () => {
    const ambient = virtualAmbient(1);
    let commits = 0;
    const store = flaky(openMemoryStore({ ambient }), () => {
      commits += 1;
      return "fine";
    });
    const objects = await opened(store);
    const writes = Array.from({ length: 50 }, (_, index) => put(objects, `n${index}`, index));
    expect(contents(objects), "nothing is visible yet").toEqual([]);
    await Promise.all(writes);
    expect(objects.objects(KIND).size).toBe(50);
    expect(commits).toBe(1);
  });

  test("a rejected write leaves no trace; a write with a lost response is detected", async () => {
    const ambient = virtualAmbient(1);
    const inner = openMemoryStore({ ambient });
    let outcome: "fine" | "refused" | "lost" = "fine";
    const objects = await opened(flaky(inner, () => outcome));
    await put(objects, "a", 1);
    outcome = "refused";
    expect(await put(objects, "a", 2)).toMatchObject({ ok: false, error: { code: 500 } });
    outcome = "lost";
    expect(await put(objects, "a", 3)).toMatchObject({ ok: true });
    outcome = "fine";
    expect(await put(objects, "b", 4)).toMatchObject({ ok: true });
    expect(contents(await opened(inner))).toEqual(contents(objects));
  });

  test("two writes of one key run one after the other, each on the result of the previous", async () => {
    const ambient = virtualAmbient(1);
    const objects = await opened(openMemoryStore({ ambient }));
    const add = (): Promise<Result<Written, Status>> =>
      objects.write(KIND, "default/a", (live) => {
        const before = Number(((live?.object["data"] ?? {}) as JsonObject)["x"] ?? 0);
        return ok({ put: object("a", before + 1) });
      });
    await Promise.all(Array.from({ length: 20 }, add));
    expect(contents(objects)[0]).toMatch(/"x":"20"/);
  });

  test("a second server on the same prefix cannot write undetected", async () => {
    const ambient = virtualAmbient(1);
    const store = openMemoryStore({ ambient });
    const [first, second] = [await opened(store), await opened(store)];
    expect(await put(first, "a", 1)).toMatchObject({ ok: true });
    expect(await put(second, "b", 1)).toMatchObject({ ok: false, error: { code: 500 } });
  });
});
