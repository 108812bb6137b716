import { Fault, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { combineTransactions, type KeyValueStore } from "@oaas/storage";
import { openMemoryStore } from "@oaas/storage/memory";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HttpReply } from "../http/handler.ts";
import type { IdempotencyRecord } from "../use-cases.ts";
import { Idempotency } from "./idempotency.ts";

const HOUR = 3_600_000;
let ambient: ReturnType<typeof virtualAmbient>;
let store: KeyValueStore;
let idempotency: Idempotency<HttpReply>;
let done: number;
let leaseKey: string | undefined;

beforeEach(() => {
  ambient = virtualAmbient(1);
  store = openMemoryStore({ ambient });
  idempotency = new Idempotency(store, ambient, () => leaseKey);
  leaseKey = undefined;
  done = 0;
});
afterEach(() => store.close());

const begin = (key: string, work: (once: IdempotencyRecord) => Promise<HttpReply>, body = "{}"): Promise<HttpReply> =>
  idempotency.once({ key, caller: "ann", operation: "o", url: "/u", body: Buffer.from(body) }, work);
const send = (key: string, body?: string): Promise<HttpReply> =>
  begin(
    key,
    async () => {
      done += 1;
      return { status: 201, json: String(done) };
    },
    body,
  );
const keptKeys = async (): Promise<number> => (await store.range({ prefix: "" })).entries.length;

describe("an idempotency key", () => {
  test("replays the reply for a day, and is free after that", async () => {
    await send("k");
    await ambient.time.advance(23 * HOUR);
    expect(await send("k")).toMatchObject({ json: "1", headers: { "idempotency-replayed": "true" } });
    await expect(send("k", "[]")).rejects.toMatchObject({ httpError: "unprocessable-content" });
    await ambient.time.advance(2 * HOUR);
    expect(await send("k", "[]")).toEqual({ status: 201, json: "2" });
  });

  test("does not depend on a lease of this process", async () => {
    await send("k");
    expect((await store.range({ prefix: "" })).entries.map(({ lease }) => lease)).toEqual([undefined]);
  });

  test("is removed with a later request after its day, however many there are", async () => {
    for (let index = 0; index < 600; index += 1) await send(`k-${index}`);
    await ambient.time.advance(23 * HOUR);
    await send("young");
    await ambient.time.advance(2 * HOUR);
    await send("new");
    await ambient.time.advance(1);
    expect(await keptKeys()).toBe(2);
    expect(done).toBe(602);
  });

  test("whose owner died is taken over after a minute, and not before", async () => {
    void begin("k", () => new Promise<HttpReply>(() => undefined));
    await ambient.time.advance(30_000);
    await expect(send("k")).rejects.toMatchObject({ kind: "conflict", code: "OAAS_REQUEST_RUNNING" });
    await ambient.time.advance(31_000);
    expect(await send("k")).toEqual({ status: 201, json: "1" });
  });

  test("whose owner lost its lease is taken over at once", async () => {
    await store.commit({ writes: [{ op: "put", key: "lease", value: "" }] });
    leaseKey = "lease";
    void begin("k", () => new Promise<HttpReply>(() => undefined));
    await ambient.time.advance(1);
    await expect(send("k")).rejects.toMatchObject({ code: "OAAS_REQUEST_RUNNING" });
    await store.commit({ writes: [{ op: "delete", key: "lease" }] });
    expect(await send("k")).toEqual({ status: 201, json: "1" });
  });
});

describe("the note of an effect", () => {
  const marking = async (once: IdempotencyRecord): Promise<number> =>
    (
      await store.commit(
        combineTransactions(once.stage({ made: "it" }), { writes: [{ op: "put", key: "effect", value: "" }] }),
      )
    ).revision;
  const doneOf = (key: string): Promise<HttpReply> =>
    begin(key, async ({ committed: before }) => ({ status: 200, json: JSON.stringify(before) }));

  test("is returned to the process that takes the request over, with its revision", async () => {
    const marked = Promise.withResolvers<number>();
    void begin("k", async (once) => {
      marked.resolve(await marking(once));
      return new Promise<HttpReply>(() => undefined);
    });
    const revision = await marked.promise;
    expect(await doneOf("k")).toEqual({ status: 200, json: JSON.stringify({ note: { made: "it" }, revision }) });
    expect((await doneOf("k")).headers).toEqual({ "idempotency-replayed": "true" });
  });

  test("is rejected when another process has taken the request over, without an effect", async () => {
    const resumed = Promise.withResolvers<void>();
    const late = begin("k", async (once) => {
      await resumed.promise;
      await marking(once);
      return { status: 201 };
    });
    await ambient.time.advance(61_000);
    expect(await send("k")).toEqual({ status: 201, json: "1" });
    resumed.resolve();
    await expect(late).rejects.toMatchObject({ code: "OAAS_REQUEST_RUNNING" });
    expect(await store.get("effect")).toBeUndefined();
    expect(await send("k")).toMatchObject({ json: "1", headers: { "idempotency-replayed": "true" } });
  });

  const failures = [
    { why: "stays when the outcome is unknown", fault: unavailable("store", "gone"), isKept: true },
    {
      why: "is deleted when the effect failed as a whole",
      fault: new Fault({ kind: "partial-failure", parts: [] }, "all failed"),
      isKept: false,
    },
  ];
  test.each(failures)("$why", async ({ fault, isKept }) => {
    const failed = begin("k", async (once) => {
      await marking(once);
      throw fault;
    });
    await expect(failed).rejects.toBe(fault);
    expect((await doneOf("k")).json).toEqual(isKept ? expect.stringContaining("made") : undefined);
  });
});
