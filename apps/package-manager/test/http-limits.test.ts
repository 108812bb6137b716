import { connect, type Socket } from "node:net";
import { eventually, sweepSize } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPm, type PmUnderTest } from "./running-pm.ts";

let pm: PmUnderTest;
beforeAll(async () => {
  pm = await startPm({ env: { SERVER_REQUEST_TIMEOUT: "1s", SERVER_MAX_BODY_BYTES: "65536" } });
});
afterAll(() => pm.close());

interface Conversation {
  readonly socket: Socket;
  /** All that was answered so far. */
  readonly said: () => string;
  readonly closed: Promise<void>;
}

async function open(text = "", port = Number(new URL(pm.url).port)): Promise<Conversation> {
  const socket = connect(port, "127.0.0.1");
  let said = "";
  socket.on("data", (bytes) => (said += bytes.toString("latin1")));
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  socket.write(text);
  return { socket, said: () => said, closed };
}

const serves = async (): Promise<void> => {
  expect((await pm.call("GET", "/api/v1/packages")).status).toBe(200);
};

describe("clients that are no good", () => {
  test.each([
    {
      why: "headers beyond the limit",
      text: `GET / HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(40_000)}\r\n\r\n`,
      status: 431,
    },
    { why: "no HTTP at all", text: "\u0016\u0003\u0001 hello\r\n\r\n", status: 400 },
    {
      why: "two lengths",
      text: "POST /x HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
      status: 400,
    },
    {
      why: "garbage after a good request",
      text: "GET /health HTTP/1.1\r\nhost: x\r\n\r\n\u0000\u0001\u0002 nonsense\r\n\r\n",
      status: 400,
    },
    {
      why: "a body that says it is too long",
      text: "POST /api/v1/packages HTTP/1.1\r\nhost: x\r\ncontent-length: 65537\r\n\r\n{",
      status: 413,
    },
    {
      why: "a body in pieces that grows too long",
      text: `POST /api/v1/packages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${`8000\r\n${"x".repeat(0x80_00)}\r\n`.repeat(3)}`,
      status: 413,
    },
    { why: "an unknown expectation", text: "GET /health HTTP/1.1\r\nhost: x\r\nexpect: more\r\n\r\n", status: 417 },
    { why: "no host", text: "GET /health HTTP/1.1\r\n\r\n", status: 400 },
    { why: "two hosts", text: "GET /health HTTP/1.1\r\nhost: x\r\nHost: y\r\n\r\n", status: 400 },
    { why: "half a request, and then nothing", text: "GET /health HTTP/1.1\r\nhost: x\r\n", status: 408 },
    {
      why: "half a body, and then nothing",
      text: "POST /api/v1/packages HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{",
      status: 408,
    },
  ])("$why: $status, and the connection ends", async ({ text, status }) => {
    const { closed, said } = await open(text);
    await closed;
    const [head = "", body = ""] = said().slice(said().lastIndexOf("HTTP/1.1 ")).split("\r\n\r\n", 2);
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/content-type: application\/problem\+json/i);
    expect(head).toMatch(/\r\ndate: \w{3}, \d\d /i);
    expect(head).toMatch(/\r\ncache-control: no-store/i);
    expect(JSON.parse(body)).toMatchObject({ status, error: expect.any(String), correlationId: expect.any(String) });
    await serves();
  });

  test("who asks beforehand whether it may send is told to go on, or that it is too much", async () => {
    const asking = (length: number) =>
      open(`POST /api/v1/plans HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: ${length}\r\n\r\n`);
    const small = await asking(2);
    await eventually(() => small.said().startsWith("HTTP/1.1 100 Continue"));
    small.socket.write("{}");
    await eventually(() => small.said().includes("HTTP/1.1 400 "));
    const large = await asking(65_537);
    await large.closed;
    expect(large.said()).toMatch(/^HTTP\/1.1 413 [^]*larger than this server accepts \(65536 bytes\)/);
    small.socket.destroy();
  });

  test.each([
    ["http://x/health", 200],
    ["HTTP://x:80/health?a=b", 200],
    ["http://x", 404],
    ["http://x?a", 404],
    ["*", 404],
  ])("the target %s: %i", async (target, status) => {
    const { socket, said } = await open(`GET ${target} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await eventually(() => said().includes("\r\n\r\n"));
    expect(said()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    socket.destroy();
  });

  test("a request of HTTP/1.0 needs no host", async () => {
    const { closed, said } = await open("GET /health HTTP/1.0\r\n\r\n");
    await closed;
    expect(said()).toMatch(/^HTTP\/1.1 200 /);
  });

  test("requests in a row on one connection are answered in their order", async () => {
    const one = (id: number) => `GET /health HTTP/1.1\r\nhost: x\r\nx-correlation-id: c-${id}\r\n\r\n`;
    const { socket, said } = await open(Array.from({ length: 50 }, (_, id) => one(id)).join(""));
    const ids = () => [...said().matchAll(/x-correlation-id: c-(\d+)/gi)].map(([, id]) => Number(id));
    await eventually(() => ids().length === 50);
    expect(ids()).toEqual(Array.from({ length: 50 }, (_, id) => id));
    socket.destroy();
  });

  test("HEAD tells what GET would, without the body; a slash at the end makes no difference", async () => {
    const { socket, said } = await open("HEAD /openapi.json/ HTTP/1.1\r\nhost: x\r\n\r\n");
    await eventually(() => said().includes("\r\n\r\n"));
    const { text } = await pm.call("GET", "/openapi.json");
    expect(said()).toMatch(/^HTTP\/1.1 200 /);
    expect(said()).toContain(`content-length: ${Buffer.byteLength(text)}\r\n`);
    expect(said().split("\r\n\r\n")[1]).toBe("");
    socket.destroy();
  });

  test("HEAD of a stream of events ends at once", async () => {
    const { socket, said } = await open(
      "HEAD /api/v1/events HTTP/1.1\r\nhost: x\r\n\r\nGET /health HTTP/1.1\r\nhost: x\r\n\r\n",
    );
    await eventually(() => said().includes('"healthy"'));
    expect(said()).toMatch(/^HTTP\/1.1 200 [^]*content-type: text\/event-stream/);
    socket.destroy();
  });

  test("who is served while it stops is told that this was the last answer; readers of streams are let go", async () => {
    const stopping = await startPm();
    const port = Number(new URL(stopping.url).port);
    const idle = await open("GET /health HTTP/1.1\r\nhost: x\r\n\r\n", port);
    await eventually(() => idle.said().includes('"healthy"'));
    const reader = await open("GET /api/v1/events HTTP/1.1\r\nhost: x\r\n\r\n", port);
    await eventually(() => reader.said().includes(": connected"));
    const sender = await open("POST /api/v1/plans HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{", port);
    await eventually(async () => (await stopping.call("GET", "/readyz")).status === 200);
    const closed = stopping.close();
    await Promise.all([idle.closed, reader.closed]);
    sender.socket.write("}");
    await sender.closed;
    expect(sender.said()).toMatch(/^HTTP\/1.1 400 [^]*connection: close/i);
    await closed;
  });

  test("many idle connections: others are served meanwhile", async () => {
    const many = sweepSize(500, 10_000);
    const idle: Conversation[] = [];
    for (let left = many; left > 0; left -= 100) {
      idle.push(...(await Promise.all(Array.from({ length: Math.min(100, left) }, () => open()))));
    }
    expect(idle).toHaveLength(many);
    await serves();
    for (const { socket } of idle) socket.destroy();
    await Promise.all(idle.map(({ closed }) => closed));
    await serves();
  });
});
