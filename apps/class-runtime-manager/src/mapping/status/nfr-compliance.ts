import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { timestamp } from "@oaas/foundation";
import type { BurnRate, Compliance, ComplianceStatus, Requirement } from "@oaas/nfr";
import { omitUndefined } from "../omit-empty.ts";

type StatusCompliance = NonNullable<ClassRuntimeStatus["nfr_compliance"]>;
type Measurement = NonNullable<StatusCompliance["measurements"]>[number];

/** The field of the requirement in the spec, and the unit of its values. */
const FIELDS = {
  throughput: { field: "min_throughput_rps", unit: "rps" },
  latency: { field: "max_latency_ms", unit: "ms" },
  availability: { field: "availability", unit: "ratio" },
  error_rate: { field: "error_rate", unit: "ratio" },
} as const satisfies Record<Requirement, { readonly field: string; readonly unit: string }>;

const REQUIREMENT_OF_FIELD: ReadonlyMap<string, Requirement> = new Map(
  (Object.keys(FIELDS) as Requirement[]).map((one) => [FIELDS[one].field, one]),
);

/** How statuses of several requirements are summarized, in the words of earlier versions. */
const SUMMARY = { met: "Compliant", violated: "Violated", unknown: "Unknown" } as const satisfies Record<
  ComplianceStatus,
  string
>;

/** The compliance of a class for the status; undefined for a class without requirements. */
export function complianceToStatus(
  all: readonly Compliance[],
  { checkedAtMs }: { readonly checkedAtMs: number },
): StatusCompliance | undefined {
  const overall = summaryOf(all);
  if (overall === undefined) return undefined;
  const of = (requirement: Requirement) => summaryOf(all.filter((one) => one.requirement === requirement));
  return omitUndefined({
    overall_status: overall,
    throughput_status: of("throughput"),
    latency_status: of("latency"),
    availability_status: of("availability"),
    error_rate_status: of("error_rate"),
    last_checked: timestamp(checkedAtMs),
    measurements: all.map(measurementOf),
  });
}

/** The compliance of each requirement; entries without status and start, as earlier versions wrote them, are skipped. */
export function complianceFromStatus(status: StatusCompliance | undefined): Compliance[] {
  return (status?.measurements ?? []).flatMap((one) => {
    const requirement = REQUIREMENT_OF_FIELD.get(one.requirement);
    if (requirement === undefined || one.status === undefined || one.since === undefined) return [];
    return [
      omitUndefined({
        component: one.component ?? "",
        requirement,
        status: one.status,
        reason: one.reason,
        measured: one.observed,
        target: one.required,
        window: one.window ?? "",
        sinceMs: Date.parse(one.since),
        errorBudgetLeft: one.error_budget_left,
        burnRates: (one.burn_rates ?? []).map(({ long, short, long_rate: longRate, short_rate: shortRate }): BurnRate =>
          omitUndefined({ long, short, longRate, shortRate }),
        ),
      }),
    ];
  });
}

/** The worst status: violated, then unknown, then met. */
function summaryOf(all: readonly Compliance[]): (typeof SUMMARY)[ComplianceStatus] | undefined {
  const worst = (["violated", "unknown", "met"] as const).find((status) => all.some((one) => one.status === status));
  return worst && SUMMARY[worst];
}

function measurementOf(one: Compliance): Measurement {
  const { field, unit } = FIELDS[one.requirement];
  return omitUndefined({
    requirement: field,
    component: one.component,
    status: one.status,
    reason: one.reason,
    required: one.target,
    observed: one.measured,
    unit,
    window: one.window,
    window_seconds: windowSeconds(one.window),
    since: timestamp(one.sinceMs),
    error_budget_left: one.errorBudgetLeft,
    burn_rates: one.burnRates.map(({ long, short, longRate, shortRate }) =>
      omitUndefined({ long, short, long_rate: longRate, short_rate: shortRate }),
    ),
  });
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** The seconds of a Prometheus duration such as `10m` or `1h30m`; undefined for any other text. */
export function windowSeconds(window: string): number | undefined {
  if (!/^(\d{1,9}[smhdw])+$/.test(window)) return undefined;
  const parts = [...window.matchAll(/(\d{1,9})([smhdw])/g)];
  const seconds = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNIT_SECONDS[unit ?? ""] ?? 0), 0);
  return seconds <= 0xff_ff_ff_ff ? seconds : undefined;
}
