import { execFile } from "node:child_process";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { promisify } from "node:util";
import { create, toBinary } from "@bufbuild/protobuf";
import {
  DeployRequestSchema,
  DeploymentService,
  grpcHealth,
  grpcReflection,
  TopologyService,
} from "@oaas/contracts/grpc";
import { Fault } from "@oaas/foundation";
import { createRecordingMeter } from "@oaas/observability/testing";
import { eventually, makeAuthority } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serve, type Serving } from "./serving.ts";
import { callByFetch, framed, onlyReply, unframed } from "./web-client.ts";

const run = promisify(execFile);
const { deploy, watchClassRuntimes, getDeploymentStatus } = DeploymentService.method;

describe("gRPC-Web", () => {
  let serving: Serving;
  let base: string;
  const meter = createRecordingMeter();
  beforeAll(async () => {
    serving = await serve({
      maxRequestBytes: 1_000,
      meter,
      webOrigins: ["https://console.test"],
      authorize: (_method, call) => {
        if (call.header("authorization") === "Bearer bad") throw new Fault({ kind: "unauthenticated" }, "no");
      },
    });
    base = `http://127.0.0.1:${serving.port}`;
  });
  afterAll(() => serving.onePort.close(500));

  test.each([{ text: false }, { text: true }])("serves a unary call, text: $text", async ({ text }) => {
    const response = await callByFetch(
      base,
      deploy,
      { deploymentUnit: { id: "web" } },
      {
        text,
        headers: { "x-correlation-id": "c-web" },
      },
    );
    expect(response.httpStatus).toBe(200);
    expect(response.headers.get("content-type")).toBe(`application/grpc-web${text ? "-text" : ""}+proto`);
    expect(onlyReply(deploy, response).deploymentId).toBe("web");
    expect(response.trailers.get("grpc-status")).toBe("0");
    expect(response.headers.get("x-correlation-id")).toBe("c-web");
    expect(serving.received.calls.at(-1)?.correlationId).toBe("c-web");
    expect(serving.received.calls.at(-1)?.peer.address).toBe("127.0.0.1");
  });

  test.each([{ text: false }, { text: true }])("streams message by message, text: $text", async ({ text }) => {
    const before = serving.received.aborted.filter((what) => what === "watch ended").length;
    const caller = new AbortController();
    const body = framed(watchClassRuntimes.input, {});
    const response = await fetch(`${base}/${DeploymentService.typeName}/WatchClassRuntimes`, {
      method: "POST",
      headers: { "content-type": `application/grpc-web${text ? "-text" : ""}` },
      body: text ? body.toString("base64") : new Uint8Array(body),
      signal: caller.signal,
    });
    let received = Buffer.alloc(0);
    const expectedBytes = 3 * (text ? 12 : 8);
    for await (const chunk of response.body!) {
      received = Buffer.concat([received, Buffer.from(chunk)]);
      if (received.length >= expectedBytes) break;
    }
    const frames = text ? Buffer.from(received.toString("latin1").replaceAll("=", ""), "base64") : received;
    expect(frames.length).toBeGreaterThan(0);
    caller.abort();
    await eventually(() => serving.received.aborted.filter((what) => what === "watch ended").length > before, {
      what: "the server to notice that the reader left",
    });
  });

  test.each([
    { case: "a fault of the handler", unit: { id: "rejected" }, code: "9", message: "ODGM is disabled" },
    { case: "a fault with violations", unit: { id: "invalid" }, code: "3", message: "choose another" },
    { case: "an exception without its message", unit: { id: "crash" }, code: "13", message: "internal error" },
  ])("$case: sends status, message, fault and correlation id in the trailers", async ({ unit, code, message }) => {
    const response = await callByFetch(
      base,
      deploy,
      { deploymentUnit: unit },
      { headers: { "x-correlation-id": "c-err" } },
    );
    expect(response.httpStatus).toBe(200);
    expect(response.messages).toEqual([]);
    expect(response.trailers.get("grpc-status")).toBe(code);
    expect(decodeURIComponent(response.trailers.get("grpc-message") ?? "")).toMatch(new RegExp(message));
    expect(response.trailers.get("grpc-message")).not.toContain("secret");
    expect(response.trailers.get("x-correlation-id")).toBe("c-err");
    expect(response.trailers.has("oaas-fault-bin")).toBe(true);
  });

  test.each([
    { case: "an unknown method", method: getDeploymentStatus, code: "12" },
    { case: "an unknown service", method: TopologyService.method.getTopology, code: "12" },
    {
      case: "a method that streams requests",
      method: grpcReflection.ServerReflection.method.serverReflectionInfo,
      code: "12",
    },
  ])("$case is unimplemented", async ({ method, code }) => {
    expect((await callByFetch(base, method, {})).trailers.get("grpc-status")).toBe(code);
  });

  test.each([
    { case: "bytes that are not a message", body: Buffer.from([0, 0, 0, 0, 3, 255, 255, 255]), code: "3" },
    { case: "a truncated frame", body: Buffer.from([0, 0, 0, 0, 9, 1]), code: "3" },
    { case: "no frame", body: Buffer.alloc(0), code: "3" },
    { case: "a compressed frame", body: Buffer.from([1, 0, 0, 0, 0]), code: "3" },
    {
      case: "more than the limit",
      body: framed(DeployRequestSchema, { deploymentUnit: { id: "x".repeat(2_000) } }),
      code: "8",
    },
    { case: "far more than the limit", body: Buffer.alloc(3_000_000), code: "8" },
  ])("rejects $case and keeps serving", async ({ body, code }) => {
    for (const text of [false, true]) {
      const response = await callByFetch(base, deploy, body, { text });
      expect(response.trailers.get("grpc-status")).toBe(code);
    }
    expect((await callByFetch(base, deploy, { deploymentUnit: { id: "ok" } })).trailers.get("grpc-status")).toBe("0");
  });

  test("rejects text that is not base64", async () => {
    const response = await fetch(`${base}/${DeploymentService.typeName}/Deploy`, {
      method: "POST",
      headers: { "content-type": "application/grpc-web-text" },
      body: "%%%",
    });
    expect(Buffer.from(await response.text(), "base64").toString("latin1")).toContain("grpc-status: 3");
  });

  test("uses the authorisation and health of gRPC", async () => {
    const deployed = serving.received.deployed.length;
    const rejected = await callByFetch(base, deploy, {}, { headers: { authorization: "Bearer bad" } });
    expect(rejected.trailers.get("grpc-status")).toBe("16");
    expect(serving.received.deployed).toHaveLength(deployed);
    const { check } = grpcHealth.Health.method;
    expect(onlyReply(check, await callByFetch(base, check, { service: "" })).status).toBe(2);
  });

  test("the deadline in grpc-timeout ends the call on both sides", async () => {
    const aborted = serving.received.aborted.length;
    // On a busy machine a short time is over before the request is read: then it is given more.
    for (let ms = 150; serving.received.aborted.length === aborted; ms *= 2) {
      const slow = { deploymentUnit: { id: "slow" } };
      const response = await callByFetch(base, deploy, slow, { headers: { "grpc-timeout": `${ms}m` } });
      expect(response.trailers.get("grpc-status")).toBe("4");
    }
  });

  test("cancels the call when the client disconnects", async () => {
    const before = serving.received.aborted.length;
    const caller = new AbortController();
    const call = callByFetch(base, deploy, { deploymentUnit: { id: "slow" } }, { signal: caller.signal }).catch(
      () => undefined,
    );
    await eventually(() => serving.rpc.inFlight === 1);
    caller.abort();
    await call;
    await eventually(() => serving.rpc.inFlight === 0 && serving.received.aborted.length > before);
  });

  test("does not log an error when the client disconnects during its request", async () => {
    const count = (code: string) =>
      meter.value("grpc_server_handled_total", { method: `/${DeploymentService.typeName}/Deploy`, code }) ?? 0;
    const before = [count("CANCELLED"), count("INTERNAL")] as const;
    const socket = connect(serving.port, "127.0.0.1");
    socket.write(
      `POST /${DeploymentService.typeName}/Deploy HTTP/1.1\r\nhost: a\r\ncontent-type: application/grpc-web\r\ncontent-length: 100\r\n\r\nhalf`,
    );
    await eventually(() => serving.rpc.inFlight === 1);
    socket.destroy();
    await eventually(() => count("CANCELLED") === before[0] + 1, { what: "the call to end" });
    expect(count("INTERNAL")).toBe(before[1]);
  });

  test("works over HTTP/2 on the same connection as gRPC and HTTP", async () => {
    const session = connectHttp2(base);
    const ask = (
      headers: Record<string, string>,
      body?: Buffer,
    ): Promise<{ status: unknown; correlationId: unknown; body: Buffer }> =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ":method": body ? "POST" : "GET", ...headers });
        const chunks: Buffer[] = [];
        let status: unknown;
        let correlationId: unknown;
        stream.on("response", (response) => {
          status = response[":status"];
          correlationId = response["x-correlation-id"];
        });
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("end", () => resolve({ status, correlationId, body: Buffer.concat(chunks) }));
        stream.on("error", reject);
        stream.end(body);
      });
    const path = `/${DeploymentService.typeName}/Deploy`;
    const body = framed(DeployRequestSchema, { deploymentUnit: { id: "h2" } });
    const [web, native, plain] = await Promise.all([
      ask({ ":path": path, "content-type": "application/grpc-web+proto" }, body),
      ask({ ":path": path, "content-type": "application/grpc", te: "trailers", "x-correlation-id": "c-h2" }, body),
      ask({ ":path": "/health" }),
    ]);
    expect(web.status).toBe(200);
    expect(unframed(web.body).trailers.get("grpc-status")).toBe("0");
    expect(native.correlationId).toBe("c-h2");
    expect(unframed(native.body).messages).toHaveLength(1);
    expect(unframed(native.body).trailers.size).toBe(0);
    expect(plain.body.toString()).toBe("http GET /health");
    session.close();
  });

  test("works with buf curl", async () => {
    const reply = await run(
      "buf",
      [
        "curl",
        "--protocol",
        "grpcweb",
        "--schema",
        "packages/contracts/proto",
        "-d",
        '{"deploymentUnit":{"id":"buf"}}',
        `${base}/${DeploymentService.typeName}/Deploy`,
      ],
      { timeout: 30_000 },
    );
    expect(JSON.parse(reply.stdout)).toMatchObject({ deploymentId: "buf" });
  });

  describe("origins", () => {
    const url = () => `${base}/${DeploymentService.typeName}/Deploy`;
    const ask = (origin: string, extra: Record<string, string> = {}) =>
      fetch(url(), { method: "OPTIONS", headers: { origin, "access-control-request-method": "POST", ...extra } });

    test("allows a listed origin, also in the preflight response", async () => {
      const allowed = await ask("https://console.test");
      expect(allowed.status).toBe(204);
      expect(allowed.headers.get("access-control-allow-origin")).toBe("https://console.test");
      expect(allowed.headers.get("access-control-allow-headers")).toContain("grpc-timeout");
      const response = await callByFetch(base, deploy, {}, { headers: { origin: "https://console.test" } });
      expect(response.headers.get("access-control-allow-origin")).toBe("https://console.test");
      expect(response.headers.get("access-control-expose-headers")).toContain("x-correlation-id");
    });

    test.each(["https://evil.test", "null", "http://console.test", "https://console.test.evil.test"])(
      "%s may not, and its call reaches no handler",
      async (origin) => {
        const deployed = serving.received.deployed.length;
        const question = await ask(origin);
        expect([question.status, question.headers.get("access-control-allow-origin")]).toEqual([403, null]);
        expect((await callByFetch(base, deploy, {}, { headers: { origin } })).httpStatus).toBe(403);
        expect(serving.received.deployed).toHaveLength(deployed);
      },
    );

    test.each([
      ["GET", 405],
      ["OPTIONS", 405],
    ])("returns the status of a %s request that is not a preflight: %i", async (method, status) => {
      const headers: Record<string, string> = method === "GET" ? { "content-type": "application/grpc-web" } : {};
      expect((await fetch(url(), { method, headers })).status).toBe(status);
    });
  });
});

