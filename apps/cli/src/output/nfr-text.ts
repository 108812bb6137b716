import type { Reply } from "@oaas/contracts/rest";
import { formatNumber, formatShare, formatSignal, formatValue, formatWindow } from "@oaas/nfr/explanation";
import type { Colours } from "./colours.ts";
import { ageText, percentText, tableText, type Column } from "./table.ts";

type ClusterState = Reply<"getDeploymentStatus">["value"]["clusters"][number];
export type Recommendation = NonNullable<ClusterState["nfr_recommendations"]>[number];
export type Measurement = NonNullable<NonNullable<ClusterState["nfr_compliance"]>["measurements"]>[number];

/** The current time and the colours of the output. */
interface Look {
  readonly now: number;
  readonly colours: Colours;
}

/**
 * Requirements that are not met, recommended changes and last changes of all clusters; with `-o wide` all requirements and
 * recommendations with their basis. Empty when nothing is measured.
 */
export function nfrText(clusters: readonly ClusterState[], look: Look & { readonly isWide: boolean }): string {
  const rowsOf = <T>(pick: (cluster: ClusterState) => readonly T[] | undefined) =>
    clusters.flatMap((one) => (pick(one) ?? []).map((row) => ({ cluster: one.cluster, row })));
  const measured = rowsOf((one) => one.nfr_compliance?.measurements);
  const recommended = rowsOf((one) => one.nfr_recommendations);
  const missed = measured.filter(({ row }) => look.isWide || row.status !== "met");
  const changes = recommended.filter(({ row }) => look.isWide || isChangeRecommended(row, look.now));
  const isShortened = missed.length + changes.length < measured.length + recommended.length;
  const sections = [
    tableOf(missed, measurementColumns(look), look),
    tableOf(changes, recommendationColumns(look), look),
    rowsOf((one) => one.last_applied_recommendations)
      .map(({ cluster, row }) => `last change in ${cluster}: ${changeText(row, look)}\n`)
      .join(""),
    isShortened ? "-o wide shows all requirements and recommendations with their basis\n" : "",
  ];
  return sections
    .filter((section) => section !== "")
    .map((section) => `\n${section}`)
    .join("");
}

interface InCluster<T> {
  readonly cluster: string;
  readonly row: T;
}

function tableOf<T>(
  rows: readonly InCluster<T>[],
  columns: readonly Column<T>[],
  { isWide }: { readonly isWide: boolean },
): string {
  if (rows.length === 0) return "";
  const titled = columns.map((column) => ({ ...column, cell: ({ row }: InCluster<T>) => column.cell(row) }));
  return tableText(rows, [{ header: "CLUSTER", cell: ({ cluster }) => cluster }, ...titled], { isWide });
}

function measurementColumns({ now, colours }: Look): readonly Column<Measurement>[] {
  return [
    { header: "COMPONENT", cell: ({ component }) => component || "-" },
    { header: "REQUIREMENT", cell: ({ requirement }) => requirement },
    { header: "STATUS", cell: (one) => complianceText(one.status, colours) },
    { header: "MEASURED", cell: ({ observed, unit }) => amountText(observed, unit) },
    { header: "REQUIRED", cell: ({ required, unit }) => amountText(required, unit) },
    { header: "WINDOW", cell: ({ window }) => window ?? "-" },
    { header: "FOR", cell: ({ since }) => ageText(since, now) },
    { header: "BUDGET LEFT", isWide: true, cell: ({ error_budget_left }) => shareText(error_budget_left) },
    { header: "BURN RATE", isWide: true, cell: burnRateText },
    { header: "REASON", cell: ({ reason }) => reason ?? "" },
  ];
}

function recommendationColumns({ now, colours }: Look): readonly Column<Recommendation>[] {
  return [
    { header: "COMPONENT", cell: ({ component }) => component },
    { header: "DIMENSION", cell: ({ dimension }) => dimension },
    { header: "CURRENT", cell: ({ current, dimension }) => valueText(current, dimension) },
    { header: "RECOMMENDED", cell: ({ target, dimension }) => valueText(target, dimension) },
    { header: "BOUNDS", isWide: true, cell: boundsText },
    { header: "CONFIDENCE", cell: ({ confidence }) => shareText(confidence) },
    {
      header: "VALID",
      isWide: true,
      cell: (one) => (isOutdated(one, now) ? colours.warn("outdated") : remainingText(one.valid_until, now)),
    },
    { header: "BASIS", isWide: true, cell: basisText },
  ];
}

