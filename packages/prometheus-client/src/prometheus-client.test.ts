import { unavailable, type Fault } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { describe, expect, it } from "vitest";
import { createPrometheusClient, type PrometheusClientOptions } from "./prometheus-client.ts";
import type { PrometheusRequest } from "./transport.ts";
import { matrix, scriptedServer, type Answer } from "./testing/scripted-server.ts";
import { identityHeaders } from "./request-headers.ts";

const RANGE = { expression: 'sum(rate(x{a="b"}[5m]))', startMs: 0, endMs: 600_000, stepMs: 30_000 };

function setup(
  handle: (request: PrometheusRequest) => Answer | "hang",
  options: Partial<PrometheusClientOptions> = {},
) {
  const ambient = virtualAmbient(7);
  const server = scriptedServer(handle);
  const client = createPrometheusClient({
    transport: server,
    ambient,
    url: "http://prometheus:9090",
    urlSetting: "OPRC_CRM_PROM_URL",
    timeoutMs: 5_000,
    ...options,
  });
  /** Settles a call on virtual time; a rejection becomes a value. */
  const settle = async <T>(work: Promise<T>): Promise<T | Fault> => {
    const progress = { over: false };
    const done = work.catch((thrown: unknown) => thrown as Fault).finally(() => (progress.over = true));
    while (!progress.over) await ambient.time.step();
    return done;
  };
  return { ambient, server, client, settle, range: (query = RANGE) => settle(client.queryRange(query)) };
}

const empty = { body: matrix([]) };

