import { Fault } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import { builtInKinds } from "../kinds/built-in/built-in-kinds.ts";
import { MemoryTransport } from "../memory-transport.ts";
import { ApiServer } from "../server.ts";
import { faultyApi, type FaultAction } from "./faulty-api.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

async function lab() {
  const { time, ...ambient } = virtualAmbient(1);
  const server = new ApiServer({ ...ambient, kinds: builtInKinds() });
  await server.start();
  let fault: FaultAction | undefined;
  const transport = new MemoryTransport(faultyApi(server, ambient.timers, () => fault));
  const send = (method: string, path: string, body?: object) =>
    transport.send({
      method,
      path,
      headers: { "content-type": "application/json" },
      signal: new AbortController().signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const read = async (path: string): Promise<unknown> => JSON.parse(await (await send("GET", path)).text());
  const inject = (next: FaultAction | undefined): void => void (fault = next);
  return { time, send, read, inject };
}

describe("faults", () => {
  test("responds to a delayed request after the delay", async () => {
    const { time, send, inject } = await lab();
    inject({ kind: "delay", ms: 500 });
    let status = 0;
    void send("GET", MAPS).then((response) => (status = response.status));
    await time.advance(499);
    expect(status).toBe(0);
    await time.advance(1);
    expect(status).toBe(200);
  });

  test("a dropped request is a lost connection with an unknown outcome", async () => {
    const { send, read, inject } = await lab();
    for (const when of ["before", "after"] as const) {
      inject({ kind: "drop", when });
      const lost = await send("POST", MAPS, { metadata: { name: when } }).catch((error: unknown) => error);
      expect(lost).toBeInstanceOf(Fault);
      expect(lost).toMatchObject({ kind: "unavailable" });
    }
    inject(undefined);
    expect(await read(MAPS)).toMatchObject({ items: [{ metadata: { name: "after" } }] });
  });

  test("a stale read returns past lists and objects", async () => {
    const { send, read, inject } = await lab();
    await send("POST", MAPS, { metadata: { name: "a" }, data: { x: "1" } });
    await send("PUT", `${MAPS}/a`, { metadata: { name: "a" }, data: { x: "2" } });
    inject({ kind: "stale", revisionsBack: 1 });
    expect(await read(`${MAPS}/a`)).toMatchObject({ kind: "ConfigMap", data: { x: "1" } });
    expect(await read(MAPS)).toMatchObject({ items: [{ data: { x: "1" } }] });
    inject({ kind: "stale", revisionsBack: 2 });
    expect(await read(`${MAPS}/a`)).toMatchObject({ code: 404 });
  });

  test("a failed request has no effect, and an expired version returns 410", async () => {
    const { send, read, inject } = await lab();
    inject({ kind: "error", status: { status: "Failure", code: 503, reason: "ServiceUnavailable", message: "later" } });
    expect((await send("POST", MAPS, { metadata: { name: "a" } })).status).toBe(503);
    inject({ kind: "expired" });
    expect((await send("GET", `${MAPS}?watch=true&resourceVersion=1`)).status).toBe(410);
    inject(undefined);
    expect(await read(MAPS)).toMatchObject({ items: [] });
  });

  test("cuts a watch at the requested event", async () => {
    const { send, inject, time } = await lab();
    await send("POST", MAPS, { metadata: { name: "a" } });
    inject({ kind: "cut", afterChunks: 1, as: "expired" });
    const events = (await send("GET", `${MAPS}?watch=true`)).text();
    await time.advance(1);
    expect(
      (await events).split("\n").map((line) => (line === "" ? "" : (JSON.parse(line) as { type: string }).type)),
    ).toEqual(["ADDED", "ERROR", ""]);
    inject({ kind: "cut", afterChunks: 1, as: "lost" });
    await expect((await send("GET", `${MAPS}?watch=true`)).text()).rejects.toMatchObject({ kind: "unavailable" });
  });
});