/** `met` in green, `violated` in red, `unknown` in yellow. */
export function complianceText(status: string | undefined, colours: Colours): string {
  if (status === undefined) return "-";
  if (status === "met") return colours.good(status);
  return status === "violated" ? colours.bad(status) : colours.warn(status);
}

/** `Order.place replicas 1 → 3, stable, 2m ago (Deployment/order spec.replicas, limited by max_scale 3)`. */
export function changeText(one: Recommendation, { now }: Pick<Look, "now">): string {
  const { component, dimension, applied } = one;
  const values = `${valueText(one.current, dimension)} → ${valueText(one.target, dimension)}`;
  if (applied === undefined) return `${component} ${dimension} ${values}`;
  const reverted = applied.action === "revert" ? "reverted, " : "";
  const limited = applied.clamped_by === undefined ? "" : `, limited by ${applied.clamped_by}`;
  const when = `${ageText(applied.applied_at, now)} ago`;
  return `${component} ${dimension} ${values}, ${reverted}${applied.lane}, ${when} (${applied.path}${limited})`;
}

/** Whether the current value is outside the bounds of a recommendation that is still valid. */
export function isChangeRecommended(one: Recommendation, now: number): boolean {
  const { current, target, lower_bound: low = target, upper_bound: high = target } = one;
  return !isOutdated(one, now) && (current === undefined || current < low || current > high);
}

/** Whether a recommendation has expired or has no expiry. */
function isOutdated({ valid_until }: Pick<Recommendation, "valid_until">, now: number): boolean {
  return !(Date.parse(valid_until ?? "") > now);
}

/** A value of a dimension; `-` when it is not known. */
export function valueText(value: number | undefined, dimension: string): string {
  return value === undefined ? "-" : formatValue(value, dimension);
}

/** A share in percent; `-` when it is not known. */
export function shareText(share: number | undefined): string {
  return share === undefined ? "-" : formatShare(share);
}

/** A number with its unit; ratios become percentages. */
export function amountText(value: number | undefined, unit: string): string {
  if (value === undefined) return "-";
  if (unit === "ratio") return percentText(value);
  return `${formatNumber(value)} ${unit}`.trimEnd();
}

/** The numbers behind a recommendation, or its words where a manager reports no numbers. */
function basisText({ evidence, basis }: Recommendation): string {
  if (evidence === undefined) return basis ?? "";
  const values = Object.entries(evidence.values).map(([name, value]) => `${name} ${formatSignal(name, value)}`);
  const limits = [
    ...(evidence.floor === undefined ? [] : [`floor ${evidence.floor}`]),
    ...(evidence.ceiling === undefined ? [] : [`limit ${evidence.ceiling}`]),
  ];
  return [`${values.join(", ")} over ${formatWindow(evidence.window)}`, ...limits].join("; ");
}

function boundsText({ lower_bound: low, upper_bound: high, dimension }: Recommendation): string {
  return low === undefined || high === undefined ? "-" : `${valueText(low, dimension)}…${valueText(high, dimension)}`;
}

/** The pair of windows that burns fastest: `14.4 in 1h, 20 in 5m`. */
function burnRateText({ burn_rates }: Measurement): string {
  const known = burn_rates.filter(({ long_rate }) => long_rate !== undefined);
  const fastest = known.toSorted((a, b) => (b.long_rate ?? 0) - (a.long_rate ?? 0))[0];
  if (fastest === undefined) return "-";
  const { long_window, long_rate = 0, short_window, short_rate } = fastest;
  const short = short_rate === undefined ? "" : `, ${formatNumber(short_rate)} in ${short_window}`;
  return `${formatNumber(long_rate)} in ${long_window}${short}`;
}

function remainingText(until: string | undefined, now: number): string {
  const end = Date.parse(until ?? "");
  return Number.isNaN(end) ? "-" : ageText(new Date(now).toISOString(), end);
}
