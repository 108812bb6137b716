import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { VirtualTime } from "@oaas/foundation/virtual";
import { eventually } from "@oaas/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Exchange } from "../src/http/exchange.ts";
import { PlainLane } from "../src/http/plain/plain-lane.ts";

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
const REQUEST_TIMEOUT_MS = 5_000;

let time: VirtualTime;
let server: Server;
let lane: PlainLane;
/** Requests of the lane that nobody has answered yet. */
let waiting: Exchange[];
/** Paths that came to the lane, and to Node's server. */
let ours: string[];
let nodes: string[];

beforeEach(async () => {
  time = new VirtualTime();
  [waiting, ours, nodes] = [[], [], []];
  server = createServer((request, response) => {
    nodes.push(request.url ?? "");
    response.end("by Node");
  });
  lane = new PlainLane(server, {
    clock: time,
    timers: time,
    maxBodyBytes: 1_000,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    serve: (exchange) => {
      if (exchange.url === "/stream") return false;
      ours.push(exchange.url);
      if (exchange.url.startsWith("/later")) waiting.push(exchange);
      else answer(exchange, exchange.url === "/large" ? "x".repeat(1_000_000) : exchange.url);
      return true;
    },
    timedOut: (socket) => socket.end("HTTP/1.1 408 Request Timeout\r\n\r\n"),
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(async () => {
  lane.closeAll();
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

function answer(exchange: Exchange, content: string): void {
  exchange.answer(200, ["content-length", String(content.length)], { content, isLatin1: true });
}

async function open(): Promise<{
  readonly socket: Socket;
  readonly said: () => string;
  readonly closed: Promise<unknown>;
}> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let said = "";
  socket.on("data", (bytes) => (said += bytes.toString("latin1")));
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return { socket, said: () => said, closed: once(socket, "close") };
}

/** The bodies of answers, each of which ends where its length says. */
function bodiesIn(said: string): string[] {
  const bodies: string[] = [];
  for (let at = 0; ;) {
    const end = said.indexOf("\r\n\r\n", at);
    if (end === -1) return bodies;
    const length = Number(/content-length: (\d+)/i.exec(said.slice(at, end))?.[1] ?? 0);
    if (said.length < end + 4 + length) return bodies;
    bodies.push(said.slice(end + 4, end + 4 + length));
    at = end + 4 + length;
  }
}

describe("requests of one connection", () => {
  test("are answered in their order, whichever takes longer", async () => {
    const { socket, said } = await open();
    socket.write(GET("/later/1") + GET("/2") + GET("/later/3"));
    await eventually(() => waiting.length === 1);
    expect(ours).toEqual(["/later/1"]);
    socket.write(GET("/4"));
    answer(waiting.shift() as Exchange, "/later/1");
    await eventually(() => waiting.length === 1);
    answer(waiting.shift() as Exchange, "/later/3");
    await eventually(() => bodiesIn(said()).length === 4);
    expect(bodiesIn(said())).toEqual(["/later/1", "/2", "/later/3", "/4"]);
  });

  test("go to Node's server from the first one on that is not plain or a stream", async () => {
    for (const other of ["HEAD /other HTTP/1.1\r\nhost: x\r\n\r\n", GET("/stream"), "GET /half HTTP/1.1\r\n"]) {
      const { socket, said } = await open();
      socket.write(GET("/1") + other);
      await eventually(() => said().includes("/1"));
      if (other.startsWith("GET /half")) socket.write("host: x\r\n\r\n");
      await eventually(() => nodes.length === 1);
      socket.write(GET("/after"));
      await eventually(() => nodes.length === 2);
      expect(nodes[1]).toBe("/after");
      await eventually(() => said().split("by Node").length >= (other.startsWith("HEAD") ? 2 : 3));
      expect(ours).toEqual(["/1"]);
      [nodes, ours] = [[], []];
      socket.destroy();
    }
  });

  test("wait for a client that does not take its answers", async () => {
    const { socket, said } = await open();
    socket.pause();
    const many = 64;
    socket.write(GET("/large").repeat(many));
    await eventually(() => ours.length > 0);
    // What fits into buffers of the system and of the socket is sent; nothing is read beyond that.
    const before = ours.length;
    await expect(eventually(() => ours.length > before + 16, { timeoutMs: 300 })).rejects.toThrow();
    socket.resume();
    await eventually(() => bodiesIn(said()).length === many);
    expect(ours).toHaveLength(many);
  });
});

describe("who goes", () => {
  test("a client that goes without its answer is noticed", async () => {
    const { socket } = await open();
    socket.write(GET("/later"));
    await eventually(() => waiting.length === 1);
    const [exchange] = waiting as [Exchange];
    expect(exchange.gone.aborted).toBe(false);
    socket.end();
    await eventually(() => exchange.gone.aborted);
    answer(exchange, "to nobody");
  });

  test("a client that has said nothing in time is told so", async () => {
    const { said, closed } = await open();
    await eventually(() => time.pendingTimers === 1);
    await time.advance(REQUEST_TIMEOUT_MS - 1);
    expect(said()).toBe("");
    await time.advance(REQUEST_TIMEOUT_MS);
    await closed;
    expect(said()).toContain("408");
    await eventually(() => time.pendingTimers === 0);
  });

  test("an idle connection is kept for a minute; one that waits for its answer as long as it takes", async () => {
    const idle = await open();
    idle.socket.write(GET("/1"));
    const busy = await open();
    busy.socket.write(GET("/later"));
    await eventually(() => waiting.length === 1 && idle.said().includes("/1"));
    await time.advance(60_000);
    idle.socket.write(GET("/2"));
    await eventually(() => idle.said().includes("/2"));
    await time.advance(60_000);
    idle.socket.write(GET("/3"));
    await eventually(() => idle.said().includes("/3"));
    await time.advance(80_000);
    await idle.closed;
    answer(waiting[0] as Exchange, "at last");
    await eventually(() => busy.said().includes("at last"));
  });

  test("closing lets go of the idle and waits for the others", async () => {
    const idle = await open();
    const busy = await open();
    busy.socket.write(GET("/later"));
    await eventually(() => waiting.length === 1);
    lane.closeIdle();
    await idle.closed;
    waiting[0]?.answer(200, ["content-length", "0"], undefined, true);
    await busy.closed;
    expect(busy.said()).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*connection: close\r\n\r\n$/);
  });
});

test("nothing is served after the last answer", async () => {
  const { socket, said, closed } = await open();
  socket.write(GET("/later") + GET("/2"));
  await eventually(() => waiting.length === 1);
  waiting[0]?.answer(200, ["content-length", "4"], { content: "last", isLatin1: true }, true);
  socket.write(GET("/3"));
  await closed;
  expect(bodiesIn(said())).toEqual(["last"]);
  expect(ours).toEqual(["/later"]);
});

test("a header that would end its line is not sent", async () => {
  const { socket, said } = await open();
  socket.write(GET("/later"));
  await eventually(() => waiting.length === 1);
  const exchange = waiting[0] as Exchange;
  expect(() => exchange.answer(200, ["x", "a\r\nset-cookie: b"])).toThrow("no header may have");
  expect(exchange.isAnswered).toBe(false);
  answer(exchange, "well");
  await eventually(() => bodiesIn(said()).length === 1);
  expect(bodiesIn(said())).toEqual(["well"]);
});
