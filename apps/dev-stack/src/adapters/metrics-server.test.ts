import { TimeSeriesStore, createPrometheusApi } from "@oaas/promql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startMetricsServer, type MetricsServer } from "./metrics-server.ts";

let server: MetricsServer;

beforeAll(async () => {
  const store = new TimeSeriesStore();
  store.append({ __name__: "up" }, 1000, 1);
  server = await startMetricsServer(createPrometheusApi({ store, now: () => 2000, version: "test" }));
});
afterAll(() => server.close());

test("answers queries by GET and by POST", async () => {
  const expected = {
    status: "success",
    data: { resultType: "vector", result: [{ metric: { __name__: "up" }, value: [2, "1"] }] },
  };
  expect(await (await fetch(`${server.url}/api/v1/query?query=up`)).json()).toEqual(expected);
  const body = new URLSearchParams({ query: "up" });
  expect(await (await fetch(`${server.url}/api/v1/query`, { method: "POST", body })).json()).toEqual(expected);
  expect((await fetch(`${server.url}/-/ready`, { method: "HEAD" })).status).toBe(200);
});

test("refuses web pages of other sites", async () => {
  const response = await fetch(`${server.url}/api/v1/query?query=up`, { headers: { origin: "https://example.test" } });
  expect(response.status).toBe(403);
});

test("drops a connection with an excessive body", async () => {
  const body = `query=${"a".repeat(100_000)}`;
  await expect(fetch(`${server.url}/api/v1/query`, { method: "POST", body })).rejects.toThrow("fetch failed");
  expect((await fetch(`${server.url}/-/ready`)).status).toBe(200);
});
