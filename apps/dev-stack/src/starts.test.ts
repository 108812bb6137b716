import { virtualAmbient } from "@oaas/foundation/virtual";
import { openMemoryStore } from "@oaas/storage/memory";
import { expect, test } from "vitest";
import { countStart } from "./starts.ts";

const at = (ms: number) => ({ now: () => ms, monotonic: () => ms });

test("starts are counted, and the last one is known", async () => {
  const store = openMemoryStore({ ambient: virtualAmbient(1) });
  expect(await countStart(store, at(1_000), "1.0.0")).toEqual({
    count: 1,
    previousAt: undefined,
    clockWentBack: false,
  });
  expect(await countStart(store, at(2_000), "1.0.0")).toMatchObject({ count: 2, clockWentBack: false });
});

test("a clock that was set back is noticed, and the start goes on", async () => {
  const store = openMemoryStore({ ambient: virtualAmbient(1) });
  await countStart(store, at(5_000), "1.0.0");
  expect(await countStart(store, at(4_000), "1.0.0")).toMatchObject({ count: 2, clockWentBack: true });
});

test("data of a newer stack is refused by its version, and left alone", async () => {
  const store = openMemoryStore({ ambient: virtualAmbient(1) });
  const newer = JSON.stringify({ count: 9, at: "2026-01-01T00:00:00.000Z", format: 2, version: "9.1.0" });
  await store.commit({ writes: [{ op: "put", key: "dev-stack/starts", value: newer }] });
  await expect(countStart(store, at(1), "1.0.0")).rejects.toMatchObject({
    code: "OAAS_STORE_NEWER_SCHEMA",
    message: expect.stringContaining("version 9.1.0 (format 2); this is version 1.0.0") as string,
  });
  expect((await store.get("dev-stack/starts"))?.value).toBe(newer);
});
