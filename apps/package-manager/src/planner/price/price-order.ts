import type { CandidateCluster } from "../plan-types.ts";
import { monthly } from "./plan-price.ts";

/** A core for each four GiB, the ratio of common machines. */
const SAMPLE = { cpuMillicores: 1000, memoryBytes: 4 * 2 ** 30 };

/**
 * Compares clusters by price, the cheaper first. Clusters without a price come last; prices in different currencies are
 * not compared, so that the order is the same for every pair.
 */
export function byPrice(all: readonly CandidateCluster[]): (a: CandidateCluster, b: CandidateCluster) => number {
  const currencies = new Set(all.flatMap(({ cost }) => cost?.currency ?? []));
  if (currencies.size !== 1) return () => 0;
  const price = ({ cost }: CandidateCluster): number => (cost === undefined ? Number.MAX_VALUE : monthly(SAMPLE, cost));
  return (a, b) => price(a) - price(b);
}
