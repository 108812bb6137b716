import { describeWith, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { panelsOf } from "../../../tools/generate/monitoring/model.ts";
import { DASHBOARDS } from "../../../tools/generate/monitoring/monitoring.ts";
import { startMonitoredPlatform, type MonitoredPlatform } from "../src/monitored-platform.ts";

const TIMEOUT_MS = 180_000;

/** Selects everything, as the dashboards do at first. */
function withVariables(expr: string, job: string): string {
  const variables = { __rate_interval: "1m", job, cluster: ".*", namespace: ".*", class: ".*" };
  return expr.replaceAll(/\$(\w+)/g, (_, name: string) => variables[name as keyof typeof variables]);
}

const PANELS = DASHBOARDS.flatMap((dashboard) =>
  panelsOf(dashboard).flatMap(({ title, queries }) =>
    queries.map(({ expr, legend }) => ({ at: `${dashboard.title}, ${title}: ${legend}`, expr, uid: dashboard.uid })),
  ),
);

describeWith(["prometheus", "kubectl"], "panels of the dashboards, with both managers and a real Prometheus", () => {
  let platform: MonitoredPlatform;
  let startedMs: number;
  beforeAll(async () => {
    startedMs = Date.now();
    platform = await startMonitoredPlatform();
  }, TIMEOUT_MS);
  afterAll(() => platform?.[Symbol.asyncDispose]());

  /** The panels without a number at any time since the start. */
  const emptyPanels = async (): Promise<string[]> => {
    const range = { fromMs: startedMs, toMs: Date.now(), stepMs: 1_000 };
    const shown = PANELS.map(async ({ at, expr, uid }) => {
      const job = uid === "oaas-package-manager" ? "oaas-pm" : "oaas-crm";
      const series = await platform.prometheus.queryRange(withVariables(expr, job), range);
      const isShown = series.some(({ points }) => points.some(({ value }) => Number.isFinite(value)));
      return isShown ? [] : [at];
    });
    return (await Promise.all(shown)).flat();
  };

  test(
    "all show values",
    async () => {
      const requests = Array.from({ length: 10 }, () => platform.pm.call("GET", "/api/v1/deployments"));
      await Promise.all(requests);
      const stream = new AbortController();
      const events = await fetch(`${platform.pm.url}/api/v1/events`, { signal: stream.signal });
      const reading = events.text().catch(() => "closed");
      await eventually(
        async () => {
          // Ratios need 30 requests in their window, counted from the first scrape.
          await Promise.all(Array.from({ length: 10 }, () => platform.pm.call("GET", "/api/v1/packages")));
          // Reconciles before the first scrape have no rate.
          await platform.changeClass();
          await platform.changeDeployment();
          expect(await emptyPanels()).toEqual([]);
        },
        { timeoutMs: 90_000, what: "values in all panels" },
      );
      stream.abort();
      expect(await reading).toBe("closed");
    },
    TIMEOUT_MS,
  );

  test("exemplars of both managers lead to the same trace", async () => {
    await eventually(
      async () => {
        const range = { fromMs: startedMs, toMs: Date.now() };
        const tracesOf = async (selector: string): Promise<ReadonlySet<string>> =>
          new Set((await platform.prometheus.exemplars(selector, range)).map((labels) => labels["trace_id"] ?? ""));
        const requests = await tracesOf('pm_http_request_seconds_bucket{operation="createDeployment"}');
        const reconciles = await tracesOf("crm_reconciliation_duration_seconds_bucket");
        expect([...requests].filter((id) => reconciles.has(id)).length).toBeGreaterThan(0);
        expect([...requests].every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
      },
      { timeoutMs: 60_000, what: "a trace in the exemplars of both managers" },
    );
  });

  test("no alert fires about healthy managers", async () => {
    const alerts = await platform.prometheus.query('ALERTS{alertname!="PackageManagerSlow",alertstate="firing"}');
    expect(alerts.map(({ labels }) => labels["alertname"])).toEqual([]);
  });
});
