import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:http2";
import path from "node:path";
import { createInterface } from "node:readline";
import { oprcInvoke } from "@oaas/contracts/grpc";
import { realClock } from "@oaas/foundation/real";
import { RpcChannel } from "@oaas/rpc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const MAIN = path.resolve(import.meta.dirname, "..", "..", "..", "examples", "greeter-service", "main.mjs");
const { ResponseStatus } = oprcInvoke;
const bytes = (text: string) => new TextEncoder().encode(text);
const words = (payload: Uint8Array | undefined) => new TextDecoder().decode(payload);

describe("the example service, called by a gRPC client that is not its own", () => {
  let child: ChildProcess;
  let channel: RpcChannel;
  let address: string;

  beforeAll(async () => {
    child = spawn(process.execPath, [MAIN], {
      env: { ...process.env, PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (!child.stdout) throw new Error("it has no output");
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    address = `127.0.0.1:${/port (?<port>\d+)$/.exec(line)?.groups?.["port"] ?? ""}`;
    channel = new RpcChannel({ name: "greeter", address, clock: realClock });
  });
  afterAll(() => {
    channel.close();
    child.kill("SIGKILL");
  });

  const invoke = (fnId: string, payload: Uint8Array) =>
    channel.client(oprcInvoke.OprcFunction).invokeFn({ clsId: "greeter.Greeter", fnId, payload, partitionId: 3 });

  it.each([
    ["greet", "OaaS", "Hello, OaaS!"],
    ["greet", "", "Hello, world!"],
    ["shout", "grüße", "GRÜSSE"],
    ["sum", "[1, 2, 39]", "42"],
  ])("%s of %j is %j", async (name, given, expected) => {
    const { payload, status } = await invoke(name, bytes(given));
    expect({ status, text: words(payload) }).toEqual({ status: ResponseStatus.OKAY, text: expected });
  });

  it("is called on objects", async () => {
    const { payload } = await channel.client(oprcInvoke.OprcFunction).invokeObj({
      clsId: "greeter.Greeter",
      fnId: "greet",
      objectId: "alice",
      options: { trace: "on" },
    });
    expect(words(payload)).toBe("Hello, alice!");
  });

  it("tells what is not there, and what a function throws", async () => {
    const unknown = await invoke("grete", bytes(""));
    expect(unknown.status).toBe(ResponseStatus.INVALID_REQUEST);
    expect(words(unknown.payload)).toContain("greet, shout, sum");
    const thrown = await invoke("sum", bytes('["a"]'));
    expect(thrown.status).toBe(ResponseStatus.APP_ERROR);
    expect(words(thrown.payload)).toContain("a JSON list of numbers");
    expect((await invoke("constructor", bytes(""))).status).toBe(ResponseStatus.INVALID_REQUEST);
  });

  it("takes large messages, refuses too large ones, and goes on", async () => {
    const large = "x".repeat(1_000_000);
    expect(words((await invoke("shout", bytes(large))).payload)).toBe(large.toUpperCase());
    await expect(invoke("shout", bytes("x".repeat(5_000_000)))).rejects.toMatchObject({ kind: "resource-exhausted" });
    expect(words((await invoke("greet", bytes("again"))).payload)).toBe("Hello, again!");
  });

  it.each([
    ["no message", "/oprc.OprcFunction/InvokeFn", Buffer.from([0, 0, 0, 0, 2, 0x22, 0x09]), "3"],
    ["half a message", "/oprc.OprcFunction/InvokeFn", Buffer.from([0, 0, 0, 0, 9, 0x22]), "3"],
    ["nothing", "/oprc.OprcFunction/InvokeFn", Buffer.alloc(0), "3"],
    ["what is compressed", "/oprc.OprcFunction/InvokeFn", Buffer.from([1, 0, 0, 0, 0]), "12"],
    ["another service", "/other.Service/Call", Buffer.from([0, 0, 0, 0, 0]), "12"],
  ])("refuses %s by its code", async (_, route, body, code) => {
    const session = connect(`http://${address}`);
    const stream = session.request({ ":method": "POST", ":path": route, "content-type": "application/grpc" });
    stream.end(body);
    stream.resume();
    const [trailers] = (await once(stream, "trailers")) as [Record<string, string>];
    session.close();
    expect(trailers["grpc-status"]).toBe(code);
  });

  it("ends in order", async () => {
    channel.close();
    child.kill("SIGTERM");
    const [code] = (await once(child, "exit")) as [number | null];
    expect(code).toBe(0);
  });
});
