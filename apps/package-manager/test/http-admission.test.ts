import { createHash } from "node:crypto";
import { createRecordingLogger } from "@oaas/observability/testing";
import { eventually } from "@oaas/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openConnection, type RawConnection } from "./raw-connection.ts";
import { startPm, type PmOptions, type PmUnderTest } from "./running-pm.ts";

const BODY_LIMIT = 65_536;
/** Two bodies of one caller, four of all callers. */
const BODIES_LIMIT = 4 * BODY_LIMIT;

const TOKENS = ["ann:admin", "bob:viewer", "cid:deployer", "dee:deployer", "eve:deployer"]
  .map((who) => `${who}:${createHash("sha256").update(who).digest("hex")}`)
  .join("\n");
const as = (who: string): string => `authorization: Bearer ${who}\r\n`;

let pm: PmUnderTest;
let open: (text?: string) => Promise<RawConnection>;
let connections: RawConnection[];
let recording: ReturnType<typeof createRecordingLogger>;

async function start(options: PmOptions): Promise<void> {
  pm = await startPm({
    logger: recording.log,
    ...options,
    env: {
      SERVER_HOST: "127.0.0.1",
      SERVER_REQUEST_TIMEOUT: "5s",
      SERVER_MAX_BODY_BYTES: String(BODY_LIMIT),
      SERVER_MAX_BODIES_BYTES: String(BODIES_LIMIT),
      ...options.env,
    },
  });
  open = async (text) => {
    const connection = await openConnection(pm.app.port, text);
    connections.push(connection);
    return connection;
  };
}

beforeEach(() => {
  connections = [];
  recording = createRecordingLogger();
});
afterEach(async () => {
  for (const { socket } of connections) socket.destroy();
  await pm.close();
});

/** The head of a write, without its body. */
const write = (headers: string, path = "/api/v1/packages"): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${headers}\r\n`;

const answered = async ({ received }: RawConnection): Promise<string> => {
  await eventually(() => received().includes("\r\n\r\n"));
  return received();
};

describe("a caller is checked before the body is read", () => {
  beforeEach(() => start({ tokens: TOKENS, env: { SERVER_RATE_BURST: "3", SERVER_RATE_LIMIT: "0.1" } }));

  test.each([
    { why: "no credentials", headers: "content-length: 9\r\n", status: 401, caller: "anonymous" },
    { why: "no credentials, chunked", headers: "transfer-encoding: chunked\r\n", status: 401, caller: "anonymous" },
    { why: "a wrong token", headers: `${as("x")}content-length: 9\r\n`, status: 401, caller: "anonymous" },
    { why: "a viewer", headers: `${as("bob:viewer")}content-length: 9\r\n`, status: 403, caller: "bob" },
    {
      why: "an oversized body without credentials",
      headers: "content-length: 999999\r\n",
      status: 401,
      caller: "anonymous",
    },
    {
      why: "Expect: 100-continue",
      headers: "expect: 100-continue\r\ncontent-length: 9\r\n",
      status: 401,
      caller: "anonymous",
    },
  ])("$why: $status without a byte of the body, in the audit trail", async ({ headers, status, caller }) => {
    const connection = await open(write(headers));
    expect(await answered(connection)).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*application/problem\\+json`));
    const [line, ...more] = recording.records.filter(({ fields }) => fields["audit"] === true);
    expect(more).toEqual([]);
    expect(line?.fields).toMatchObject({ caller, action: "createPackage", status, target: "/api/v1/packages" });
  });

  test("a throttled caller: 429 without a byte of the body", async () => {
    for (let index = 0; index < 3; index += 1)
      await pm.call("GET", "/api/v1/packages", { headers: { authorization: "Bearer ann:admin" } });
    const connection = await open(write(`${as("ann:admin")}content-length: 9\r\n`));
    expect(await answered(connection)).toMatch(/^HTTP\/1.1 429 [^]*retry-after: /i);
  });

  test("a body without a content type: 415 without a byte of the body", async () => {
    const text = `POST /api/v1/packages HTTP/1.1\r\nhost: localhost\r\n${as("ann:admin")}content-length: 9\r\n\r\n`;
    expect(await answered(await open(text))).toMatch(/^HTTP\/1.1 415 [^]*no content-type header[^]*application\/json/);
  });

  test("the connection serves the next request after a rejected body", async () => {
    const connection = await open(
      `${write("content-length: 9\r\n")}{"a": 1}\nGET /health HTTP/1.1\r\nhost: localhost\r\n\r\n`,
    );
    await eventually(() => /HTTP\/1.1 401 [^]*HTTP\/1.1 200 /.test(connection.received()));
  });
});

