import { virtualAmbient } from "@oaas/foundation/virtual";
import { openMemoryStore } from "@oaas/storage/memory";
import { expect, test } from "vitest";
import { countStart } from "./start-counter.ts";

const at = (ms: number) => ({ now: () => ms, monotonic: () => ms });

test("counts starts and returns the previous one", async () => {
  const store = openMemoryStore({ ambient: virtualAmbient(1) });
  expect(await countStart(store, at(1_000), "1.0.0")).toEqual({
    count: 1,
    previousAt: undefined,
    clockWentBack: false,
  });
  expect(await countStart(store, at(2_000), "1.0.0")).toMatchObject({ count: 2, clockWentBack: false });
});

test("detects a clock that was set back and continues", async () => {
  const store = openMemoryStore({ ambient: virtualAmbient(1) });
  await countStart(store, at(5_000), "1.0.0");
  expect(await countStart(store, at(4_000), "1.0.0")).toMatchObject({ count: 2, clockWentBack: true });
});

test("rejects data of a newer version and does not change it", async () => {
  const store = openMemoryStore({ ambient: virtualAmbient(1) });
  const newer = JSON.stringify({ count: 9, at: "2026-01-01T00:00:00.000Z", format: 2, version: "9.1.0" });
  await store.commit({ writes: [{ op: "put", key: "dev-stack/starts", value: newer }] });
  await expect(countStart(store, at(1), "1.0.0")).rejects.toMatchObject({
    code: "OAAS_STORE_NEWER_SCHEMA",
    message: expect.stringContaining("version 9.1.0 (format 2); this is version 1.0.0") as string,
  });
  expect((await store.get("dev-stack/starts"))?.value).toBe(newer);
});
