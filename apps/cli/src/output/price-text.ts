import type { Reply } from "@oaas/contracts/rest";

type Price = Reply<"createPlan">["value"]["price"];

/** The price of a deployment per month. No line for a package manager that reports none. */
export function priceLines(price: Price | undefined): string[] {
  if (price === undefined) return [];
  const totals = Object.entries(price.totals).map(([currency, amount]) => `${amount.toFixed(2)} ${currency}`);
  if (totals.length === 0) return ["price: unknown, the clusters state none"];
  const unknown = price.unknown_in.length === 0 ? "" : `, unknown in ${price.unknown_in.join(", ")}`;
  const assumed = price.clusters.some(({ is_assumed }) => is_assumed) ? " (unstated requests count with defaults)" : "";
  return [`price: ${totals.join(" + ")} per month${unknown}${assumed}`];
}
