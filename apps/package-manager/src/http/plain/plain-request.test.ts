import { createServer, type Server } from "node:http";
import { duplexPair, type Duplex } from "node:stream";
import { sweepSize } from "@oaas/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readPlainRequest } from "./plain-request.ts";

const MAX_BODY = 1_000;
const read = (text: string) => readPlainRequest(Buffer.from(text, "latin1"), MAX_BODY);

describe("what is plain", () => {
  test("a GET", () => {
    expect(read("GET /a?b=%20 HTTP/1.1\r\nHost: x\r\nAccept:\t*/* \r\nx-empty:\r\n\r\nrest")).toEqual({
      method: "GET",
      url: "/a?b=%20",
      rawHeaders: ["Host", "x", "Accept", "*/*", "x-empty", ""],
      body: Buffer.alloc(0),
      bytes: 58,
    });
  });

  test("a POST with its whole body", () => {
    const request = read("POST /a HTTP/1.1\r\nhost: x\r\nContent-Length: 2\r\nConnection: Keep-Alive\r\n\r\n{}GET /");
    expect(request?.body.toString()).toBe("{}");
    expect(request?.rawHeaders).toHaveLength(6);
  });

  test.each([
    ["no end of the head", "GET / HTTP/1.1\r\nhost: x\r\n"],
    ["another version", "GET / HTTP/1.0\r\nhost: x\r\n\r\n"],
    ["another method", "HEAD / HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["a target that is no path", "GET http://x/ HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["two blanks", "GET  / HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["a bare line end", "GET / HTTP/1.1\nhost: x\r\n\r\n"],
    ["a bare line end in a value", "GET / HTTP/1.1\r\nhost: x\ny: z\r\n\r\n"],
    ["a continued line", "GET / HTTP/1.1\r\nhost: x\r\n y\r\n\r\n"],
    ["a blank before the colon", "GET / HTTP/1.1\r\nhost : x\r\n\r\n"],
    ["a control character", "GET / HTTP/1.1\r\nhost: x\u0000\r\n\r\n"],
    ["no host", "GET / HTTP/1.1\r\nx: y\r\n\r\n"],
    ["two hosts", "GET / HTTP/1.1\r\nhost: x\r\nHost: y\r\n\r\n"],
    ["no headers", "GET / HTTP/1.1\r\n\r\n"],
    ["two lengths", "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\n{"],
    ["a length that is no number", "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: +1\r\n\r\n{"],
    ["a body in pieces", "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["half a body", "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{"],
    ["a body that is too long", `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1001\r\n\r\n${"x".repeat(1_001)}`],
    ["a GET with a body", "GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\n{"],
    ["a last request", "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"],
    ["another protocol", "GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"],
    ["a question beforehand", "POST / HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 0\r\n\r\n"],
    ["a long head", `GET / HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(9_000)}\r\n\r\n`],
  ])("not %s", (_, text) => {
    expect(read(text)).toBeUndefined();
  });
});

interface Heard {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

describe("beside Node's parser", () => {
  let server: Server;
  let heard: Heard[] = [];
  let refused = 0;
  beforeAll(() => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { method, url, rawHeaders } = request;
        heard.push({ method, url, rawHeaders, body: Buffer.concat(chunks).toString("latin1") });
        response.end();
      });
    });
    server.on("clientError", (_, socket) => {
      refused += 1;
      socket.destroy();
    });
  });
  afterAll(() => server.close());

  /** All requests that Node's parser finds in some bytes, and whether it took offence at the rest. */
  async function asNodeReads(
    bytes: Buffer,
  ): Promise<{ readonly requests: readonly Heard[]; readonly refused: boolean }> {
    [heard, refused] = [[], 0];
    const [ours, theirs] = duplexPair() as readonly [Duplex, Duplex];
    server.emit("connection", theirs);
    ours.resume();
    ours.on("error", () => undefined);
    const ended = new Promise((resolve) => theirs.once("close", resolve));
    ours.end(bytes);
    await ended;
    return { requests: heard, refused: refused > 0 };
  }

  const word = fc.constantFrom("a", "host", "x", "content-length", "connection", "keep-alive", "close", "1", "é", "te");
  const mark = fc.constantFrom(" ", "\t", ":", "\r", "\n", "\r\n", "\u0000", "/", "?", "%", '"', "\u007f", "");
  const line = fc.oneof(
    { weight: 6, arbitrary: fc.tuple(word, word).map(([name, value]) => `${name}: ${value}\r\n`) },
    { weight: 2, arbitrary: fc.constant("Host: x\r\n") },
    { weight: 1, arbitrary: fc.array(fc.oneof(word, mark), { maxLength: 6 }).map((parts) => `${parts.join("")}\r\n`) },
  );
  const request = fc
    .record({
      method: fc.constantFrom("GET", "POST", "PUT", "DELETE", "get", "PATCH"),
      target: fc.oneof(fc.constantFrom("/", "/a/b?c=d", "*", "//x", "/#"), mark),
      lines: fc.array(line, { maxLength: 5 }),
      body: fc.constantFrom("", "{}", "x"),
      hasLength: fc.boolean(),
      hasHost: fc.boolean(),
    })
    .map(({ method, target, lines, body, hasLength, hasHost }) => {
      const length = hasLength ? `content-length: ${body.length}\r\n` : "";
      return `${method} ${target} HTTP/1.1\r\n${hasHost ? "host: y\r\n" : ""}${length}${lines.join("")}\r\n${hasLength ? body : ""}`;
    });

  test("whatever is plain, Node reads alike", async () => {
    let plain = 0;
    await fc.assert(
      fc.asyncProperty(request, async (text) => {
        const bytes = Buffer.from(text, "latin1");
        const ours = readPlainRequest(bytes, MAX_BODY);
        if (ours === undefined) return;
        plain += 1;
        const { method, url, rawHeaders, body } = ours;
        const theirs = await asNodeReads(bytes.subarray(0, ours.bytes));
        expect(theirs.requests).toEqual([{ method, url, rawHeaders, body: body.toString("latin1") }]);
        expect(theirs.refused).toBe(false);
      }),
      { numRuns: sweepSize(3_000, 100_000), seed: 17 },
    );
    expect(plain).toBeGreaterThan(100);
  });
});
