import { stringify } from "yaml";
import type { Alert, RecordingRule, RuleGroup } from "./model.ts";
import { MONITORING } from "./settings.ts";

const HEADER = "# Generated from tools/generate/monitoring by `npm run generate`. Do not edit.\n";

/** A rule file for `rule_files` of Prometheus. */
export function ruleFile(groups: readonly RuleGroup[]): string {
  return yamlOf({ groups: groups.map(groupDocument) });
}

/** The same rules for the Prometheus Operator. */
export function ruleManifest(groups: readonly RuleGroup[]): string {
  return yamlOf({
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name: "oaas", labels: { "app.kubernetes.io/part-of": "oaas" } },
    spec: { groups: groups.map(groupDocument) },
  });
}

function groupDocument({ name, rules }: RuleGroup): object {
  return { name, rules: rules.map((rule) => ("alert" in rule ? alertDocument(rule) : recordingDocument(rule))) };
}

function recordingDocument({ record, expr }: RecordingRule): object {
  return { record, expr };
}

function alertDocument({ alert, expr, for: holds, severity, summary, description }: Alert): object {
  return {
    alert,
    expr,
    ...(holds === undefined ? {} : { for: holds }),
    labels: { severity },
    annotations: { summary, description, runbook_url: `${MONITORING.runbookBase}${alert}.md` },
  };
}

function yamlOf(document: object): string {
  return HEADER + stringify(document, { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false });
}
