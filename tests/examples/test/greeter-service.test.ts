import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { oprcInvoke } from "@oaas/contracts/grpc";
import { realClock } from "@oaas/foundation/real";
import { RpcChannel } from "@oaas/rpc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { copyFiles, readDockerfile } from "../src/dockerfile.ts";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const SERVICE = path.join(ROOT, "examples", "greeter-service");
const recipe = readDockerfile(readFileSync(path.join(SERVICE, "Dockerfile"), "utf8"));
const { ResponseStatus } = oprcInvoke;
const bytes = (text: string) => new TextEncoder().encode(text);
const words = (payload: Uint8Array | undefined) => new TextDecoder().decode(payload);

describe("the image of the example service", () => {
  it("uses the Node version of this project and an unprivileged port", () => {
    const { engines } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as {
      engines: { node: string };
    };
    const major = /(?<major>\d+)/.exec(engines.node)?.groups?.["major"];
    expect(recipe).toMatchObject({ user: "node", ports: [8080] });
    expect(recipe.base.split("@")).toEqual([`node:${major}-slim`, expect.stringMatching(/^sha256:[0-9a-f]{64}$/)]);
    expect(recipe.environment["PORT"]).toBe("8080");
  });

  it("listens on the port in the package", () => {
    const [released] = parseAllDocuments(readFileSync(path.join(SERVICE, "greeter.yaml"), "utf8")).map(
      (document) => document.toJS() as { functions: { provision_config: { port: number } }[] },
    );
    expect(released?.functions.map(({ provision_config }) => provision_config.port)).toEqual([8080, 8080, 8080]);
  });
});

describe("the example service with only the files of its image", () => {
  const image = mkdtempSync(path.join(tmpdir(), "oaas-greeter-"));
  let child: ChildProcess;
  let channel: RpcChannel;
  let address: string;

  beforeAll(async () => {
    const folder = copyFiles(recipe, SERVICE, image);
    // The container user is not root and must be able to read them.
    for (const name of readdirSync(folder)) expect(statSync(path.join(folder, name)).mode & 0o004, name).toBe(0o004);
    const [program, ...args] = recipe.command;
    expect(program).toBe("node");
    child = spawn(process.execPath, args, {
      cwd: folder,
      env: { ...recipe.environment, PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (!child.stdout) throw new Error("the service has no stdout");
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    address = `127.0.0.1:${/port (?<port>\d+)$/.exec(line)?.groups?.["port"] ?? ""}`;
    channel = new RpcChannel({ name: "greeter", address, clock: realClock });
  });
  afterAll(() => {
    channel.close();
    child.kill("SIGKILL");
    rmSync(image, { recursive: true, force: true });
  });

  const invoke = (fnId: string, payload: Uint8Array) =>
    channel.client(oprcInvoke.OprcFunction).invokeFn({ clsId: "greeter.Greeter", fnId, payload, partitionId: 3 });

  it.each([
    ["greet", "OaaS", "Hello, OaaS!"],
    ["greet", "", "Hello, world!"],
    ["shout", "grüße", "GRÜSSE"],
    ["sum", "[1, 2, 39]", "42"],
  ])("%s with %j returns %j", async (name, given, expected) => {
    const { payload, status } = await invoke(name, bytes(given));
    expect({ status, text: words(payload) }).toEqual({ status: ResponseStatus.OKAY, text: expected });
  });

  it("handles calls on objects", async () => {
    const { payload } = await channel.client(oprcInvoke.OprcFunction).invokeObj({
      clsId: "greeter.Greeter",
      fnId: "greet",
      objectId: "alice",
      options: { trace: "on" },
    });
    expect(words(payload)).toBe("Hello, alice!");
  });

  it("returns errors for unknown functions and thrown errors", async () => {
    const unknown = await invoke("grete", bytes(""));
    expect(unknown.status).toBe(ResponseStatus.INVALID_REQUEST);
    expect(words(unknown.payload)).toContain("greet, shout, sum");
    const thrown = await invoke("sum", bytes('["a"]'));
    expect(thrown.status).toBe(ResponseStatus.APP_ERROR);
    expect(words(thrown.payload)).toContain("a JSON list of numbers");
    expect((await invoke("constructor", bytes(""))).status).toBe(ResponseStatus.INVALID_REQUEST);
  });

  it.each([
    ["/greet", {}, "OaaS", 200, "Hello, OaaS!"],
    ["/", { "oaas-function": "sum" }, "[1, 2, 39]", 200, "42"],
    ["/sum", {}, "x", 400, "is not valid JSON"],
    ["/constructor", {}, "", 404, "available: greet, shout, sum"],
    ["/shout", {}, "x".repeat(5_000_000), 413, "limited to"],
  ])("serves HTTP/1.1 on the same port: %s", async (target, headers, body, status, text) => {
    const response = await fetch(`http://${address}${target}`, { method: "POST", headers, body });
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(text);
  });

  it("accepts large messages and rejects oversized ones", async () => {
    const large = "x".repeat(1_000_000);
    expect(words((await invoke("shout", bytes(large))).payload)).toBe(large.toUpperCase());
    await expect(invoke("shout", bytes("x".repeat(5_000_000)))).rejects.toMatchObject({ kind: "resource-exhausted" });
    expect(words((await invoke("greet", bytes("again"))).payload)).toBe("Hello, again!");
  });

  it.each([
    ["an invalid message", "/oprc.OprcFunction/InvokeFn", Buffer.from([0, 0, 0, 0, 2, 0x22, 0x09]), "3"],
    ["an incomplete message", "/oprc.OprcFunction/InvokeFn", Buffer.from([0, 0, 0, 0, 9, 0x22]), "3"],
    ["an empty body", "/oprc.OprcFunction/InvokeFn", Buffer.alloc(0), "3"],
    ["a compressed message", "/oprc.OprcFunction/InvokeFn", Buffer.from([1, 0, 0, 0, 0]), "12"],
    ["an unknown service", "/other.Service/Call", Buffer.from([0, 0, 0, 0, 0]), "12"],
  ])("rejects %s with a status code", async (_, route, body, code) => {
    const session = connect(`http://${address}`);
    const stream = session.request({ ":method": "POST", ":path": route, "content-type": "application/grpc" });
    stream.end(body);
    stream.resume();
    const [trailers] = (await once(stream, "trailers")) as [Record<string, string>];
    session.close();
    expect(trailers["grpc-status"]).toBe(code);
  });

  it("shuts down gracefully", async () => {
    channel.close();
    child.kill("SIGTERM");
    const [code] = (await once(child, "exit")) as [number | null];
    expect(code).toBe(0);
  });
});
