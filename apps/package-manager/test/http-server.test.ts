import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { allRoutes, fillPath, pathParameters, type Problem } from "@oaas/contracts/rest";
import { realAmbient } from "@oaas/foundation/real";
import { eventually } from "@oaas/testkit";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { json, type HttpReply } from "../src/http/handler.ts";
import type { Admission, Operation, RequestContent, RequestHead } from "../src/http/pipeline.ts";
import { problemReply } from "../src/http/problem-reply.ts";
import { HttpServer } from "../src/http/server/http-server.ts";

const REQUEST_TIMEOUT_MS = 1_000;
/** Packages whose request stays open until the test answers it. */
const SLOW = "slow";
const get = (name: string) => `GET /api/v1/packages/${name} HTTP/1.1\r\nhost: x\r\n\r\n`;

interface Pending {
  readonly head: RequestHead;
  readonly content: RequestContent;
  readonly answer: (reply: HttpReply) => void;
}

let server: HttpServer;
let port: number;
/** Requests that wait for the test to answer them. */
let pending: Pending[];
/** Names of the packages that were requested. */
let served: string[];

/** A pipeline that echoes the operation and its parameters. */
const pipeline = {
  admit: async (_: Operation, head: RequestHead): Promise<Admission> => ({
    head,
    caller: { name: "ann", role: "admin" },
    context: {},
    startedAtMs: 0,
  }),
  serve: async (operation: Operation, { head }: Admission, content: RequestContent): Promise<HttpReply> => {
    const name = content.parameters["name"] ?? "";
    served.push(name);
    if (name.startsWith(SLOW)) return new Promise((answer) => pending.push({ head, content, answer }));
    if (name === "large") return { status: 200, json: JSON.stringify("x".repeat(1_000_000)) };
    return json({ id: operation.id, ...content.parameters });
  },
  refuse: (thrown: unknown, instance: string, correlationId: string) =>
    problemReply(thrown, { instance, correlationId }),
};

