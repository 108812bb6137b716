import type { ShardType } from "@oaas/models";
import type { Requirements } from "../../rendering/plan/requirements.ts";

/** Below this, agreeing on every write takes longer than the whole answer may. */
const TOO_FAST_FOR_CONSENSUS_MS = 50;

/**
 * How the copies of a partition are kept when nobody says: strong consistency always agrees (raft), state that may lag
 * merges (mst), other copies agree unless answers must come too fast for it, and a single copy needs nothing.
 */
export function shardTypeFor(copies: number, { latencyMs, consistency }: Requirements): ShardType {
  if (consistency === "strong") return "raft";
  if (copies <= 1) return "basic";
  if (consistency === "eventual" || consistency === "none") return "mst";
  return latencyMs !== undefined && latencyMs < TOO_FAST_FOR_CONSENSUS_MS ? "basic" : "raft";
}
