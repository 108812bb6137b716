import { createHash } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { createRecordingLogger } from "@oaas/observability/testing";
import { afterEach, describe, expect, test } from "vitest";
import { echoPackage, startPm, type PmOptions, type PmUnderTest } from "./running-pm.ts";

let pm: PmUnderTest;
afterEach(() => pm.close());

interface Response {
  readonly status: number | undefined;
  readonly text: string;
  readonly allowedOrigin: string | undefined;
}

/** Sends headers that `fetch` does not allow to set. */
async function send(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = "",
  port = pm.app.port,
): Promise<Response> {
  const sent = request({ host: "127.0.0.1", port, method, path, headers, agent: false }).end(body);
  const [response] = await once(sent, "response");
  let text = "";
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, text, allowedOrigin: response.headers["access-control-allow-origin"] };
}

const post = (headers: Readonly<Record<string, string>>): Promise<Response> =>
  send(
    "POST",
    "/api/v1/packages",
    { "content-type": "application/json", ...headers },
    JSON.stringify(echoPackage("shop")),
  );

const FOREIGN = [
  { header: "host", headers: { host: "evil.example" }, status: 421, fix: "SERVER_ALLOWED_HOSTS" },
  { header: "origin", headers: { origin: "https://evil.example" }, status: 403, fix: "SERVER_CORS_ORIGINS" },
  { header: "origin", headers: { origin: "null" }, status: 403, fix: "SERVER_CORS_ORIGINS" },
  { header: "sec-fetch-site", headers: { "sec-fetch-site": "cross-site" }, status: 403, fix: "SERVER_CORS_ORIGINS" },
  { header: "sec-fetch-site", headers: { "sec-fetch-site": "same-site" }, status: 403, fix: "SERVER_CORS_ORIGINS" },
] as const;

describe("without authentication", () => {
  const start = async (options: PmOptions = {}): Promise<void> => {
    pm = await startPm(options);
  };

  test.each(FOREIGN)("rejects $headers with $status on every route, naming the header and the fix", async (foreign) => {
    await start();
    const { header, headers, status, fix } = foreign;
    for (const [method, path] of [
      ["GET", "/api/v1/packages"],
      ["GET", "/health"],
      ["GET", "/api/v1/events"],
      ["DELETE", "/api/v1/packages/shop"],
    ] as const) {
      const { text, ...answer } = await send(method, path, headers);
      expect([method, path, answer.status, answer.allowedOrigin]).toEqual([method, path, status, undefined]);
      const problem = JSON.parse(text) as Record<string, unknown>;
      expect(problem).toMatchObject({
        status,
        kind: "permission-denied",
        error: expect.stringContaining(`the ${header} header`),
      });
      expect(problem["error"]).toContain(fix);
    }
    expect((await post(headers)).status).toBe(status);
    expect((await pm.call("GET", "/api/v1/packages/shop")).status, "nothing was written").toBe(404);
  });

  test("records a rejected write of a web page in the audit trail", async () => {
    const recording = createRecordingLogger();
    await start({ logger: recording.log });
    await post({ origin: "https://evil.example" });
    const line = recording.records.find(({ fields }) => fields["action"] === "createPackage");
    expect(line?.fields).toMatchObject({ status: 403, refused: expect.stringContaining("evil.example") });
  });

  test("accepts programs, pages of the server itself, and links that a person follows", async () => {
    await start();
    const host = `localhost:${pm.app.port}`;
    const visit = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    expect((await post({ host, origin: `http://${host}`, "sec-fetch-site": "same-origin" })).status).toBe(201);
    for (const headers of [{}, { host: "pm.localhost" }, { host: "[::1]:1" }, { "sec-fetch-site": "none" }, visit])
      expect((await send("GET", "/docs", headers)).status).toBe(200);
  });

  test("accepts the configured hosts and origins only", async () => {
    await start({
      env: { SERVER_ALLOWED_HOSTS: "pm.internal", SERVER_CORS_ORIGINS: "https://console.example" },
    });
    const console = { origin: "https://console.example", "sec-fetch-site": "cross-site" };
    expect((await post({ host: "pm.internal:8080", ...console })).status).toBe(201);
    expect(await send("GET", "/api/v1/packages", console)).toMatchObject({
      status: 200,
      allowedOrigin: "https://console.example",
    });
    expect((await post({ host: "other.internal" })).status).toBe(421);
    expect((await post({ ...console, origin: "https://other.example" })).status).toBe(403);
  });

  test("accepts addresses as hosts beyond loopback, where probes and peers use them", async () => {
    await start({ env: { AUTH_MODE: "off", SERVER_HOST: "0.0.0.0" } });
    expect((await send("GET", "/health", { host: "10.1.2.3:8080" })).status).toBe(200);
    expect((await send("GET", "/health", { host: "evil.example" })).status).toBe(421);
  });

  test("protects the metrics listener and the gRPC port too", async () => {
    await start({ env: { METRICS_PORT: "0", GRPC_PORT: "0" } });
    const { metricsPort, grpcPort } = pm.app;
    const call = "/oaas.package.PackageService/ListPackages";
    for (const { header, headers, status } of FOREIGN) {
      const scraped = await send("GET", "/metrics", headers, "", metricsPort);
      expect([scraped.status, scraped.text]).toEqual([status, expect.stringContaining(`the ${header} header`)]);
      const web = await send("POST", call, headers, "", grpcPort);
      expect([web.status, web.text]).toEqual([status, expect.stringContaining(`the ${header} header`)]);
    }
    expect((await send("GET", "/metrics", {}, "", metricsPort)).status).toBe(200);
    expect((await send("GET", "/", {}, "", grpcPort)).status).toBe(404);
  });
});

describe("with authentication", () => {
  test("a token decides, wherever the request comes from", async () => {
    pm = await startPm({ tokens: `ann:admin:${createHash("sha256").update("s3cret").digest("hex")}` });
    for (const { headers } of FOREIGN) {
      expect((await send("GET", "/api/v1/packages", headers)).status).toBe(401);
      expect((await send("GET", "/api/v1/packages", { ...headers, authorization: "Bearer s3cret" })).status).toBe(200);
    }
    expect(pm.app.warnings.join()).toContain("clear text");
  });
});
