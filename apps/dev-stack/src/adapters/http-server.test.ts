import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { realIds } from "@oaas/foundation/real";
import { NOOP_CONTEXT, NOOP_LOGGER } from "@oaas/observability";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startHttpServer, type HttpServer } from "./http-server.ts";

let server: HttpServer;
let acts: unknown[];
const reply = { status: 200, contentType: "text/plain", body: "done" };

beforeAll(async () => {
  acts = [];
  server = await startHttpServer({
    host: "127.0.0.1",
    port: 0,
    secret: "s3cret",
    routes: [
      { path: "/health", does: "read", read: () => reply },
      {
        path: "/control/break",
        does: "act",
        act: async (body) => {
          acts.push(body);
          return reply;
        },
      },
    ],
    logger: NOOP_LOGGER,
    context: NOOP_CONTEXT,
    ids: realIds,
  });
});
afterAll(() => server.close(0));

async function send(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = "",
): Promise<{ status: number | undefined; text: string }> {
  const sent = request(server.url + path, { method, headers, agent: false }).end(body);
  const [response] = await once(sent, "response");
  let text = "";
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, text };
}

const SECRET = { authorization: "Bearer s3cret" };

test.each([
  { headers: { host: "evil.example" }, status: 421 },
  { headers: { origin: "https://evil.example" }, status: 403 },
  { headers: { "sec-fetch-site": "cross-site" }, status: 403 },
])("rejects $headers with $status, with the secret too", async ({ headers, status }) => {
  const [header] = Object.keys(headers);
  const answers = [
    await send("GET", "/health", headers),
    await send("POST", "/control/break", { ...headers, ...SECRET }),
  ];
  for (const answer of answers) {
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toMatchObject({ status, error: expect.stringContaining(`the ${header} header`) });
  }
  expect(acts).toEqual([]);
});

test("rejects a control request with a body that is not declared as JSON", async () => {
  for (const type of [{}, { "content-type": "text/plain" }])
    expect((await send("POST", "/control/break", { ...type, ...SECRET }, "{}")).status).toBe(415);
  expect(acts).toEqual([]);
});

test("serves programs and pages of this server", async () => {
  const { host } = new URL(server.url);
  expect((await send("GET", "/health", {})).status).toBe(200);
  expect((await send("GET", "/health", { origin: `http://${host}`, "sec-fetch-site": "same-origin" })).status).toBe(
    200,
  );
  expect((await send("POST", "/control/break", SECRET)).status).toBe(200);
  const json = { ...SECRET, "content-type": "application/json" };
  expect((await send("POST", "/control/break", json, '{"a":1}')).status).toBe(200);
  expect(acts).toEqual([undefined, { a: 1 }]);
});

test("answers a wrong secret before the body arrives", async () => {
  const { port } = new URL(server.url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.write("POST /control/break HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n");
  const [bytes] = (await once(socket, "data")) as [Buffer];
  expect(bytes.toString()).toMatch(/^HTTP\/1.1 401 /);
  socket.destroy();
});
