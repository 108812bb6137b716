import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { request } from "node:http";
import { createRecordingLogger } from "@oaas/observability/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { echoPackage, startPm, type PmUnderTest } from "./running-pm.ts";

let pm: PmUnderTest;
const recording = createRecordingLogger();

beforeAll(async () => {
  pm = await startPm({
    logger: recording.log,
    env: { SERVER_MAX_BODY_BYTES: "65536", SERVER_CORS_ORIGINS: "https://console.example" },
  });
});
afterAll(() => pm.close());

let count = 0;
const fresh = (): string => `pkg-${(count += 1)}`;

describe("packages over HTTP", () => {
  test("returns Unicode text unchanged, with its length in bytes", async () => {
    const name = fresh();
    const description = "größer ☃ \u{1F600}";
    await pm.call("POST", "/api/v1/packages", { body: echoPackage(name, { metadata: { description } }) });
    const read = await pm.call("GET", `/api/v1/packages/${name}`, { headers: { "accept-encoding": "identity" } });
    expect(read).toMatchObject({ status: 200, json: { metadata: { description } } });
    expect(read.headers.get("content-length")).toBe(String(Buffer.byteLength(read.text)));
  });

  test("returns the location of a new package, and 304 for a known ETag", async () => {
    const name = fresh();
    const created = await pm.call("POST", "/api/v1/packages", { body: echoPackage(name) });
    expect(created.headers.get("location")).toBe(`/api/v1/packages/${name}`);
    const etag = created.headers.get("etag") as string;
    const again = (ifNoneMatch: string) =>
      pm.call("GET", `/api/v1/packages/${name}`, { headers: { "if-none-match": ifNoneMatch } });
    for (const same of [etag, `"0", W/${etag}`, "*"]) {
      const read = await again(same);
      expect([read.status, read.text, read.headers.get("etag")]).toEqual([304, "", etag]);
    }
    expect(await again('"0"')).toMatchObject({ status: 200, json: { name } });
    await pm.call("POST", `/api/v1/packages/${name}`, { body: echoPackage(name, { version: "2" }) });
    expect(await again(etag)).toMatchObject({ status: 200, json: { version: "2" } });
    const head = await pm.call("HEAD", `/api/v1/packages/${name}`, { headers: { "if-none-match": "*" } });
    expect(head.status).toBe(304);
    const write = { body: echoPackage(name, { version: "3" }), headers: { "if-none-match": "*" } };
    expect(await pm.call("POST", `/api/v1/packages/${name}`, write), "a write is rejected").toMatchObject({
      status: 412,
    });
  });

  test("a compressed response has its own ETag, valid in conditions of reads and writes", async () => {
    const name = fresh();
    const body = echoPackage(name, { metadata: { description: "long ".repeat(1_000) } });
    const created = await pm.call("POST", "/api/v1/packages", { body });
    const etag = created.headers.get("etag") as string;
    const read = (headers: Record<string, string>) => pm.call("GET", `/api/v1/packages/${name}`, { headers });
    const plain = await read({ "accept-encoding": "identity" });
    expect([plain.headers.get("etag"), plain.headers.get("vary")]).toEqual([etag, "Origin, accept-encoding"]);
    const zipped = await read({ "accept-encoding": "gzip", "x-correlation-id": "etag" });
    expect(zipped.headers.get("x-correlation-id")).toBe("etag");
    expect(zipped.headers.get("content-encoding")).toBe("gzip");
    const tag = zipped.headers.get("etag") as string;
    expect(tag).not.toBe(etag);
    const again = await read({ "if-none-match": tag });
    expect([again.status, again.headers.get("etag"), again.headers.get("content-length")]).toEqual([304, tag, null]);
    const change = { body: echoPackage(name, { version: "2" }), headers: { "if-match": tag } };
    expect(await pm.call("POST", `/api/v1/packages/${name}`, change)).toMatchObject({ status: 200 });
    expect(await pm.call("POST", `/api/v1/packages/${name}`, change)).toMatchObject({ status: 412 });
  });

  test("accepts lists of ETags", async () => {
    const name = fresh();
    const created = await pm.call("POST", "/api/v1/packages", { body: echoPackage(name) });
    const etag = created.headers.get("etag") as string;
    const url = `/api/v1/packages/${name}`;
    const change = (version: string, headers: Record<string, string>) =>
      pm.call("POST", url, { body: echoPackage(name, { version }), headers });
    expect(await change("2", { "if-match": '"0", "1"' })).toMatchObject({ status: 412 });
    expect(await change("2", { "if-match": `W/${etag}` })).toMatchObject({ status: 412 });
    expect(await change("2", { "if-none-match": `"0", ${etag}` })).toMatchObject({ status: 412 });
    expect(await change("2", { "if-match": `"0", ${etag}`, "if-none-match": '"0"' })).toMatchObject({ status: 200 });
    expect(await pm.call("GET", url, { headers: { "if-match": etag } })).toMatchObject({
      status: 412,
      json: { code: "OAAS_VERSION_MISMATCH" },
    });
    expect(await pm.call("GET", url, { headers: { "if-match": `${etag}, *` } })).toMatchObject({ status: 412 });
    expect(await pm.call("GET", url, { headers: { "if-match": "*" } })).toMatchObject({ status: 200 });
  });

  test("creates, reads, updates with If-Match, rolls back and deletes", async () => {
    const name = fresh();
    const created = await pm.call("POST", "/api/v1/packages?reason=first", { body: echoPackage(name) });
    expect(created).toMatchObject({ status: 201, json: { id: name, status: "created" } });
    const read = await pm.call("GET", `/api/v1/packages/${name}`);
    expect(read).toMatchObject({ status: 200, json: { name, version: null } });
    const etag = read.headers.get("etag") as string;
    expect(etag).toMatch(/^"\d+"$/);
    const change = (version: string, ifMatch: string) =>
      pm.call("POST", `/api/v1/packages/${name}`, {
        body: echoPackage(name, { version }),
        headers: { "if-match": ifMatch },
      });
    expect(await change("2", etag)).toMatchObject({ status: 200, json: { status: "updated" } });
    expect(await change("3", etag)).toMatchObject({ status: 412, json: { code: "OAAS_VERSION_MISMATCH" } });
    expect(await change("3", "nonsense")).toMatchObject({ status: 412 });
    expect(await pm.call("GET", `/api/v1/packages/${name}/diff`)).toMatchObject({
      json: { from: 1, to: 2, changes: [{ path: "$.version", change: "changed", after: "2" }] },
    });
    expect(await pm.call("POST", `/api/v1/packages/${name}/rollback`, { body: { revision: 1 } })).toMatchObject({
      status: 200,
    });
    const revisions = await pm.call("GET", `/api/v1/packages/${name}/revisions?limit=2`);
    expect(revisions.json.map((each: { revision: number }) => each.revision)).toEqual([3, 2]);
    expect(revisions.headers.get("x-total-count")).toBe("3");
    expect(await pm.call("GET", `/api/v1/packages/${name}/revisions/1`)).toMatchObject({
      json: { reason: "first", package: { name } },
    });
    expect(await pm.call("DELETE", `/api/v1/packages/${name}`)).toMatchObject({ status: 204, text: "" });
    expect(await pm.call("GET", `/api/v1/packages/${name}`)).toMatchObject({
      status: 404,
      json: { kind: "not-found" },
    });
  });

  test("a client can compute the digest of a revision", async () => {
    const name = fresh();
    await pm.call("POST", "/api/v1/packages", { body: echoPackage(name, { metadata: { description: "größer" } }) });
    const { json } = await pm.call("GET", `/api/v1/packages/${name}/revisions/1`);
    const { created_at: _, updated_at: __, ...metadata } = json.package.metadata;
    const canonical = JSON.stringify({ ...json.package, metadata }, (_key, value: unknown) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    );
    expect(json.digest).toBe(`sha256:${createHash("sha256").update(canonical).digest("hex")}`);
  });

  test("accepts YAML", async () => {
    const name = fresh();
    const sent = await pm.call("POST", "/api/v1/packages", {
      raw: stringify(echoPackage(name)),
      headers: { "content-type": "application/yaml" },
    });
    expect(sent.status).toBe(201);
    expect((await pm.call("GET", `/api/v1/packages/${name}`)).json.functions).toHaveLength(1);
  });

  test("lists by page token and offset, with the total", async () => {
    const names = [fresh(), fresh(), fresh()].map((each) => `list-${each}`);
    for (const name of names) await pm.call("POST", "/api/v1/packages", { body: echoPackage(name) });
    const first = await pm.call("GET", "/api/v1/packages?name_pattern=list-&limit=2");
    expect(first.json).toHaveLength(2);
    expect(first.headers.get("x-total-count")).toBe("3");
    const token = first.headers.get("x-next-page-token") as string;
    const second = await pm.call(
      "GET",
      `/api/v1/packages?name_pattern=list-&limit=2&page_token=${encodeURIComponent(token)}`,
    );
    expect(second.json.map((each: { name: string }) => each.name)).toEqual([names.toSorted()[2]]);
    expect(second.headers.get("x-next-page-token")).toBeNull();
    expect((await pm.call("GET", "/api/v1/packages?name_pattern=list-&limit=1&offset=2")).json).toHaveLength(1);
    expect((await pm.call("GET", "/api/v1/classes?filter=list-*")).json).toHaveLength(3);
  });

  test("replays the response of an idempotency key, and rejects another request with it", async () => {
    const name = fresh();
    const send = (body: object) =>
      pm.call("POST", "/api/v1/packages", { body, headers: { "idempotency-key": `key-${name}` } });
    const [first, second] = [await send(echoPackage(name)), await send(echoPackage(name))];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(second.headers.get("etag")).toBe(first.headers.get("etag"));
    expect(await send(echoPackage(fresh()))).toMatchObject({
      status: 422,
      json: { violations: [{ path: "$.Idempotency-Key" }] },
    });
    const failing = { body: { name: "bad name" }, headers: { "idempotency-key": "failing" } };
    expect((await pm.call("POST", "/api/v1/packages", failing)).status).toBe(400);
    expect((await pm.call("POST", "/api/v1/packages", failing)).status, "a failed request can be retried").toBe(400);
    for (const key of ["", "x".repeat(256)])
      expect(
        await pm.call("POST", "/api/v1/packages", {
          body: echoPackage(fresh()),
          headers: { "idempotency-key": key },
        }),
      ).toMatchObject({ status: 400, json: { violations: [{ path: "$.Idempotency-Key" }] } });
  });
});

