import { isFault } from "@oaas/foundation";

/** Whether a node answered that it does not have the partition: another node may. */
export function isShardAbsent(thrown: unknown): boolean {
  return isFault(thrown, "not-found") && /shard/i.test(thrown.message);
}
