import type { SkipReason } from "@oaas/nfr";
import type { RuleGroup } from "../model.ts";

const BY = "job, namespace, cluster";

/** Values that are held for one of the reasons. */
const held = (...reasons: readonly SkipReason[]): string =>
  `sum by (${BY}, reason) (crm_enforcement_held_values{reason=~"${reasons.join("|")}"}) > 0`;

/** Alerts of enforcement. The condition NfrEnforced and the events of a class name the values and their numbers. */
export const ENFORCEMENT_RULES: readonly RuleGroup[] = [
  {
    name: "oaas-enforcement",
    rules: [
      {
        alert: "EnforcementAtMaximum",
        severity: "warning",
        expr: held("at-maximum"),
        for: "30m",
        summary: "Classes need more than their limits allow",
        description: "{{ $value }} values are at their maximum, and the recommendation is above it.",
      },
      {
        alert: "EnforcementFrozen",
        severity: "warning",
        expr: held("frozen", "direction-changes"),
        for: "30m",
        summary: "Enforcement is frozen",
        description:
          "{{ $value }} values are kept with the reason {{ $labels.reason }}: by OPRC_CRM_ENFORCEMENT_FREEZE, after a reverted change, or after too many changes of direction.",
      },
      {
        alert: "EnforcementFails",
        severity: "warning",
        expr: `sum by (${BY}, dimension) (increase(crm_enforcement_actions_total{outcome=~"failed|reverted"}[1h])) > 3`,
        for: "5m",
        summary: "Changes of {{ $labels.dimension }} fail or are reverted",
        description:
          "{{ $value | humanize }} changes of {{ $labels.dimension }} failed or were reverted within an hour.",
      },
    ],
  },
];
