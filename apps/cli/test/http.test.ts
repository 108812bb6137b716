import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { createPlainClient } from "@oaas/contracts/rest/plain";
import { realClock } from "@oaas/foundation/real";
import { sendHttp, streamHttp } from "../src/adapters/http.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serving(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("HTTP requests", () => {
  test("send method, headers and body, and return status, headers and text", async () => {
    const url = await serving((request, response) => {
      const { method, headers } = request;
      let body = "";
      request.setEncoding("utf8").on("data", (part: string) => (body += part));
      request.once("end", () => {
        response.writeHead(201, { etag: '"7"', "x-many": ["a", "b"] });
        response.end(JSON.stringify({ method, length: headers["content-length"], body }));
      });
    });
    const answer = await sendHttp(`${url}/x`, { method: "POST", headers: { accept: "x" }, body: "Ä" });
    expect([answer.status, answer.headers.get("etag"), answer.headers.get("x-many")]).toEqual([201, '"7"', "a, b"]);
    expect(answer.headers.get("x-none")).toBeNull();
    expect(JSON.parse(await answer.text())).toEqual({ method: "POST", length: "2", body: "Ä" });
  });

  test("decompress gzip responses", async () => {
    const url = await serving((_, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("packed")),
    );
    expect(await (await sendHttp(url, { method: "GET", headers: {} })).text()).toBe("packed");
  });

  test("report a redirect without sending the token to its target", async () => {
    let followed = 0;
    const there = await serving((_, response) => response.end(String((followed += 1))));
    const here = await serving((_, response) => response.writeHead(308, { location: `${there}/login` }).end());
    const client = createPlainClient({ baseUrl: here, fetch: sendHttp, clock: realClock, token: () => "secret" });
    await expect(client.call("listPackages")).rejects.toMatchObject({
      kind: "failed-precondition",
      message: `${here} is not the package manager: it redirects to ${there}/login`,
    });
    expect(followed).toBe(0);
  });

  test("are aborted by the signal, also while the body is read", async () => {
    const url = await serving((_, response) => response.writeHead(200).write("begun"));
    const stop = new AbortController();
    const answer = await sendHttp(url, { method: "GET", headers: {}, signal: stop.signal });
    const text = answer.text();
    stop.abort();
    await expect(text).rejects.toThrow();
  });

  test("keep the error code of a failed connection", async () => {
    const gone = await serving((request) => request.socket.destroy());
    await expect(sendHttp(gone, { method: "GET", headers: {} })).rejects.toMatchObject({ code: "ECONNRESET" });
    const refused = sendHttp("http://127.0.0.1:1", { method: "GET", headers: {} });
    await expect(refused).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});

test("streams text without splitting characters, and returns a rejection as result", async () => {
  const letter = Buffer.from("ö");
  const url = await serving((request, response) => {
    if (request.url === "/no") return void response.writeHead(403).end("not you");
    response.writeHead(200).write(letter.subarray(0, 1));
    setImmediate(() => response.end(letter.subarray(1)));
  });
  const { signal } = new AbortController();
  let seen = "";
  for await (const text of streamHttp(url, {}, signal)) seen += text;
  expect(seen).toBe("ö");
  expect(await streamHttp(`${url}/no`, {}, signal).next()).toEqual({
    done: true,
    value: { status: 403, body: "not you" },
  });
});