describe("PrometheusClient", () => {
  it("posts the query as a form below the path prefix, with its identity and a timeout for the server", async () => {
    const { server, range } = setup(() => empty, {
      url: "https://mimir.example/prometheus/",
      headers: () => identityHeaders({ token: "t0k", tenant: "team-a" }),
    });
    expect(await range()).toMatchObject({ series: [] });
    const [request] = server.sent;
    expect(request).toMatchObject({
      method: "POST",
      url: "https://mimir.example/prometheus/api/v1/query_range",
      headers: {
        authorization: "Bearer t0k",
        "x-scope-orgid": "team-a",
        "content-type": "application/x-www-form-urlencoded",
      },
    });
    const form = Object.fromEntries(new URLSearchParams(request?.body));
    expect(form).toEqual({ query: RANGE.expression, start: "0", end: "600", step: "30", timeout: "5000ms" });
  });

  it("uses GET from then on when the server answers 405", async () => {
    const { server, range } = setup(({ method }) => (method === "POST" ? { status: 405 } : empty));
    await range();
    await range();
    expect(server.sent.map(({ method }) => method)).toEqual(["POST", "GET", "GET"]);
    const url = new URL(server.sent[1]?.url ?? "");
    expect(url.searchParams.get("query")).toBe(RANGE.expression);
    expect(server.sent[1]?.body).toBeUndefined();
  });

  it("accepts a base URL that ends in /api/v1 and keeps its query", async () => {
    const { server, client, settle } = setup(() => empty, { url: "http://p/api/v1?dedup=true" });
    await settle(client.queryInstant({ expression: "up", atMs: 1_500 }));
    expect(server.sent[0]?.url).toBe("http://p/api/v1/query?dedup=true");
    expect(new URLSearchParams(server.sent[0]?.body).get("time")).toBe("1.5");
  });

  it.each([
    ["a server error", () => ({ status: 503, body: { status: "error", errorType: "unavailable", error: "starting" } })],
    ["a broken connection", () => { throw unavailable("p", "cannot reach p (ECONNRESET)"); }], // prettier-ignore
  ])("retries %s once", async (_, fail) => {
    let calls = 0;
    const flaky = setup(() => ((calls += 1) === 1 ? fail() : empty));
    expect(await flaky.range()).toMatchObject({ series: [] });
    expect(flaky.server.sent).toHaveLength(2);
    const broken = setup(fail);
    expect(await broken.range()).toMatchObject({ kind: "unavailable" });
    expect(broken.server.sent).toHaveLength(2);
  });

  const faults: { name: string; answer: Answer; kind: string; message: RegExp }[] = [
    { name: "a login page", answer: { body: "<html>" }, kind: "failed-precondition", message: /HTML page.*OPRC_CRM_PROM_URL/ },
    { name: "an empty body", answer: { body: "" }, kind: "failed-precondition", message: /empty body.*OPRC_CRM_PROM_URL/ },
    { name: "another API", answer: { body: { ok: 1 } }, kind: "failed-precondition", message: /OPRC_CRM_PROM_URL/ },
    { name: "a wrong prefix", answer: { status: 404, body: "404 page not found" }, kind: "failed-precondition", message: /404.*OPRC_CRM_PROM_URL.*prefix/ },
    { name: "a redirect", answer: { status: 302, headers: { location: "https://login/x?state=s3cret" } }, kind: "failed-precondition", message: /redirect to https:\/\/login\/x,/ },
    { name: "a bad query", answer: { status: 400, body: { status: "error", errorType: "bad_data", error: "parse error" } }, kind: "failed-precondition", message: /rejects the query \(bad_data: parse error\)/ },
    { name: "no credentials", answer: { status: 401, body: "Unauthorized" }, kind: "unauthenticated", message: /401.*credentials/ },
    { name: "a wrong tenant", answer: { status: 403 }, kind: "permission-denied", message: /tenant/ },
    { name: "no samples left", answer: { status: 422, body: { status: "error", errorType: "execution", error: "query processing would load too many samples" } }, kind: "failed-precondition", message: /too many samples/ },
  ]; // prettier-ignore
  it.each(faults)("does not retry $name and explains it", async ({ answer, kind, message }) => {
    const { server, range } = setup(() => answer);
    const fault = (await range()) as Fault;
    expect(fault).toMatchObject({ kind, message: expect.stringMatching(message) });
    expect(fault.message).not.toContain("s3cret");
    expect(server.sent).toHaveLength(1);
  });

  it("waits as long as a busy server asks", async () => {
    let calls = 0;
    const { ambient, range } = setup(() =>
      (calls += 1) === 1 ? { status: 429, headers: { "retry-after": "2" } } : empty,
    );
    expect(await range()).toMatchObject({ series: [] });
    expect(ambient.clock.monotonic()).toBe(2_000);
  });

  it("ends at the deadline, and says how long it waited", async () => {
    const { ambient, client, settle, range } = setup(() => "hang");
    expect(await range()).toMatchObject({ kind: "deadline-exceeded", message: expect.stringContaining("5000 ms") });
    expect(ambient.clock.monotonic()).toBe(5_000);
    expect(await settle(client.queryRange(RANGE, { deadlineMs: 100 }))).toMatchObject({ kind: "deadline-exceeded" });
    expect(ambient.clock.monotonic()).toBe(5_100);
  });

  it("stops reading above the size limit", async () => {
    const { range } = setup(() => ({ body: " ".repeat(2_000) }), { maxBytes: 1_000 });
    expect(await range()).toMatchObject({
      kind: "failed-precondition",
      message: expect.stringMatching(/larger than 1 MiB/),
    });
  });

  it("decodes characters that are cut between chunks", async () => {
    const { range } = setup(() => ({ body: matrix([[{ class: "größe→日本" }, [[1, "1"]]]]) }));
    expect(await range()).toMatchObject({ series: [{ labels: { class: "größe→日本" } }] });
  });

  it("rejects calls after five failures until a health check succeeds", async () => {
    let isUp = false;
    const { server, client, settle, range } = setup(() => (isUp ? empty : { status: 500 }));
    for (let n = 0; n < 5; n += 1) await range();
    expect(client.breaker).toBe("open");
    const before = server.sent.length;
    expect(await range()).toMatchObject({ kind: "unavailable", message: expect.stringMatching(/5 times in a row/) });
    expect(server.sent).toHaveLength(before);
    expect(await settle(client.healthCheck())).toMatchObject({
      isHealthy: false,
      reason: expect.stringMatching(/500/),
    });
    isUp = true;
    expect(await settle(client.healthCheck())).toMatchObject({ isHealthy: true });
    expect(client.breaker).toBe("closed");
    expect(await range()).toMatchObject({ series: [] });
  });

  it("does not count an aborted call as a failure", async () => {
    const { client } = setup(() => "hang");
    for (let n = 0; n < 6; n += 1) {
      const caller = new AbortController();
      const call = client.queryRange(RANGE, { signal: caller.signal });
      caller.abort();
      await expect(call).rejects.toMatchObject({ kind: "cancelled" });
    }
    expect(client.breaker).toBe("closed");
  });

  it("runs a limited number of queries at once", async () => {
    const { server, client } = setup(() => "hang", { maxConcurrent: 2 });
    for (let n = 0; n < 5; n += 1) client.queryRange(RANGE).catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    expect(server.sent).toHaveLength(2);
  });
});

describe("identityHeaders", () => {
  it("encodes user and password in UTF-8, and prefers a token", () => {
    const basic = identityHeaders({ username: "ü", password: "p:w" });
    expect(basic).toEqual({ authorization: `Basic ${Buffer.from("ü:p:w").toString("base64")}` });
    expect(identityHeaders({ token: "t", username: "u" })).toEqual({ authorization: "Bearer t" });
    expect(identityHeaders({})).toEqual({});
  });
});