test("finishes running calls and ends streams with a retryable fault on stop", async () => {
  const serving = await serve();
  const base = `http://127.0.0.1:${serving.port}`;
  const stream = callByFetch(base, watchClassRuntimes, {});
  await eventually(() => serving.rpc.inFlight === 1);
  await serving.onePort.close(100);
  expect((await stream).trailers.get("grpc-status")).toBe("14");
});

describe("client certificates", () => {
  const servers = makeAuthority("servers");
  const clients = makeAuthority("clients");
  const server = servers.issue({ commonName: "crm", hosts: ["127.0.0.1", "localhost"] });
  const friend = clients.issue({ commonName: "pm" });
  const impostor = makeAuthority("others").issue({ commonName: "pm" });
  let serving: Serving;
  beforeAll(async () => {
    serving = await serve({
      openPaths: ["/health"],
      tls: {
        cert: server.certificate,
        key: server.key,
        ca: clients.certificate,
        requestCert: true,
        rejectUnauthorized: false,
      },
      authorize: (_method, call) => {
        if (!call.peer.certificate) throw new Fault({ kind: "unauthenticated" }, "show a certificate");
      },
    });
  });
  afterAll(() => serving.onePort.close(500));

  const message = toBinary(DeployRequestSchema, create(DeployRequestSchema, {}));
  const request = (
    identity: { certificate: string; key: string } | undefined,
    headers: Record<string, string>,
  ): Promise<{ status: unknown; grpc: string | undefined }> =>
    new Promise((resolve, reject) => {
      const session = connectHttp2(`https://localhost:${serving.port}`, {
        ca: servers.certificate,
        ...(identity ? { cert: identity.certificate, key: identity.key } : {}),
      });
      session.on("error", reject);
      const isCall = headers["content-type"] !== undefined;
      const stream = session.request({ ":method": isCall ? "POST" : "GET", ...headers });
      let status: unknown;
      let grpc: string | undefined;
      const chunks: Buffer[] = [];
      stream.on("response", (response) => {
        status = response[":status"];
        grpc = response["grpc-status"] as string | undefined;
      });
      stream.on("trailers", (trailers) => (grpc = String(trailers["grpc-status"])));
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("error", reject);
      stream.on("close", () => {
        session.close();
        const isWeb = headers["content-type"]?.startsWith("application/grpc-web");
        resolve({ status, grpc: isWeb ? unframed(Buffer.concat(chunks)).trailers.get("grpc-status") : grpc });
      });
      stream.end(isCall ? Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]) : undefined);
    });
  const path = `/${DeploymentService.typeName}/Deploy`;

  test.each([
    { case: "a public path accepts every client", headers: { ":path": "/health" }, friend: 200, stranger: 200 },
    { case: "other paths need the certificate", headers: { ":path": "/metrics" }, friend: 200, stranger: 403 },
  ])("$case", async ({ headers, ...expected }) => {
    expect((await request(friend, headers)).status).toBe(expected.friend);
    expect((await request(undefined, headers)).status).toBe(expected.stranger);
  });

  test.each(["application/grpc", "application/grpc-web"])("rejects %s calls without a certificate", async (type) => {
    const headers = { ":path": path, "content-type": type };
    expect((await request(friend, headers)).grpc).toBe("0");
    expect(serving.received.calls.at(-1)?.peer.certificate?.commonName).toBe("pm");
    expect((await request(undefined, headers)).grpc).toBe("16");
  });

  test("closes connections with a certificate of another authority, also for open paths", async () => {
    const response = await request(impostor, { ":path": "/health" }).catch(() => undefined);
    expect(response?.status).toBeUndefined();
  });
});
