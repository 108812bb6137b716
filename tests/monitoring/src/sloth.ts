import path from "node:path";
import { parse, stringify } from "yaml";
import { PACKAGE_MANAGER_REQUESTS } from "../../../tools/generate/monitoring/alerts/package-manager.ts";
import { RULES } from "../../../tools/generate/monitoring/monitoring.ts";
import { ruleFile } from "../../../tools/generate/monitoring/rule-files.ts";
import { requestSeries, runRuleTests, type ExpectedQuery } from "./rule-test.ts";

/** What Sloth 0.12.0 generated for `slothSpec()`; the full tests compare it with a new run. */
export const RECORDED_RULES = path.resolve(import.meta.dirname, "..", "recorded", "sloth-rules.yaml");

/** Our objective for requests to the package manager, in the format of Sloth. */
export function slothSpec(): string {
  const { objective, bad, total } = PACKAGE_MANAGER_REQUESTS;
  const events = { error_query: bad("{{.window}}"), total_query: total("{{.window}}") };
  const alerting = {
    name: "SlothErrors",
    page_alert: { labels: { severity: "critical" } },
    ticket_alert: { labels: { severity: "warning" } },
  };
  const slo = { name: "requests", objective, sli: { events }, alerting };
  // Sloth looks for the version in plain YAML.
  return stringify({ version: "prometheus/v1", service: "package-manager", slos: [slo] });
}

const DAY = 24 * 60;

type Course = readonly (readonly [minutes: number, failed: number])[];

/** Shares of failures over four days, by namespace, and the severities that fire at some time. */
const COURSES: Readonly<Record<string, { readonly course: Course; readonly fires: readonly string[] }>> = {
  "no-errors": { course: [[4 * DAY, 0]], fires: [] },
  "below-1": { course: [[4 * DAY, 0.0009]], fires: [] },
  "above-1": { course: [[4 * DAY, 0.0012]], fires: ["warning"] },
  "below-6": { course: [[4 * DAY, 0.0058]], fires: ["warning"] },
  "above-6": { course: [[4 * DAY, 0.0062]], fires: ["critical", "warning"] },
  "short-burst": { course: phases([3 * DAY - 1, 0], [2, 1]), fires: ["critical"] },
  burst: { course: phases([3 * DAY - 5, 0], [9, 1]), fires: ["critical", "warning"] },
  rising: {
    course: phases([3 * DAY, 0], ...Array.from({ length: 23 }, (_, hour) => [60, 0.002 * hour] as const)),
    fires: ["critical", "warning"],
  },
  recovery: {
    course: phases([2 * DAY, 0.0002], [120, 0.5], [360, 0.02], [720, 0.004]),
    fires: ["critical", "warning"],
  },
  "on-and-off": {
    course: phases([3 * DAY, 0], ...Array.from({ length: 47 }, (_, half) => [30, half % 2 === 1 ? 0.03 : 0] as const)),
    fires: ["critical", "warning"],
  },
};

/** Phases one after the other, then no errors until the end of four days. */
function phases(...given: Course): Course {
  const used = given.reduce((sum, [minutes]) => sum + minutes, 0);
  return [...given, [4 * DAY - used, 0]];
}

const firingOf = (alert: string): string =>
  `group by (namespace, severity) (ALERTS{alertname="${alert}",alertstate="firing"})`;

/**
 * Runs our rules and those of Sloth on the same series, evaluated at a step in minutes. Returns the differences, or
 * undefined when the same alerts fire at the same times.
 */
export function compareWithSloth(slothRules: string, step: number): Promise<string | undefined> {
  const ours = ruleFile(RULES.filter(({ name }) => name === "oaas-pm-request-errors"));
  const times = Array.from({ length: (4 * DAY) / step - 1 }, (_, index) => (index + 1) * step);
  const [own, other] = [firingOf("PackageManagerErrors"), firingOf("SlothErrors")];
  const differences = times.map((time): ExpectedQuery => ({
    expr: `((${own}) unless (${other})) or ((${other}) unless (${own}))`,
    eval_time: `${time}m`,
    exp_samples: [],
  }));
  const fired: ExpectedQuery = {
    expr: `group by (namespace, severity) (last_over_time(ALERTS{alertname="PackageManagerErrors",alertstate="firing"}[4d]))`,
    eval_time: `${times.at(-1)}m`,
    exp_samples: Object.entries(COURSES).flatMap(([namespace, { fires }]) =>
      fires.map((severity) => ({ labels: `{namespace="${namespace}",severity="${severity}"}`, value: 1 })),
    ),
  };
  const compared = {
    name: "courses",
    interval: "1m",
    input_series: Object.entries(COURSES).flatMap(([namespace, { course }]) => requestSeries(course, namespace)),
    promql_expr_test: [...differences, fired],
  };
  return runRuleTests([ours, inOneGroup(slothRules)], [compared], `${step}m`);
}

interface RuleDocument {
  readonly groups: readonly { readonly rules: readonly object[] }[];
}

/** promtool evaluates groups in any order, and recorded series are outdated after five minutes; rules keep their order. */
function inOneGroup(text: string): string {
  const { groups } = parse(text) as RuleDocument;
  return stringify({ groups: [{ name: "sloth", rules: groups.flatMap(({ rules }) => rules) }] });
}