describe("invalid requests", () => {
  const json = { "content-type": "application/json" };
  test.each([
    {
      why: "not JSON",
      method: "POST",
      path: "/api/v1/packages",
      raw: "{",
      headers: json,
      status: 400,
      contains: "not valid JSON",
    },
    {
      why: "an empty body",
      method: "POST",
      path: "/api/v1/packages",
      raw: "",
      headers: json,
      status: 400,
      contains: "is empty",
    },
    { why: "a list", method: "POST", path: "/api/v1/packages", raw: "[]", headers: json, status: 400, contains: "$" },
    {
      why: "not UTF-8",
      method: "POST",
      path: "/api/v1/packages",
      raw: new Uint8Array([0xff, 0xfe]),
      headers: json,
      status: 400,
      contains: "UTF-8",
    },
    {
      why: "an unsupported media type",
      method: "POST",
      path: "/api/v1/packages",
      raw: "x",
      headers: { "content-type": "text/csv" },
      status: 415,
      contains: "application/json",
    },
    {
      why: "invalid YAML",
      method: "POST",
      path: "/api/v1/packages",
      raw: "a: [",
      headers: { "content-type": "application/yaml" },
      status: 400,
      contains: "YAML",
    },
    {
      why: "an oversized body",
      method: "POST",
      path: "/api/v1/packages",
      raw: `"${"x".repeat(70_000)}"`,
      headers: json,
      status: 413,
      contains: "SERVER_MAX_BODY_BYTES",
    },
    { why: "an unknown path", method: "GET", path: "/api/v1/nothing", status: 404, contains: "/openapi.json" },
    { why: "a method of other routes", method: "DELETE", path: "/api/v1/packages", status: 405, contains: "POST" },
    { why: "a method that no route has", method: "QUERY", path: "/api/v1/packages", status: 405, contains: "POST" },
    {
      why: "a path of the data plane",
      method: "POST",
      path: "/api/v1/scripts/build",
      status: 501,
      contains: "data plane",
    },
    { why: "below the gateway", method: "GET", path: "/api/gateway/a/b/c", status: 501, contains: "data plane" },
    { why: "an invalid limit", method: "GET", path: "/api/v1/packages?limit=many", status: 400, contains: "$.limit" },
    { why: "an invalid sort", method: "GET", path: "/api/v1/packages?sort=size", status: 400, contains: "$.sort" },
    {
      why: "an invalid page token",
      method: "GET",
      path: "/api/v1/packages?page_token=zzz",
      status: 400,
      contains: "$.page_token",
    },
    {
      why: "a revision that is not a number",
      method: "GET",
      path: "/api/v1/packages/x/revisions/one",
      status: 404,
      contains: "revision",
    },
    {
      why: "an invalid escape in the path",
      method: "GET",
      path: "/api/v1/packages/%ff",
      status: 400,
      contains: "path",
    },
    { why: "an unknown cluster", method: "GET", path: "/api/v1/clusters/none/health", status: 404, contains: "none" },
    { why: "an unknown topology", method: "GET", path: "/api/v1/topology?source=x", status: 400, contains: "$.source" },
    {
      why: "too few nodes of a topology",
      method: "GET",
      path: "/api/v1/topology?max_nodes=5",
      status: 400,
      contains: "$.max_nodes",
    },
  ])("$why: $status", async ({ method, path, raw, headers, status, contains }) => {
    const answer = await pm.call(method, path, {
      ...(raw === undefined ? {} : { raw }),
      ...(headers ? { headers } : {}),
    });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    expect(answer.json).toMatchObject({ status, error: expect.any(String), correlationId: expect.any(String) });
    expect(answer.text).toContain(contains);
  });

  test("405 lists the allowed methods", async () => {
    expect((await pm.call("PUT", "/api/v1/packages/x")).headers.get("allow")).toBe("GET, HEAD, POST, DELETE");
  });

  test("returns all violations of a package at once", async () => {
    const answer = await pm.call("POST", "/api/v1/packages", {
      body: {
        name: "bad name",
        classes: [{ key: "A.b" }],
        functions: [{ key: "f", provision_config: { cpu_request: "lots", min_scale: 3, max_scale: 1 } }],
      },
    });
    expect(answer.status).toBe(400);
    expect(answer.json.violations.map((each: { path: string }) => each.path).sort()).toEqual(
      expect.arrayContaining(["$.classes[0].key", "$.functions[0].provision_config.cpu_request", "$.name"]),
    );
  });
});

