import type { EnvironmentConfigSpec } from "@oaas/contracts/crd";

/** Partitions by throughput; an environment may have its own numbers. */
export type PartitionStrategies = EnvironmentConfigSpec["odgm"]["partition_strategies"];

/** The numbers where no environment says. */
export const PARTITION_STRATEGIES: PartitionStrategies = {
  low_throughput: 1,
  standard: 4,
  high_throughput: 8,
  very_high: 16,
};

/** How many partitions a collection needs for a throughput: more spread it better and cost more. */
export function partitionsFor(
  throughputRps: number | undefined,
  strategies: PartitionStrategies = PARTITION_STRATEGIES,
): number {
  if (throughputRps === undefined) return strategies.standard;
  if (throughputRps <= 1000) return strategies.low_throughput;
  if (throughputRps <= 5000) return strategies.standard;
  return throughputRps <= 20_000 ? strategies.high_throughput : strategies.very_high;
}
