import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { componentFile, describeWith, makeRunFolder, runCommand } from "@oaas/testkit";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { alertsOf } from "../../../tools/generate/monitoring/model.ts";
import { RULES } from "../../../tools/generate/monitoring/monitoring.ts";
import { ruleFile } from "../../../tools/generate/monitoring/rule-files.ts";
import { MONITORING } from "../../../tools/generate/monitoring/settings.ts";
import { ALERT_CASES, inNamespace, LONG_CASES, type AlertCase } from "../src/alert-cases.ts";
import { firing, requestSeries, runRuleTests, type RuleTest } from "../src/rule-test.ts";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const FILE = path.join(ROOT, "deploy/monitoring/prometheus/rules.yaml");
const ALL = readFileSync(FILE, "utf8");
const PM_REQUEST_ERRORS = ruleFile(RULES.filter(({ name }) => name === "oaas-pm-request-errors"));

/** All cases at the same time, each in its own namespace. */
function allCases(cases: readonly AlertCase[], at: string): RuleTest {
  const fires = cases.map((each, index) => ({ ...each, namespace: `fires-${index}` }));
  const expected = fires.flatMap(({ alert, severities, namespace }) =>
    severities.map((severity) => ({ alertname: alert, severity, namespace })),
  );
  return {
    name: "all cases",
    interval: "1m",
    input_series: [
      ...fires.flatMap(({ fires: series, namespace }) => inNamespace(series, namespace)),
      ...cases.flatMap(({ quiet }, index) => inNamespace(quiet, `quiet-${index}`)),
    ],
    promql_expr_test: [firing(at, expected)],
  };
}

describeWith(["promtool"], "Prometheus rules", () => {
  test("are accepted by promtool, with the templates of their annotations", async () => {
    const { exitCode, stdout, stderr } = await runCommand(componentFile("promtool"), ["check", "rules", FILE]);
    expect(stdout + stderr).toContain(`SUCCESS: ${RULES.flatMap(({ rules }) => rules).length} rules found`);
    expect(exitCode).toBe(0);
  });

  test("are loaded by the configuration of the guide, with the jobs that they expect", async () => {
    const guide = readFileSync(path.join(ROOT, "docs/guides/monitor-the-platform.md"), "utf8");
    const blocks = [...guide.matchAll(/```yaml\n(.*?)```/gs)].map(([, block = ""]) => block);
    const config = blocks.find((block) => block.startsWith("scrape_configs:")) ?? "";
    const document = parse(config) as { scrape_configs: readonly Record<string, unknown>[] };
    const { scrape_configs } = document;
    expect(scrape_configs.map(({ job_name }) => job_name)).toEqual(Object.values(MONITORING.jobs));
    const folder = await makeRunFolder("guide-config");
    const file = path.join(folder.path, "prometheus.yml");
    // The Prometheus of Debian has no discovery in Kubernetes.
    const known = scrape_configs.map((job) => ({ ...job, kubernetes_sd_configs: undefined }));
    await writeFile(file, JSON.stringify({ ...document, scrape_configs: known }));
    const args = ["check", "config", "--syntax-only", file];
    const { exitCode, stdout, stderr } = await runCommand(componentFile("promtool"), args);
    await folder.remove();
    expect(exitCode, stdout + stderr).toBe(0);
  });

  test("have a case for every alert and severity", () => {
    const tested = new Set(
      [...ALERT_CASES, ...LONG_CASES].flatMap(({ alert, severities }) => severities.map((each) => `${alert} ${each}`)),
    );
    expect([...tested].toSorted()).toEqual(
      alertsOf(RULES)
        .map(({ alert, severity }) => `${alert} ${severity}`)
        .toSorted(),
    );
  });

  test("fire in their case, alone, and stay quiet in a similar one", async () => {
    expect(await runRuleTests([ALL], [allCases(ALERT_CASES, "80m")])).toBeUndefined();
  });

  test("fire in the longest windows, alone, and stay quiet in a similar case", async () => {
    const rules = ruleFile(RULES.filter(({ name }) => name === "oaas-class-requirement-violations"));
    expect(await runRuleTests([rules], [allCases(LONG_CASES, "4320m")], "120m")).toBeUndefined();
  });

  test("report managers that Prometheus does not scrape at all", async () => {
    const alerts = ["PackageManagerDown", "ClassRuntimeManagerDown"].map((alertname) => ({
      alertname,
      severity: "critical",
    }));
    const nothing: RuleTest = {
      name: "no targets",
      interval: "1m",
      input_series: [],
      promql_expr_test: [firing("5m", alerts)],
    };
    expect(await runRuleTests([ALL], [nothing])).toBeUndefined();
  });

  test("fire during a burst of errors and end soon after", async () => {
    const critical = { alertname: "PackageManagerErrors", severity: "critical", namespace: "oaas" };
    const burst: RuleTest = {
      name: "three days without errors, two minutes with errors only, an hour without",
      interval: "1m",
      input_series: requestSeries([
        [4319, 0],
        [2, 1],
        [60, 0],
      ]),
      promql_expr_test: [firing("4310m", []), firing("4320m", [critical]), firing("4330m", [])],
    };
    expect(await runRuleTests([PM_REQUEST_ERRORS], [burst], "10m")).toBeUndefined();
  });
});