describe("the edge", () => {
  test("returns the correlation id of the request, or a new one", async () => {
    const given = await pm.call("GET", "/health", { headers: { "x-correlation-id": "mine-1" } });
    expect(given.headers.get("x-correlation-id")).toBe("mine-1");
    expect((await pm.call("GET", "/health")).headers.get("x-correlation-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("serves health with warnings, readiness with checks, OpenAPI and the reference page", async () => {
    const health = await pm.call("GET", "/health");
    expect(health).toMatchObject({ status: 200, json: { status: "healthy", storage: { status: "ok" } } });
    expect(health.json.warnings.join(" ")).toMatch(/in memory.*AUTH_TOKENS_FILE/);
    expect(await pm.call("GET", "/readyz")).toMatchObject({
      status: 200,
      json: { ready: true, checks: { registry: { ok: true } } },
    });
    expect((await pm.call("GET", "/openapi.json")).json.openapi).toBe("3.1.1");
    const page = await pm.call("GET", "/docs");
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(page.text).toContain("/api/v1/packages/{name}");
    expect((await pm.call("HEAD", "/health")).status).toBe(200);
  });

  test("serves metrics without a token on loopback only, and elsewhere with a warning", async () => {
    const tokens = `ann:admin:${"0".repeat(64)}`;
    await using closed = await startPm({ tokens, env: { METRICS_PORT: "0" } });
    // Other loopback addresses reach the REST listener, which listens on all addresses with a token file.
    expect((await fetch(`http://127.0.0.2:${closed.app.port}/metrics`)).status).toBe(401);
    await expect(fetch(`http://127.0.0.2:${closed.app.metricsPort}/metrics`)).rejects.toThrow();
    await using open = await startPm({ tokens, env: { METRICS_PORT: "0", METRICS_HOST: "0.0.0.0" } });
    expect((await fetch(`http://127.0.0.2:${open.app.metricsPort}/metrics`)).status).toBe(200);
    expect((await open.call("GET", "/health")).text).toContain(
      "every client that reaches 0.0.0.0 can read the metrics",
    );
  });

  test("serves metrics on a separate port, and none when disabled", async () => {
    await using own = await startPm({ env: { METRICS_PORT: "0" } });
    const listener = `http://127.0.0.1:${own.app.metricsPort}`;
    expect((await fetch(`${listener}/metrics`)).status).toBe(200);
    expect((await fetch(`${listener}/api/v1/packages`)).status).toBe(404);
    expect((await fetch(`${listener}/metrics`, { method: "POST" })).status).toBe(404);
    await using off = await startPm({ env: { METRICS_ENABLED: "false", METRICS_PORT: "0" } });
    expect(off.app.metricsPort).toBeUndefined();
    expect(await off.call("GET", "/metrics")).toMatchObject({
      status: 404,
      json: { error: expect.stringContaining("METRICS_ENABLED") as string },
    });
  });

  test("compresses large responses for clients that accept it", async () => {
    const plain = await pm.call("GET", "/openapi.json", { headers: { "accept-encoding": "identity" } });
    const { port } = new URL(pm.url);
    const packed = await new Promise<{ encoding: string | undefined; bytes: Buffer }>((resolve, reject) => {
      request({ port, path: "/openapi.json", headers: { "accept-encoding": "gzip" } }, (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () =>
          resolve({ encoding: response.headers["content-encoding"], bytes: Buffer.concat(parts) }),
        );
      })
        .on("error", reject)
        .end();
    });
    expect(packed.encoding).toBe("gzip");
    expect(gunzipSync(packed.bytes).toString()).toBe(plain.text);
    expect(packed.bytes.length).toBeLessThan(plain.text.length / 4);
  });

  test("rejects a compressed body", async () => {
    const packed = await pm.call("POST", "/api/v1/packages", {
      body: echoPackage(fresh()),
      headers: { "content-encoding": "gzip" },
    });
    expect(packed).toMatchObject({ status: 415, json: { error: expect.stringContaining("gzip") } });
  });

  test("allows the configured origins only", async () => {
    const from = (origin: string, method = "GET") => pm.call(method, "/api/v1/packages", { headers: { origin } });
    expect((await from("https://console.example")).headers.get("access-control-allow-origin")).toBe(
      "https://console.example",
    );
    expect((await from("https://evil.example")).headers.get("access-control-allow-origin")).toBeNull();
    expect(await from("https://console.example", "OPTIONS")).toMatchObject({ status: 204 });
    expect(await from("https://evil.example", "OPTIONS")).toMatchObject({ status: 405 });
  });

  test("audits every change, also when it is rejected", async () => {
    const name = fresh();
    await pm.call("POST", "/api/v1/packages", { body: echoPackage(name), headers: { "x-correlation-id": "audit-1" } });
    await pm.call("POST", "/api/v1/packages", { body: echoPackage(name), headers: { "x-correlation-id": "audit-2" } });
    await pm.call("GET", `/api/v1/packages/${name}`);
    const lines = recording.records
      .filter(({ fields }) => String(fields["correlation_id"]).startsWith("audit-"))
      .map(({ fields }) => fields);
    expect(lines).toMatchObject([
      {
        action: "createPackage",
        target: `/api/v1/packages/${name}`,
        status: 201,
        correlation_id: "audit-1",
        caller: expect.stringContaining("anonymous@"),
      },
      {
        action: "createPackage",
        status: 409,
        correlation_id: "audit-2",
        refused: expect.stringContaining("exists already"),
      },
    ]);
  });
});

describe("with credentials", () => {
  const hash = (token: string): string => createHash("sha256").update(token).digest("hex");
  let guarded: PmUnderTest;
  beforeAll(async () => {
    guarded = await startPm({
      tokens: ["viewer", "deployer", "admin"].map((role) => `${role}-1:${role}:${hash(role)}`).join("\n"),
      env: { SERVER_HOST: "127.0.0.1", SERVER_RATE_LIMIT: "0.1", SERVER_RATE_BURST: "12" },
    });
  });
  afterAll(() => guarded.close());

  const as = (token: string | undefined, method: string, path: string, body?: object) =>
    guarded.call(method, path, {
      ...(body ? { body } : {}),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });

  test("requires credentials for everything but health, and enforces roles", async () => {
    expect((await as(undefined, "GET", "/health")).status).toBe(200);
    const anonymous = await as(undefined, "GET", "/api/v1/packages");
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get("www-authenticate")).toBe('Bearer realm="oaas"');
    expect((await as(undefined, "GET", "/metrics")).status).toBe(401);
    expect((await as("wrong", "GET", "/api/v1/packages")).status).toBe(401);
    expect((await as("viewer", "GET", "/api/v1/packages")).status).toBe(200);
    expect(await as("viewer", "POST", "/api/v1/packages", echoPackage("p"))).toMatchObject({
      status: 403,
      json: { error: expect.stringContaining("deployer") },
    });
    expect((await as("deployer", "POST", "/api/v1/packages", echoPackage("p"))).status).toBe(201);
    expect((await as("deployer", "POST", "/api/v1/clusters", { name: "c", url: "http://x" })).status).toBe(403);
    expect((await as("admin", "GET", "/api/v1/packages/p/revisions")).json).toMatchObject([{ author: "deployer-1" }]);
  });

  test("limits the rate of one caller, with retry-after, and not that of others", async () => {
    const answers = [];
    for (let index = 0; index < 14; index += 1) answers.push(await as("viewer", "GET", "/api/v1/packages"));
    const refused = answers.at(-1);
    expect(refused?.status).toBe(429);
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await as("admin", "GET", "/api/v1/packages")).status).toBe(200);
  });
});