beforeEach(async () => {
  [pending, served] = [[], []];
  server = new HttpServer({
    handlers: {} as never,
    pipeline,
    clock: realAmbient.clock,
    timers: realAmbient.timers,
    ensureCorrelationId: (sent) => sent ?? "new",
    corsOrigins: [],
    maxBodyBytes: 1_000,
    maxBodiesBytes: 2_000,
    maxConnections: 100,
    maxStreams: 10,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  port = await server.listen("127.0.0.1", 0);
});
afterEach(async () => {
  const closed = server.close();
  server.closeAllConnections();
  await closed;
});

interface Response {
  readonly status: number | undefined;
  readonly allow: string | undefined;
  readonly body: { readonly id?: string } & Partial<Problem>;
}

/** Sends a request whose target is not normalised. */
async function send(method: string, path: string): Promise<Response> {
  const sent = request({ host: "127.0.0.1", port, method, path }).end();
  const [response] = await once(sent, "response");
  let text = "";
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, allow: response.headers.allow, body: text === "" ? {} : JSON.parse(text) };
}

interface Connection {
  readonly socket: Socket;
  readonly received: () => string;
  readonly closed: Promise<unknown>;
}

async function open(): Promise<Connection> {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  socket.on("data", (bytes) => (received += bytes.toString()));
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return { socket, received: () => received, closed: once(socket, "close") };
}

/** The names in the responses so far, in their order. */
function namesIn(received: string): string[] {
  return [...received.matchAll(/"name":"([^"]+)"/g)].map(([, name]) => name as string);
}

describe("the route of a request", () => {
  test.each([
    { sent: "GET /api/v1/packages", is: { id: "listPackages" } },
    { sent: "GET /api/v1/packages/", is: { id: "listPackages" } },
    { sent: "GET /api/v1/packages/a%2Fb%20c", is: { id: "getPackage", name: "a/b c" } },
    { sent: "GET /api/v1/p%61ckages", is: { id: "listPackages" } },
    { sent: "GET /api/v1/packages/x/revisions/3/", is: { id: "getPackageRevision", name: "x", revision: "3" } },
    { sent: "GET /api/v1/clusters/health", is: { id: "listClusterHealth" } },
    { sent: "DELETE /api/v1/clusters/health", is: { id: "removeCluster", name: "health" } },
    { sent: "PUT /api/gateway/a/b//c", is: { id: "gatewayPut" } },
    { sent: "GET /api/gateway", is: { id: "gatewayGet" } },
    { sent: "GET http://x/api/v1/packages", is: { id: "listPackages" } },
  ])("$sent", async ({ sent, is }) => {
    const [method = "", path = ""] = sent.split(" ");
    expect(await send(method, path)).toMatchObject({ status: 200, body: is });
  });

  test.each([
    { sent: "PATCH /api/v1/packages/x", status: 405 },
    { sent: "GET /api/v1/Packages", status: 404 },
    { sent: "GET /api/v1//packages", status: 404 },
    { sent: "GET /api/v1/packages//revisions", status: 404 },
    { sent: `GET /api/v1/packages/${"x".repeat(513)}`, status: 404 },
    { sent: "OPTIONS *", status: 404 },
    { sent: "GET /api/v1/packages/%zz", status: 400 },
  ])("$sent: $status", async ({ sent, status }) => {
    const [method = "", path = ""] = sent.split(" ");
    expect(await send(method, path)).toMatchObject({ status, body: { status, error: expect.any(String) as string } });
  });

  test("HEAD has the route of GET", async () => {
    expect(await send("HEAD", "/api/v1/packages/x")).toMatchObject({ status: 200, body: {} });
    expect(served).toEqual(["x"]);
  });

  test("parameters arrive unchanged, whatever characters they have", async () => {
    const name = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
      // A fixed segment wins over a parameter; `.` and `..` are not names.
      .filter((each) => each.isWellFormed() && !each.startsWith(SLOW) && !["health", "large"].includes(each));
    for (const { operationId, method, path } of allRoutes()) {
      if (path.endsWith("{path}")) continue;
      const names = pathParameters(path);
      await fc.assert(
        fc.asyncProperty(fc.array(name, { minLength: names.length, maxLength: names.length }), async (values) => {
          const parameters = Object.fromEntries(names.map((each, index) => [each, values[index] as string]));
          const { body } = await send(method, fillPath(path, parameters));
          expect(body).toEqual({ id: operationId, ...parameters });
        }),
        { numRuns: names.length === 0 ? 1 : 20, seed: 6 },
      );
    }
  });

  test.each([
    { path: "/api/v1/packages/x", methods: "GET, HEAD, POST, DELETE" },
    { path: "/api/v1/packages/", methods: "POST, GET, HEAD" },
    { path: "/api/v1/clusters/health", methods: "GET, HEAD" },
    { path: "/api/gateway/a/b", methods: "GET, HEAD, POST, PUT, DELETE" },
  ])("Allow lists the methods of $path", async ({ path, methods }) => {
    expect(await send("PROPFIND", path)).toMatchObject({ status: 405, allow: methods });
  });
});

describe("requests of one connection", () => {
  test("are answered in order, whichever takes longer", async () => {
    const { socket, received } = await open();
    socket.write(get(`${SLOW}-1`) + get("2") + get(`${SLOW}-3`));
    await eventually(() => pending.length > 0);
    socket.write(get("4"));
    await eventually(() => {
      for (const { content, answer } of pending.splice(0)) answer(json(content.parameters));
      return namesIn(received()).length === 4;
    });
    expect(namesIn(received())).toEqual([`${SLOW}-1`, "2", `${SLOW}-3`, "4"]);
  });

  test("are not read while the client does not read the responses", async () => {
    const { socket, received } = await open();
    socket.pause();
    const many = 64;
    socket.write(get("large").repeat(many));
    await eventually(() => served.length > 0);
    const before = served.length;
    await expect(eventually(() => served.length > before + 16, { timeoutMs: 300 })).rejects.toThrow();
    socket.resume();
    await eventually(() => received().length > many * 1_000_000, { timeoutMs: 20_000 });
    expect(served).toHaveLength(many);
  });
});

describe("clients that disconnect or stay silent", () => {
  test("a disconnect aborts the signal of the request", async () => {
    const { socket } = await open();
    socket.write(get(SLOW));
    await eventually(() => pending.length === 1);
    const [{ content, answer }] = pending as [Pending];
    expect(content.signal.aborted).toBe(false);
    socket.end();
    await eventually(() => content.signal.aborted);
    answer(json({}));
  });

  test("a response does not abort the signal", async () => {
    const { socket, received } = await open();
    socket.write(get(SLOW));
    await eventually(() => pending.length === 1);
    const [{ content, answer }] = pending as [Pending];
    const { signal } = content;
    answer(json({}));
    await eventually(() => received().includes("{}"));
    socket.destroy();
    await expect(eventually(() => signal.aborted, { timeoutMs: 100 })).rejects.toThrow();
  });

  test("a connection without a request is answered 408 after the request timeout", async () => {
    const { received, closed } = await open();
    await closed;
    expect(received()).toMatch(/^HTTP\/1.1 408 /);
  });

  test("an idle connection outlives the request timeout, and so does a slow response", async () => {
    const idle = await open();
    idle.socket.write(get("1"));
    const busy = await open();
    busy.socket.write(get(SLOW));
    await eventually(() => pending.length === 1 && namesIn(idle.received()).length === 1);
    await new Promise((resolve) => setTimeout(resolve, 2.5 * REQUEST_TIMEOUT_MS));
    idle.socket.write(get("2"));
    pending[0]?.answer(json({ name: "late" }));
    await eventually(() => namesIn(idle.received()).length === 2 && namesIn(busy.received()).length === 1);
  });
});

describe("closing", () => {
  test("closes idle and unused connections at once, and the others after their response", async () => {
    const unused = await open();
    const idle = await open();
    idle.socket.write(get("1"));
    const busy = await open();
    busy.socket.write(get(SLOW) + get("after"));
    await eventually(() => pending.length === 1 && namesIn(idle.received()).length === 1);
    const closed = server.close();
    await Promise.all([idle.closed, unused.closed]);
    pending[0]?.answer(json({ name: "last" }));
    await Promise.all([busy.closed, closed]);
    expect(busy.received()).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*connection: close\r\n[^]*"last"\}$/);
  });
});

test("joins the lines of a list header, and reads the first line of any other", async () => {
  const { socket } = await open();
  const lines = ['If-Match: "1"', 'if-match: "2", "3"', "if-matches: no", "X-One: a", "x-one: b"];
  socket.write(`GET /api/v1/packages/${SLOW} HTTP/1.1\r\nhost: x\r\n${lines.join("\r\n")}\r\n\r\n`);
  await eventually(() => pending.length === 1);
  const [{ head, answer }] = pending as [Pending];
  expect(head.list("if-match")).toBe('"1", "2", "3"');
  expect(head.list("if-none-match")).toBeUndefined();
  expect([head.header("if-match"), head.header("x-one")]).toEqual(['"1"', "a"]);
  answer(json({}));
});

test("a header with a line break is not sent", async () => {
  const { socket, received } = await open();
  socket.write(get(SLOW));
  await eventually(() => pending.length === 1);
  pending[0]?.answer({ status: 200, headers: { location: "a\r\nset-cookie: b" } });
  await eventually(() => received().includes("\r\n\r\n"));
  expect(received()).toMatch(/^HTTP\/1.1 500 /);
  expect(received()).not.toContain("set-cookie");
});
