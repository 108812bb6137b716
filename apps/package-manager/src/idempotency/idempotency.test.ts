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
let life: string | undefined;

beforeEach(() => {
  ambient = virtualAmbient(1);
  store = openMemoryStore({ ambient });
  idempotency = new Idempotency(store, ambient, () => life);
  life = undefined;
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
    void begin("k", () => new Promise<HttpReply>(() => undefined));
    await ambient.time.advance(30_000);
    await expect(send("k")).rejects.toMatchObject({ kind: "conflict", code: "OAAS_REQUEST_RUNNING" });
    await ambient.time.advance(31_000);
    expect(await send("k")).toEqual({ status: 201, json: "1" });
  });

  test("whose process is known to be dead is taken up again at once", async () => {
    await store.commit({ writes: [{ op: "put", key: "life", value: "" }] });
    life = "life";
    void begin("k", () => new Promise<HttpReply>(() => undefined));
    await ambient.time.advance(1);
    await expect(send("k")).rejects.toMatchObject({ code: "OAAS_REQUEST_RUNNING" });
    await store.commit({ writes: [{ op: "delete", key: "life" }] });
    expect(await send("k")).toEqual({ status: 201, json: "1" });
  });
});

describe("the mark of an effect", () => {
  const marking = async (once: IdempotencyRecord): Promise<number> =>
    (
      await store.commit(
        combineTransactions(once.stage({ made: "it" }), { writes: [{ op: "put", key: "effect", value: "" }] }),
      )
    ).revision;
  const doneOf = (key: string): Promise<HttpReply> =>
    begin(key, async ({ committed: before }) => ({ status: 200, json: JSON.stringify(before) }));

  test("tells whoever takes the request up, at once, what was noted with it and when", async () => {
    const marked = Promise.withResolvers<number>();
    void begin("k", async (once) => {
      marked.resolve(await marking(once));
      return new Promise<HttpReply>(() => undefined);
    });
    const revision = await marked.promise;
    expect(await doneOf("k")).toEqual({ status: 200, json: JSON.stringify({ note: { made: "it" }, revision }) });
    expect((await doneOf("k")).headers).toEqual({ "idempotency-replayed": "true" });
  });

  test("is refused when another has taken the request up, and then nothing is changed", async () => {
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
    { why: "of which nobody heard the answer stays", fault: unavailable("store", "gone"), isKept: true },
    {
      why: "that came to nothing is forgotten",
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
