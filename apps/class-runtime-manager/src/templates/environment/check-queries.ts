import type { EnvironmentConfigSpec } from "@oaas/contracts/crd";
import { Fault, pathOf, ROOT_PATH, violationsUnder, type Violation } from "@oaas/foundation";
import { SIGNALS } from "@oaas/nfr";
import { fillTemplate, findOverrideProblems, type QueryOverrides } from "@oaas/nfr/queries";
import { listSelectors, parseQuery } from "@oaas/promql";

/** Stands for the namespaces while a query is checked. */
const SAMPLE_NAMESPACE = "namespaces-of-the-classes";
const SAMPLE_SCOPE = { namespaces: [SAMPLE_NAMESPACE], windowMs: 120_000 };

/**
 * Checks the queries of an environment: their signals, placeholders and grammar. Each selector is limited to the namespaces
 * of the classes, so that an environment cannot read the metrics of others. Paths start at its spec.
 */
export function checkQueries({ metrics }: EnvironmentConfigSpec): readonly Violation[] {
  const queries = metrics?.queries ?? {};
  const problems = findOverrideProblems(queries);
  const found = problems.length > 0 ? problems : Object.entries(queries).flatMap(([signal, template]) => checkGrammar(signal, template)); // prettier-ignore
  return violationsUnder(pathOf(ROOT_PATH, "metrics", "queries"), found);
}

/** The queries of an environment that `checkQueries` accepts. */
export function environmentQueries({ metrics }: EnvironmentConfigSpec): QueryOverrides | undefined {
  const queries = metrics?.queries;
  if (queries === undefined) return undefined;
  const known = SIGNALS.flatMap((signal) => {
    const template = queries[signal];
    return template === undefined ? [] : [[signal, template] as const];
  });
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

function checkGrammar(signal: string, template: string): readonly Violation[] {
  const path = pathOf(ROOT_PATH, signal);
  try {
    const selectors = listSelectors(parseQuery(fillTemplate(template, SAMPLE_SCOPE)));
    const isLimited = selectors.every(({ matchers }) =>
      matchers.some(({ operator, value }) => operator === "=~" && value === SAMPLE_NAMESPACE),
    );
    if (isLimited && selectors.length > 0) return [];
    const fix = "add a matcher such as namespace=~$namespaces to each selector";
    return [{ path, message: "has a selector without $namespaces", fix }];
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.kind !== "unimplemented")
      return [{ path, message: `is not valid PromQL: ${fault.message}`, fix: "try the query in Prometheus" }];
    const fix = "use a recording rule, or OPRC_CRM_PROM_QUERIES for the whole cluster";
    return [{ path, message: `cannot be checked: ${fault.message}`, fix }];
  }
}
