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
      await eventually(
        async () => {
          // Ratios need 30 requests in their window, counted from the first scrape.
          await Promise.all(Array.from({ length: 10 }, () => platform.pm.call("GET", "/api/v1/packages")));
          // Reconciles before the first scrape have no rate.
          await platform.changeClass();
          expect(await emptyPanels()).toEqual([]);
        },
        { timeoutMs: 90_000, what: "values in all panels" },
      );
    },
    TIMEOUT_MS,
  );

  test("no alert fires about healthy managers", async () => {
    const alerts = await platform.prometheus.query('ALERTS{alertname!="PackageManagerSlow",alertstate="firing"}');
    expect(alerts.map(({ labels }) => labels["alertname"])).toEqual([]);
  });
});
