import type { Generator } from "../generator.ts";
import { CERTIFICATE_RULES } from "./alerts/certificates.ts";
import { CLASS_RUNTIME_MANAGER_RULES } from "./alerts/class-runtime-manager.ts";
import { CLASS_RULES } from "./alerts/classes.ts";
import { CONFIGURATION_RULES } from "./alerts/configuration.ts";
import { ENFORCEMENT_RULES } from "./alerts/enforcement.ts";
import { PACKAGE_MANAGER_RULES } from "./alerts/package-manager.ts";
import { AUTOSCALING } from "./dashboards/autoscaling.ts";
import { CLASS_REQUIREMENTS } from "./dashboards/class-requirements.ts";
import { CLASS_RUNTIME_MANAGER } from "./dashboards/class-runtime-manager.ts";
import { PACKAGE_MANAGER } from "./dashboards/package-manager.ts";
import { grafanaDashboard } from "./grafana.ts";
import type { Dashboard, RuleGroup } from "./model.ts";
import { ruleFile, ruleManifest } from "./rule-files.ts";

export const DASHBOARDS: readonly Dashboard[] = [
  PACKAGE_MANAGER,
  CLASS_RUNTIME_MANAGER,
  CLASS_REQUIREMENTS,
  AUTOSCALING,
];

export const RULES: readonly RuleGroup[] = [
  ...PACKAGE_MANAGER_RULES,
  ...CLASS_RUNTIME_MANAGER_RULES,
  ...CONFIGURATION_RULES,
  ...CERTIFICATE_RULES,
  ...CLASS_RULES,
  ...ENFORCEMENT_RULES,
];

const GRAFANA = "deploy/monitoring/grafana";
const PROMETHEUS = "deploy/monitoring/prometheus";

/** Grafana dashboards and Prometheus rules, from the tables of panels and alerts. */
export const generator: Generator = {
  name: "monitoring",
  owns: [GRAFANA, PROMETHEUS],
  produce: async () =>
    new Map([
      ...DASHBOARDS.map((dashboard) => [`${GRAFANA}/${dashboard.uid}.json`, jsonOf(dashboard)] as const),
      [`${PROMETHEUS}/rules.yaml`, ruleFile(RULES)],
      [`${PROMETHEUS}/prometheus-rule.yaml`, ruleManifest(RULES)],
    ]),
};

function jsonOf(dashboard: Dashboard): string {
  return `${JSON.stringify(grafanaDashboard(dashboard), undefined, 2)}\n`;
}
