import type { RuleGroup } from "../model.ts";

/** Alerts about the configuration files of both managers. */
export const CONFIGURATION_RULES: readonly RuleGroup[] = [
  {
    name: "oaas-configuration",
    rules: [
      {
        alert: "ConfigurationNotReloaded",
        severity: "warning",
        expr: "min by (job, namespace, instance) (oaas_config_last_reload_successful) == 0",
        for: "5m",
        summary: "{{ $labels.job }} runs with outdated settings",
        description:
          "The configuration file of {{ $labels.instance }} is invalid or unreadable. The last valid settings stay in effect; a restart would fail.",
      },
    ],
  },
];
