import type { Total } from "./league.ts";

type Cell = (total: Total, traces: number) => string;

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const COLUMNS: readonly (readonly [string, Cell])[] = [
  ["Competitor", ({ competitor }) => competitor],
  ["Violated minutes", ({ violatedMinutes }) => violatedMinutes.toFixed(0)],
  ["Replica hours", ({ replicaHours }) => replicaHours.toFixed(0)],
  ["Changes per hour", ({ changesPerHour }) => changesPerHour.toFixed(2)],
  ["Direction changes per hour", ({ directionChangesPerHour }) => directionChangesPerHour.toFixed(2)],
  [
    "Under-provisioned: accuracy, time",
    (total) => `${percent(total.underProvisioning)}, ${percent(total.underProvisionedTime)}`,
  ],
  [
    "Over-provisioned: accuracy, time",
    (total) => `${percent(total.overProvisioning)}, ${percent(total.overProvisionedTime)}`,
  ],
  ["Instability", ({ instability }) => percent(instability)],
  ["Not dominated", ({ dominated }, traces) => percent(1 - dominated / traces)],
  ["Not dominated by an autoscaler", (total, traces) => percent(1 - total.dominatedByAutoscaler / traces)],
];

/** The totals of all competitors as a Markdown table. */
export function totalsTable(totals: readonly Total[], traces: number): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  return (
    line(COLUMNS.map(([header]) => header)) +
    line(COLUMNS.map((_, index) => (index === 0 ? "---" : "---:"))) +
    totals.map((total) => line(COLUMNS.map(([, cell]) => cell(total, traces)))).join("")
  );
}
