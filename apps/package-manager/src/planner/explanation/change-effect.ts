import { equalJson } from "@oaas/foundation";
import type { PlannedOdgm, ShardAssignment } from "../plan-types.ts";
import { pluralize } from "./format.ts";

const RESTART = "the state store restarts";

/** What a difference between two plans does to what runs: restarts, and data that moves or is lost. */
export function changeEffect(steps: readonly string[], before: unknown, after: unknown): string | undefined {
  const [part, name, member] = steps;
  if (part === "odgm") return storeEffect(name, before, after);
  if (name === undefined) return undefined;
  if (part === "functions") return functionEffect(name, member, before, after);
  if (part !== "units" || member !== undefined) return undefined;
  return before === undefined ? `the class starts in ${name}` : `the class is removed from ${name}`;
}

function storeEffect(member: string | undefined, before: unknown, after: unknown): string | undefined {
  switch (member) {
    case undefined:
      return before === undefined ? "a state store starts" : "the state store is removed with its objects";
    case "partitionCount":
    case "shardType":
      return `${RESTART}; objects that are already stored are lost`;
    case "log":
      return "applies when the state store restarts";
    case "allowLayoutChange":
    case "allowRestart":
      return undefined;
    case "collections": {
      const kept = new Set(after as PlannedOdgm["collections"]);
      const removed = (before as PlannedOdgm["collections"]).filter((collection) => !kept.has(collection));
      return removed.length === 0 ? RESTART : `${RESTART}; the objects of ${removed.join(", ")} are lost`;
    }
    case "assignments":
      return `${RESTART}; ${movedShards(before, after)}`;
    default:
      return RESTART;
  }
}

/** Counts the shards of one collection whose node changes. */
function movedShards(before: unknown, after: unknown): string {
  const old = nodesOfShards(before);
  const now = nodesOfShards(after);
  const moved = [...now].filter(([id, node]) => old.get(id) !== node).length;
  const removed = [...old.keys()].filter((id) => !now.has(id)).length;
  return `${pluralize(moved, "shard")} of ${now.size} on another node, without their objects, ${removed} removed`;
}

function nodesOfShards(partitions: unknown): ReadonlyMap<number, number | undefined> {
  const all = (partitions ?? []) as readonly ShardAssignment[];
  return new Map(all.flatMap(({ shardIds, replica }) => shardIds.map((id, index) => [id, replica[index]] as const)));
}

/** Members of a function that are part of its pod template. */
const POD_MEMBERS: ReadonlySet<string> = new Set(["provision", "config"]);

function functionEffect(name: string, member: string | undefined, before: unknown, after: unknown): string | undefined {
  if (member !== undefined) return POD_MEMBERS.has(member) ? `the pods of ${name} are replaced` : undefined;
  if (equalJson(before, after)) return undefined;
  return before === undefined ? `${name} starts` : `${name} stops`;
}
