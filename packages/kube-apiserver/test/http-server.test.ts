import { once } from "node:events";
import { request } from "node:http";
import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { makeAuthority } from "@oaas/testkit";
import { afterEach, describe, expect, test } from "vitest";
import type { Api, ApiRequest } from "../src/api.ts";
import { listenHttp, type HttpListener, type HttpOptions } from "../src/adapters/http-server.ts";
import { startEmbedded } from "../src/adapters/start-embedded.ts";

let listener: HttpListener;
let served: ApiRequest[];
/** A response that stays open until the client leaves. */
async function* quietWatch(signal: AbortSignal): AsyncGenerator<string> {
  yield "{}\n";
  await once(signal, "abort");
}
const api: Api = {
  handle: async (sent) => {
    served.push(sent);
    const body = sent.target === "/watch" ? quietWatch(sent.signal) : "done";
    return { status: 200, headers: { "content-type": "text/plain" }, body };
  },
};

async function listen(options: HttpOptions = {}): Promise<URL> {
  served = [];
  listener = await listenHttp(api, options);
  return new URL(listener.url);
}
afterEach(() => listener.close());

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function send(url: URL, method: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const sent = request(new URL("/api", url), { method, headers, agent: false }).end();
  const [response] = await once(sent, "response");
  let text = "";
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, text };
}

async function sendHttp2(session: ClientHttp2Session, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const stream = session.request({ ":path": "/api", ":method": "GET", ...headers });
  const [answer] = await once(stream.end(), "response");
  let text = "";
  for await (const chunk of stream) text += chunk;
  return { status: Number(answer[":status"]), text };
}

describe("a server without authentication", () => {
  test.each([
    { headers: { host: "evil.example" }, status: 421 },
    { headers: { origin: "https://evil.example" }, status: 403 },
    { headers: { origin: "null" }, status: 403 },
    { headers: { "sec-fetch-site": "cross-site" }, status: 403 },
  ])("rejects $headers with $status", async ({ headers, status }) => {
    const url = await listen({ isOpen: true });
    const session = connectHttp2(url);
    const [name = "", value = ""] = Object.entries(headers)[0] ?? [];
    const answers = [
      await send(url, "POST", headers),
      await sendHttp2(session, name === "host" ? { ":authority": value } : headers),
    ];
    session.close();
    for (const answer of answers) {
      expect(answer.status).toBe(status);
      expect(JSON.parse(answer.text)).toMatchObject({
        kind: "Status",
        code: status,
        reason: "Forbidden",
        message: expect.stringContaining(`the ${name} header`),
      });
    }
    expect(served).toEqual([]);
  });

  test("serves programs at loopback", async () => {
    const url = await listen({ isOpen: true });
    for (const host of [url.host, `localhost:${url.port}`])
      expect((await send(url, "POST", { host })).status).toBe(200);
    const session = connectHttp2(url);
    expect((await sendHttp2(session, {})).status).toBe(200);
    session.close();
  });

  test("is what an embedded cluster without a token is", async () => {
    for (const [token, status] of [
      [undefined, 421],
      ["s3cret", 200],
    ] as const) {
      const cluster = await startEmbedded(token === undefined ? {} : { token });
      const authorization = `Bearer ${token}`;
      expect((await send(new URL(cluster.url), "GET", { host: "evil.example", authorization })).status).toBe(status);
      await cluster.close();
    }
    await listen();
  });
});

describe("slow clients", () => {
  const timeouts = { headersMs: 200, requestMs: 400, idleMs: 300 };
  const opened = (url: URL, text: string): Socket => {
    const socket = connect(Number(url.port), "127.0.0.1");
    socket.on("error", () => undefined);
    socket.resume();
    socket.write(text);
    return socket;
  };

  test.each([
    { why: "no request", text: "" },
    { why: "half a head", text: "GET /api HTTP/1.1\r\nhost: localhost\r\n" },
    { why: "half a body", text: "POST /api HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{" },
    { why: "a preface of HTTP/2 alone", text: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" },
  ])("are disconnected: $why", async ({ text }) => {
    const socket = opened(await listen({ timeouts }), text);
    await once(socket, "close");
    expect(served).toEqual([]);
  });

  test("are disconnected: half a head over TLS", async () => {
    const authority = makeAuthority("test");
    const { key, certificate } = authority.issue({ commonName: "localhost", hosts: ["127.0.0.1"] });
    const url = await listen({ timeouts, tls: { key, certificate, authority: authority.certificate } });
    const socket = connectTls({ port: Number(url.port), host: "127.0.0.1", rejectUnauthorized: false });
    socket.on("error", () => undefined);
    socket.resume();
    await once(socket, "secureConnect");
    socket.write("GET /api HTTP/1.1\r\nhost: localhost\r\n");
    await once(socket, "close");
  });

  test("of HTTP/2 lose a stream whose body does not arrive, and an idle session", async () => {
    const session = connectHttp2(await listen({ timeouts }));
    const stream = session.request({ ":path": "/api", ":method": "POST" });
    stream.on("error", () => undefined);
    stream.write("{");
    await once(stream, "close");
    expect(served).toEqual([]);
    await once(session, "close");
  });

  test("of a quiet watch stay connected, over HTTP/1.1 and HTTP/2", async () => {
    const url = await listen({ timeouts });
    const socket = opened(url, "GET /watch HTTP/1.1\r\nhost: localhost\r\n\r\n");
    const session = connectHttp2(url);
    const stream = session.request({ ":path": "/watch" });
    await Promise.all([once(socket, "data"), once(stream, "data")]);
    await new Promise((resolve) => setTimeout(resolve, 3 * timeouts.requestMs));
    expect([socket.destroyed, stream.destroyed, session.destroyed]).toEqual([false, false, false]);
    socket.destroy();
    session.destroy();
  });
});
