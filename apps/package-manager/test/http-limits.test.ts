import { eventually, sweepSize } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openConnection, type RawConnection } from "./raw-connection.ts";
import { startPm, type PmUnderTest } from "./running-pm.ts";

let pm: PmUnderTest;
beforeAll(async () => {
  pm = await startPm({
    env: { SERVER_REQUEST_TIMEOUT: "1s", SERVER_MAX_BODY_BYTES: "65536", SERVER_MAX_CONNECTIONS: "20000" },
  });
});
afterAll(() => pm.close());

const open = (text = "", port = Number(new URL(pm.url).port)): Promise<RawConnection> => openConnection(port, text);

const serves = async (): Promise<void> => {
  expect((await pm.call("GET", "/api/v1/packages")).status).toBe(200);
};

describe("invalid requests and slow clients", () => {
  test.each([
    {
      why: "headers beyond the limit",
      text: `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${"y".repeat(40_000)}\r\n\r\n`,
      status: 431,
    },
    { why: "not HTTP", text: "\u0016\u0003\u0001 hello\r\n\r\n", status: 400 },
    {
      why: "two lengths",
      text: "POST /x HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
      status: 400,
    },
    {
      why: "garbage after a valid request",
      text: "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n\u0000\u0001\u0002 nonsense\r\n\r\n",
      status: 400,
    },
    {
      why: "a declared length beyond the limit",
      text: "POST /api/v1/packages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 65537\r\n\r\n{",
      status: 413,
    },
    {
      why: "a chunked body beyond the limit",
      text: `POST /api/v1/packages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${`8000\r\n${"x".repeat(0x80_00)}\r\n`.repeat(3)}`,
      status: 413,
    },
    {
      why: "an unknown expectation",
      text: "GET /health HTTP/1.1\r\nhost: localhost\r\nexpect: more\r\n\r\n",
      status: 417,
    },
    { why: "no host", text: "GET /health HTTP/1.1\r\n\r\n", status: 400 },
    { why: "two hosts", text: "GET /health HTTP/1.1\r\nhost: localhost\r\nHost: y\r\n\r\n", status: 400 },
    { why: "an incomplete head", text: "GET /health HTTP/1.1\r\nhost: localhost\r\n", status: 408 },
    {
      why: "an incomplete body",
      text: "POST /api/v1/packages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
      status: 408,
    },
  ])("$why: $status, and the connection is closed", async ({ text, status }) => {
    const { closed, received } = await open(text);
    await closed;
    const [head = "", body = ""] = received().slice(received().lastIndexOf("HTTP/1.1 ")).split("\r\n\r\n", 2);
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/content-type: application\/problem\+json/i);
    expect(head).toMatch(/\r\ndate: \w{3}, \d\d /i);
    expect(head).toMatch(/\r\ncache-control: no-store/i);
    expect(JSON.parse(body)).toMatchObject({ status, error: expect.any(String), correlationId: expect.any(String) });
    await serves();
  });

  test("Expect: 100-continue is answered 100, or 413 for an oversized body", async () => {
    const expectContinue = (length: number) =>
      open(
        `POST /api/v1/plans HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nexpect: 100-continue\r\ncontent-length: ${length}\r\n\r\n`,
      );
    const small = await expectContinue(2);
    await eventually(() => small.received().startsWith("HTTP/1.1 100 Continue"));
    small.socket.write("{}");
    await eventually(() => small.received().includes("HTTP/1.1 400 "));
    const large = await expectContinue(65_537);
    await large.closed;
    expect(large.received()).toMatch(/^HTTP\/1.1 413 [^]*larger than this server accepts \(65536 bytes\)/);
    small.socket.destroy();
  });

  test.each([
    ["http://x/health", 200],
    ["HTTP://x:80/health?a=b", 200],
    ["http://x", 302],
    ["http://x?a", 302],
    ["*", 404],
  ])("the target %s: %i", async (target, status) => {
    const { socket, received } = await open(`GET ${target} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    await eventually(() => received().includes("\r\n\r\n"));
    expect(received()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    socket.destroy();
  });

  test("HTTP/1.0 does not require a host", async () => {
    const { closed, received } = await open("GET /health HTTP/1.0\r\n\r\n");
    await closed;
    expect(received()).toMatch(/^HTTP\/1.1 200 /);
  });

  test("answers pipelined requests in order", async () => {
    const one = (id: number) => `GET /health HTTP/1.1\r\nhost: localhost\r\nx-correlation-id: c-${id}\r\n\r\n`;
    const { socket, received } = await open(Array.from({ length: 50 }, (_, id) => one(id)).join(""));
    const ids = () => [...received().matchAll(/x-correlation-id: c-(\d+)/gi)].map(([, id]) => Number(id));
    await eventually(() => ids().length === 50);
    expect(ids()).toEqual(Array.from({ length: 50 }, (_, id) => id));
    socket.destroy();
  });

  test("HEAD returns the headers of GET; a trailing slash is ignored", async () => {
    const { socket, received } = await open("HEAD /openapi.json/ HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await eventually(() => received().includes("\r\n\r\n"));
    const { text } = await pm.call("GET", "/openapi.json");
    expect(received()).toMatch(/^HTTP\/1.1 200 /);
    expect(received()).toContain(`content-length: ${Buffer.byteLength(text)}\r\n`);
    expect(received().split("\r\n\r\n")[1]).toBe("");
    socket.destroy();
  });

  test("HEAD of an event stream ends at once", async () => {
    const { socket, received } = await open(
      "HEAD /api/v1/events HTTP/1.1\r\nhost: localhost\r\n\r\nGET /health HTTP/1.1\r\nhost: localhost\r\n\r\n",
    );
    await eventually(() => received().includes('"healthy"'));
    expect(received()).toMatch(/^HTTP\/1.1 200 [^]*content-type: text\/event-stream/);
    socket.destroy();
  });

  test("on shutdown running requests get connection: close, and event streams end", async () => {
    const stopping = await startPm();
    const port = Number(new URL(stopping.url).port);
    const idle = await open("GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n", port);
    await eventually(() => idle.received().includes('"healthy"'));
    const reader = await open("GET /api/v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n", port);
    await eventually(() => reader.received().includes(": connected"));
    const sender = await open(
      "POST /api/v1/plans HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{",
      port,
    );
    await eventually(async () => (await stopping.call("GET", "/readyz")).status === 200);
    const closed = stopping.close();
    await Promise.all([idle.closed, reader.closed]);
    sender.socket.write("}");
    await sender.closed;
    expect(sender.received()).toMatch(/^HTTP\/1.1 400 [^]*connection: close/i);
    await closed;
  });

  test("serves requests beside many idle connections", async () => {
    const many = sweepSize(500, 10_000);
    const idle: RawConnection[] = [];
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
