import { virtualAmbient } from "@oaas/foundation/virtual";
import type { KeyValueStore } from "@oaas/storage";
import { openMemoryStore } from "@oaas/storage/memory";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HttpReply } from "./handler.ts";
import { Idempotency } from "./idempotency.ts";

const HOUR = 3_600_000;
let ambient: ReturnType<typeof virtualAmbient>;
let store: KeyValueStore;
let idempotency: Idempotency;
let done: number;

beforeEach(() => {
  ambient = virtualAmbient(1);
  store = openMemoryStore({ ambient });
  idempotency = new Idempotency(store, ambient);
  done = 0;
});
afterEach(() => store.close());

const send = (key: string, body = "{}"): Promise<HttpReply> =>
  idempotency.once({ key, caller: "ann", operation: "o", url: "/u", body: Buffer.from(body) }, async () => {
    done += 1;
    return { status: 201, json: String(done) };
  });
const keptKeys = async (): Promise<number> => (await store.range({ prefix: "" })).entries.length;

describe("an idempotency key", () => {
  test("is kept for a day, and may be used for something else after it", async () => {
    await send("k");
    await ambient.time.advance(23 * HOUR);
    expect(await send("k")).toMatchObject({ json: "1", headers: { "idempotency-replayed": "true" } });
    await expect(send("k", "[]")).rejects.toMatchObject({ refusal: "unprocessable-content" });
    await ambient.time.advance(2 * HOUR);
    expect(await send("k", "[]")).toEqual({ status: 201, json: "2" });
  });

  test("hangs on nothing that ends with this process", async () => {
    await send("k");
    expect((await store.range({ prefix: "" })).entries.map(({ lease }) => lease)).toEqual([undefined]);
  });

  test("that is past its day is removed with a later one, however many there are", async () => {
    for (let index = 0; index < 600; index += 1) await send(`k-${index}`);
    await ambient.time.advance(23 * HOUR);
    await send("young");
    await ambient.time.advance(2 * HOUR);
    await send("new");
    await ambient.time.advance(1);
    expect(await keptKeys()).toBe(2);
    expect(done).toBe(602);
  });

  test("whose process died is taken up again after a minute, and not before", async () => {
    const never = new Promise<HttpReply>(() => undefined);
    void idempotency.once({ key: "k", caller: "ann", operation: "o", url: "/u", body: Buffer.from("{}") }, () => never);
    await ambient.time.advance(30_000);
    await expect(send("k")).rejects.toMatchObject({ kind: "conflict" });
    await ambient.time.advance(31_000);
    expect(await send("k")).toEqual({ status: 201, json: "1" });
  });
});
