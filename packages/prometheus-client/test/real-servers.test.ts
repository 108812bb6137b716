import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realAmbient } from "@oaas/foundation/real";
import { describeWith, makeAuthority, startPrometheus, type PrometheusUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUndiciTransport, type UndiciTransportOptions } from "../src/adapters/index.ts";
import { createPrometheusClient, identityHeaders, type PrometheusClient } from "../src/index.ts";

function connect(url: string, options: Partial<UndiciTransportOptions> = {}, token?: string): PrometheusClient {
  return createPrometheusClient({
    transport: createUndiciTransport({ clock: realAmbient.clock, ...options }),
    ambient: realAmbient,
    url,
    urlSetting: "OPRC_CRM_PROM_URL",
    headers: () => identityHeaders({ token }),
    timeoutMs: 10_000,
    maxSamples: 1_000,
  });
}

describeWith(["prometheus"], "the client and a real Prometheus", () => {
  let prometheus: PrometheusUnderTest;
  let client: PrometheusClient;
  const now = Math.floor(Date.now() / 60_000) * 60_000;
  beforeAll(async () => {
    prometheus = await startPrometheus();
    const samples = Array.from({ length: 41 }, (_, at) => ({ atMs: now - (40 - at) * 15_000, value: at * 15 }));
    await prometheus.write(
      ["a", "b"].map((owner) => ({ labels: { __name__: "requests_total", oaas_owner: owner }, samples })),
    );
    client = connect(prometheus.url);
  });
  afterAll(async () => {
    await client?.close();
    await prometheus?.close();
  });

  it("queries a range and an instant", async () => {
    const expression = "sum by (oaas_owner) (rate(requests_total[1m]))";
    const range = { expression, startMs: now - 300_000, endMs: now, stepMs: 60_000 };
    const { series, warnings } = await client.queryRange(range);
    expect(warnings).toEqual([]);
    expect(new Set(series.map(({ labels }) => labels["oaas_owner"]))).toEqual(new Set(["a", "b"]));
    expect(series[0]?.samples).toHaveLength(6);
    for (const { value } of series[0]?.samples ?? []) expect(value).toBeCloseTo(1, 6);
    const instant = await client.queryInstant({ expression: "max(requests_total)", atMs: now });
    expect(instant.series).toEqual([{ labels: {}, samples: [{ atMs: now, value: 600 }] }]);
  });

  it("drops NaN and infinite values of the server and counts them", async () => {
    const { series, droppedSamples } = await client.queryInstant({ expression: "vector(0) / 0 or vector(1) / 0" });
    expect(series).toEqual([{ labels: {}, samples: [] }]);
    expect(droppedSamples).toBe(1);
  });

  it("explains an invalid query, a wrong prefix and too many samples", async () => {
    await expect(client.queryInstant({ expression: "sum(" })).rejects.toThrow(
      /rejects the query \(bad_data.*parse error/,
    );
    const range = { expression: "requests_total", startMs: now - 600_000, endMs: now, stepMs: 1_000 };
    await expect(client.queryRange(range)).rejects.toThrow(/too many samples/);
    const lost = connect(`${prometheus.url}/prefix`);
    await expect(lost.queryInstant({ expression: "1" })).rejects.toThrow(/404.*OPRC_CRM_PROM_URL/);
    await lost.close();
  });

  it("reports health, and its loss", async () => {
    expect(await client.healthCheck()).toMatchObject({ isHealthy: true });
    const gone = connect("http://127.0.0.1:1");
    expect(await gone.healthCheck()).toMatchObject({
      isHealthy: false,
      reason: expect.stringContaining("cannot reach"),
    });
    await gone.close();
  });
});

describe("the client over TLS", () => {
  let folder: string;
  let server: Server;
  let url: string;
  const authority = makeAuthority("test");
  const file = (name: string): string => join(folder, name);
  const writeClient = async (commonName: string): Promise<void> => {
    const { certificate, key } = authority.issue({ commonName });
    await writeFile(file("client.pem"), certificate);
    await writeFile(file("client.key"), key);
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "prometheus-client-"));
    await writeFile(file("ca.pem"), authority.certificate);
    await writeClient("crm-1");
    const { certificate, key } = authority.issue({ commonName: "prometheus", hosts: ["127.0.0.1"] });
    const tls = { cert: certificate, key, ca: authority.certificate, requestCert: true, rejectUnauthorized: false };
    server = createServer(tls, (request, response) => {
      const { authorization } = request.headers;
      const peer = (request.socket as TLSSocket).getPeerCertificate().subject?.CN ?? "none";
      response.statusCode = authorization === "Bearer good" ? 200 : 401;
      const result = [{ metric: { peer }, value: [1, "1"] }];
      response.end(JSON.stringify({ status: "success", data: { resultType: "vector", result } }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });

  it("trusts the configured authority, and presents its certificate", async () => {
    const files = { caFile: file("ca.pem"), certFile: file("client.pem"), keyFile: file("client.key") };
    const client = connect(url, files, "good");
    const { series } = await client.queryInstant({ expression: "1" });
    expect(series[0]?.labels).toEqual({ peer: "crm-1" });
    await client.close();
  });

  it("rejects an unknown authority without a retry, and names what to check", async () => {
    const client = connect(url, {}, "good");
    await expect(client.queryInstant({ expression: "1" })).rejects.toMatchObject({
      kind: "failed-precondition",
      message: expect.stringMatching(/check the certificate authority/),
    });
    await client.close();
  });

  it("uses a rotated certificate, and reports a wrong token", async () => {
    let skewMs = 0;
    const clock = { now: () => realAmbient.clock.now(), monotonic: () => realAmbient.clock.monotonic() + skewMs };
    const files = { clock, caFile: file("ca.pem"), certFile: file("client.pem"), keyFile: file("client.key") };
    const client = connect(url, files, "good");
    await client.queryInstant({ expression: "1" });
    await writeClient("crm-2");
    skewMs = 60_000;
    const { series } = await client.queryInstant({ expression: "1" });
    expect(series[0]?.labels).toEqual({ peer: "crm-2" });
    await client.close();
    const stranger = connect(url, files, "bad");
    await expect(stranger.queryInstant({ expression: "1" })).rejects.toMatchObject({ kind: "unauthenticated" });
    await stranger.close();
  });
});