describe("bodies in memory are limited", () => {
  beforeEach(() => start({ tokens: TOKENS }));

  /** Declares a body of the largest size and sends all of it but one byte. */
  const upload = async (who: string): Promise<RawConnection> => {
    const connection = await open(write(`${as(who)}content-length: ${BODY_LIMIT}\r\n`, "/api/v1/plans"));
    connection.socket.write("x".repeat(BODY_LIMIT - 1));
    return connection;
  };
  const rejections = (status: number): RawConnection[] =>
    connections.filter(({ received }) => received().startsWith(`HTTP/1.1 ${status} `));
  /** Resolves when no more connection is answered. */
  const settle = async (count: number, status: number): Promise<void> => {
    await eventually(() => rejections(status).length === count);
  };

  test("in total: 503 with Retry-After, until others are answered", async () => {
    const held = [];
    for (const who of ["ann:admin", "ann:admin", "cid:deployer", "cid:deployer"]) held.push(await upload(who));
    const late = await upload("dee:deployer");
    expect(await answered(late)).toMatch(/^HTTP\/1.1 503 [^]*retry-after: 1\r\n[^]*SERVER_MAX_BODIES_BYTES/i);
    await settle(1, 503);
    expect((await pm.call("GET", "/readyz")).status, "reads are served").toBe(200);
    for (const { socket } of held) socket.write("x");
    for (const connection of held) expect(await answered(connection)).toMatch(/^HTTP\/1.1 400 /);
    const again = await upload("dee:deployer");
    again.socket.write("x");
    expect(await answered(again)).toMatch(/^HTTP\/1.1 400 /);
  });

  test("of one caller: 429 with Retry-After, while others are served", async () => {
    for (let index = 0; index < 4; index += 1) await upload("ann:admin");
    await settle(2, 429);
    const other = await upload("cid:deployer");
    other.socket.write("x");
    expect(await answered(other)).toMatch(/^HTTP\/1.1 400 /);
  });

  test("of unknown length too, by the bytes that arrived", async () => {
    const chunk = `4000\r\n${"x".repeat(0x40_00)}\r\n`;
    const held = [];
    for (let index = 0; index < 3; index += 1) {
      const connection = await open(write(`${as("eve:deployer")}transfer-encoding: chunked\r\n`, "/api/v1/plans"));
      connection.socket.write(chunk.repeat(3));
      held.push(connection);
    }
    await settle(1, 429);
    expect(held.filter(({ received }) => received() === "")).toHaveLength(2);
  });

  test("a client that disconnects gives its share back", async () => {
    for (let round = 0; round < 3; round += 1) {
      const held = [await upload("ann:admin"), await upload("ann:admin")];
      await eventually(async () => {
        const third = await upload("ann:admin");
        await answered(third);
        return third.received().startsWith("HTTP/1.1 429 ");
      });
      for (const { socket } of held) socket.destroy();
      await eventually(async () => {
        const free = await upload("ann:admin");
        free.socket.write("x");
        await answered(free);
        return free.received().startsWith("HTTP/1.1 400 ");
      });
    }
  });
});

describe("connections and event streams are limited", () => {
  test("beyond SERVER_MAX_CONNECTIONS a connection is closed, until another one ends", async () => {
    await start({ env: { SERVER_MAX_CONNECTIONS: "3" } });
    const held = [await open(), await open(), await open()];
    await (
      await open()
    ).closed;
    held[0]?.socket.destroy();
    await eventually(async () => {
      const connection = await open("GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n");
      await Promise.race([connection.closed, eventually(() => connection.received() !== "")]);
      return connection.received().startsWith("HTTP/1.1 200 ");
    });
  });

  test("beyond SERVER_MAX_STREAMS a caller's event stream is answered 429, until another one ends", async () => {
    await start({ tokens: TOKENS, env: { SERVER_MAX_STREAMS: "2" } });
    const stream = (who: string): Promise<RawConnection> =>
      open(`GET /api/v1/events HTTP/1.1\r\nhost: localhost\r\n${as(who)}\r\n`);
    const held = [await stream("bob:viewer"), await stream("bob:viewer")];
    for (const connection of held) await eventually(() => connection.received().includes(": connected"));
    expect(await answered(await stream("bob:viewer"))).toMatch(/^HTTP\/1.1 429 [^]*SERVER_MAX_STREAMS/);
    expect(await answered(await stream("cid:deployer"))).toMatch(/^HTTP\/1.1 200 /);
    held[0]?.socket.destroy();
    await eventually(async () => /^HTTP\/1.1 200 /.test(await answered(await stream("bob:viewer"))));
  });
});
