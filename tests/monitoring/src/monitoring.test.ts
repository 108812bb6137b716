import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { BURN_RATE_WINDOWS } from "@oaas/nfr";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { alertsOf, panelsOf } from "../../../tools/generate/monitoring/model.ts";
import { DASHBOARDS, generator, RULES } from "../../../tools/generate/monitoring/monitoring.ts";
import { MONITORING } from "../../../tools/generate/monitoring/settings.ts";
import { declaredMetrics } from "../../../tools/generate/reference/metrics.ts";
import { groupingsIn, knownSeries, unknownNames } from "./used-names.ts";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const ALERTS = alertsOf(RULES);

const rules = RULES.flatMap((group) => group.rules);
const recorded = rules.flatMap((rule) =>
  "record" in rule ? [{ name: rule.record, type: "gauge", labels: [...groupingsIn(rule.expr)] }] : [],
);
/** A ratio has the labels of the requests that it is computed from, which its rule names by series. */
const KNOWN = knownSeries([...declaredMetrics(ROOT), ...recorded]);

describe("queries", () => {
  const panels = DASHBOARDS.flatMap((dashboard) =>
    panelsOf(dashboard).flatMap(({ title, queries }) =>
      queries.map(({ expr }, index) => ({ at: `${dashboard.uid}, ${title} ${index + 1}`, expr })),
    ),
  );
  const ofRules = rules.map((rule) => ({ at: "alert" in rule ? rule.alert : rule.record, expr: rule.expr }));

  test.each([...panels, ...ofRules])("$at uses metrics and labels that something registers", ({ expr }) => {
    expect(unknownNames(expr, KNOWN)).toEqual([]);
  });

  test("a metric, a label or a grouping that nothing registers is found", () => {
    expect(unknownNames("sum(rate(pm_http_request_total[5m]))", KNOWN)).toEqual(["pm_http_request_total"]);
    expect(unknownNames('pm_http_requests_total{code="500"}', KNOWN)).toEqual(["pm_http_requests_total{code}"]);
    expect(unknownNames("sum by (code) (pm_http_requests_total)", KNOWN)).toEqual(["by (code)"]);
    expect(unknownNames("pm_http_request_seconds", KNOWN)).toEqual(["pm_http_request_seconds"]);
  });
});

describe("dashboards", () => {
  const models = DASHBOARDS.map((dashboard) => {
    const file = path.join(ROOT, "deploy/monitoring/grafana", `${dashboard.uid}.json`);
    return { dashboard, model: JSON.parse(readFileSync(file, "utf8")) as GrafanaModel };
  });

  test("have unique ids and titles", () => {
    expect(new Set(DASHBOARDS.map(({ uid }) => uid)).size).toBe(DASHBOARDS.length);
    expect(new Set(DASHBOARDS.map(({ title }) => title)).size).toBe(DASHBOARDS.length);
  });

  test.each(models)("$dashboard.uid selects its data source, namespaces and clusters by variables", ({ model }) => {
    const names = model.templating.list.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["datasource", "namespace", "cluster"]));
    const targets = model.panels.flatMap((panel) => panel.targets ?? []);
    expect(targets.length).toBeGreaterThan(0);
    for (const { datasource, expr } of targets) {
      expect(datasource).toEqual({ type: "prometheus", uid: "${datasource}" });
      const variables = [...expr.matchAll(/\$(\w+)/g)].map(([, name = ""]) => name);
      expect(variables.filter((name) => name !== "__rate_interval" && !names.includes(name))).toEqual([]);
    }
  });

  test.each(models)("$dashboard.uid places panels without overlap, each with a description", ({ model }) => {
    const cells = model.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(new Set(model.panels.map(({ id }) => id)).size).toBe(model.panels.length);
    expect(model.panels.filter(({ type, description }) => type !== "row" && !description)).toEqual([]);
  });
});

interface GrafanaModel {
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly description?: string;
    readonly gridPos: Readonly<Record<"x" | "y" | "w" | "h", number>>;
    readonly targets?: readonly { readonly expr: string; readonly datasource: unknown }[];
  }[];
}

describe("alerts", () => {
  const pages = readdirSync(path.join(ROOT, "docs/runbooks")).filter((file) => file !== "README.md");

  test("each has a runbook, and each runbook has an alert", () => {
    expect([...new Set(ALERTS.map(({ alert }) => `${alert}.md`))].toSorted()).toEqual(pages.toSorted());
  });

  test.each(pages)("%s says what it means, how to see it and what to do", (page) => {
    const text = readFileSync(path.join(ROOT, "docs/runbooks", page), "utf8");
    const headings = [...text.matchAll(/^#+ .*$/gm)].map(([heading]) => heading);
    expect(headings).toEqual([`# ${page.replace(".md", "")}`, "## Meaning", "## Check", "## Fix"]);
    expect(text).toMatch(/^(oaas|kubectl|curl) /m);
  });

  test("every runbook named by a panel exists", () => {
    const named = DASHBOARDS.flatMap((dashboard) => panelsOf(dashboard)).flatMap(({ description }) =>
      [...description.matchAll(/Runbooks?: ([\w, ]+)/g)].flatMap(([, names = ""]) =>
        names.split(", ").map((name) => `${name}.md`),
      ),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !pages.includes(name))).toEqual([]);
  });

  test("a name and a severity appear once", () => {
    expect(new Set(ALERTS.map(({ alert, severity }) => `${alert} ${severity}`)).size).toBe(ALERTS.length);
  });

  test.each(["rules.yaml", "prometheus-rule.yaml"])("%s holds all with severity and runbook", async (name) => {
    const files = await generator.produce(ROOT);
    const document = parse(files.get(`deploy/monitoring/prometheus/${name}`) ?? "") as RuleDocument;
    const { groups } = document.spec ?? document;
    const written = groups.flatMap((group) => group.rules).filter((rule) => rule.alert !== undefined);
    expect(written.map(({ alert }) => alert)).toEqual(ALERTS.map(({ alert }) => alert));
    for (const { alert, labels, annotations } of written) {
      expect(["critical", "warning"]).toContain(labels["severity"]);
      expect(Object.keys(annotations)).toEqual(["summary", "description", "runbook_url"]);
      expect(annotations["runbook_url"]).toBe(`${MONITORING.runbookBase}${alert}.md`);
    }
  });

  test("burn rates use both windows of each pair with its factor", () => {
    const factors = { "1h": 14.4, "6h": 6, "1d": 3, "3d": 1 };
    for (const name of ["PackageManagerErrors", "PackageManagerSlow", "ClassErrors"]) {
      const exprs = ALERTS.filter(({ alert }) => alert === name).map(({ expr }) => expr);
      for (const { long, short } of BURN_RATE_WINDOWS) {
        const pair = new RegExp(
          `ratio_rate${short} > ${factors[long]} \\* 0\\.\\d+ and \\S+ratio_rate${long} > ${factors[long]} `,
        );
        expect(exprs.filter((expr) => pair.test(expr))).toHaveLength(1);
      }
    }
  });
});

interface RuleDocument {
  readonly spec?: RuleDocument;
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert?: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly annotations: Readonly<Record<string, string>>;
    }[];
  }[];
}
