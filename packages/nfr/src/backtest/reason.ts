import type { Analysis } from "../analyzer/analysis.ts";
import type { PolicyDecision } from "../enforcement.ts";

/** The measured numbers and the capacity; the others explain how the capacity was found. */
const SHOWN = /^(?:rps_per_replica|requests_per_second|cpu_millicores|latency_p\d+_ms)$/;

/** Why a change was decided, with the numbers that it follows. */
export function reasonOf(
  { lane, gates, clampedBy }: Exclude<PolicyDecision, { readonly action: "hold" }>,
  { recommendations }: Analysis,
): string {
  const wanted = recommendations.find(({ dimension }) => dimension === "replicas");
  const gate = lane === "verification" ? "verification" : "stability";
  const values = Object.entries(wanted?.basis.values ?? {}).filter(([name]) => SHOWN.test(name));
  return [
    gates.find((one) => one.gate === gate)?.detail,
    ...(wanted === undefined ? [] : [`target ${round(wanted.target)}`]),
    ...values.map(([name, value]) => `${name} ${round(value)}`),
    ...(clampedBy === undefined ? [] : [`limited by ${clampedBy.source}`]),
  ].join("; ");
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
