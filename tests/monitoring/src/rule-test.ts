import { writeFile } from "node:fs/promises";
import path from "node:path";
import { componentFile, makeRunFolder, runCommand } from "@oaas/testkit";

/** One series in the notation of promtool, such as `0+60x30`. */
export interface InputSeries {
  readonly series: string;
  readonly values: string;
}

/** What an expression must return at a time. */
export interface ExpectedQuery {
  readonly expr: string;
  readonly eval_time: string;
  readonly exp_samples: readonly { readonly labels: string; readonly value: number }[];
}

export interface RuleTest {
  readonly name: string;
  readonly interval: string;
  readonly input_series: readonly InputSeries[];
  readonly promql_expr_test: readonly ExpectedQuery[];
}

/** Runs `promtool test rules` on rule files, given as texts; returns its complaints, or undefined. */
export async function runRuleTests(
  rules: readonly string[],
  tests: readonly RuleTest[],
  evaluationInterval = "1m",
): Promise<string | undefined> {
  const folder = await makeRunFolder("rule-test");
  try {
    const files = rules.map((_, index) => `rules-${index}.yaml`);
    for (const [index, text] of rules.entries()) await writeFile(path.join(folder.path, files[index] ?? ""), text);
    const document = { rule_files: files, evaluation_interval: evaluationInterval, tests };
    const file = path.join(folder.path, "test.yaml");
    // YAML is a superset of JSON.
    await writeFile(file, JSON.stringify(document));
    const { exitCode, stdout, stderr } = await runCommand(componentFile("promtool"), ["test", "rules", file], {
      timeoutMs: 200_000,
    });
    return exitCode === 0 ? undefined : `${stdout}${stderr}`.slice(0, 4_000);
  } finally {
    await folder.remove();
  }
}

/** An alert that fires. */
export interface FiringAlert {
  readonly alertname: string;
  readonly severity: string;
  readonly namespace?: string;
}

/** The alerts that fire at a time, and no others. Series of Knative and of requirements have the namespace in another label. */
export function firing(at: string, alerts: readonly FiringAlert[]): ExpectedQuery {
  const knative = 'label_replace(ALERTS{alertstate="firing"}, "namespace", "$1", "namespace_name", "(.+)")';
  const all = `label_replace(${knative}, "namespace", "$1", "class_namespace", "(.+)")`;
  return {
    expr: `count by (alertname, severity, namespace) (${all})`,
    eval_time: at,
    exp_samples: alerts.map(({ alertname, severity, namespace }) => ({
      labels: `{alertname="${alertname}",severity="${severity}"${namespace === undefined ? "" : `,namespace="${namespace}"`}}`,
      value: 1,
    })),
  };
}

/** Requests per minute of the series of `requestSeries`. */
const PER_MINUTE = 600;

/** Requests of the package manager, with a sample per minute: [minutes, share of failures] one after the other. */
export function requestSeries(
  phases: readonly (readonly [minutes: number, failed: number])[],
  namespace = "oaas",
): readonly InputSeries[] {
  const labels = `job="oaas-pm",namespace="${namespace}",operation="getDeployment"`;
  const good = phases.map(([minutes, failed]) => [minutes, PER_MINUTE * (1 - failed)] as const);
  const bad = phases.map(([minutes, failed]) => [minutes, PER_MINUTE * failed] as const);
  return [
    { series: `pm_http_requests_total{${labels},status="200"}`, values: counterValues(good) },
    { series: `pm_http_requests_total{${labels},status="503"}`, values: counterValues(bad) },
  ];
}

/** A counter that grows at different speeds: [samples, increase per sample]. */
function counterValues(phases: readonly (readonly [samples: number, by: number])[]): string {
  let reached = 0;
  const parts = phases.map(([samples, by]) => {
    const part = `${reached + by}+${by}x${samples - 1}`;
    reached += by * samples;
    return part;
  });
  return parts.join(" ");
}
