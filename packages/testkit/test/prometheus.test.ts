import { rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWith, startPrometheus, type PrometheusUnderTest, type Sample } from "../src/index.ts";

const MINUTE = 60_000;
const every15s = (fromMs: number, count: number, valueOf: (index: number) => number): Sample[] =>
  Array.from({ length: count }, (_, index) => ({ atMs: fromMs + index * 15_000, value: valueOf(index) }));

describeWith(["prometheus"], "a real Prometheus", () => {
  let prometheus: PrometheusUnderTest;
  const now = Math.floor(Date.now() / MINUTE) * MINUTE;
  beforeAll(async () => {
    prometheus = await startPrometheus();
  });
  afterAll(() => prometheus?.close());

  it("returns the written samples with their timestamps", async () => {
    const samples = every15s(now - 2 * MINUTE, 5, (index) => index / 2);
    await prometheus.write([{ labels: { __name__: "exact", class: "a" }, samples }]);
    const [series] = await prometheus.query("exact[5m]", now);
    expect(series).toEqual({ labels: { __name__: "exact", class: "a" }, points: samples });
  });

  it("computes the rate of a counter from more than one snappy chunk", async () => {
    const series = Array.from({ length: 20 }, (_, index) => ({
      labels: { __name__: "requests_total", class: `c${index}` },
      samples: every15s(now - 60 * MINUTE, 241, (at) => at * 15 * (index + 1)),
    }));
    await prometheus.write(series);
    const range = { fromMs: now - 50 * MINUTE, toMs: now, stepMs: 5 * MINUTE };
    const [rates] = await prometheus.queryRange('rate(requests_total{class="c19"}[5m])', range);
    expect(rates?.points).toHaveLength(11);
    for (const { value } of rates?.points ?? []) expect(value).toBeCloseTo(20, 6);
  });

  it("accepts samples older than the newest", async () => {
    const at = (atMs: number) => [{ labels: { __name__: "late" }, samples: [{ atMs, value: 1 }] }];
    await prometheus.write(at(now));
    await prometheus.write(at(now - 7 * 24 * 60 * MINUTE));
    expect(await prometheus.query("late", now - 7 * 24 * 60 * MINUTE)).toHaveLength(1);
  });

  it("reports invalid queries", async () => {
    await expect(prometheus.query("sum(")).rejects.toThrow(/parse error/);
    const clash = (value: number) => [{ labels: { __name__: "clash" }, samples: [{ atMs: now, value }] }];
    await prometheus.write(clash(1));
    await expect(prometheus.write(clash(2))).rejects.toThrow(/duplicate|out of order/i);
  });

  it("reports its log if it does not start", async () => {
    const thrown = await startPrometheus({ config: { scrape_configs: 7 } }).catch((error: unknown) => error);
    const { message } = thrown as Error;
    expect(message).toMatch(/scrape_configs|unmarshal/);
    await rm(/files are in (\S+)/.exec(message)?.[1] ?? "", { recursive: true });
  });
});
