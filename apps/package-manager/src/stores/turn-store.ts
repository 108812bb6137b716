import type { DeploymentKey } from "@oaas/models";
import { Collection, MAX_PAGE, type CollectionDefinition, type KeyValueStore, type Stored } from "@oaas/storage";
import type { RestartTurnRecord } from "../records/restart-turn.ts";

/** By deployment key. */
export const RESTART_TURNS = {
  name: "restart-turns",
  codec: { version: 1, decode: turnRecord },
} satisfies CollectionDefinition<RestartTurnRecord>;

export function openTurns(store: KeyValueStore): Collection<RestartTurnRecord> {
  return new Collection(store, RESTART_TURNS);
}

/** Every turn that is not over. */
export async function listTurns(
  turns: Pick<Collection<RestartTurnRecord>, "list">,
): Promise<Map<DeploymentKey, Stored<RestartTurnRecord>>> {
  const all = new Map<DeploymentKey, Stored<RestartTurnRecord>>();
  let after: string | undefined;
  do {
    const page = await turns.list(after === undefined ? { limit: MAX_PAGE } : { limit: MAX_PAGE, after });
    for (const stored of page.records) all.set(stored.id as DeploymentKey, stored);
    after = page.next;
  } while (after !== undefined);
  return all;
}

function turnRecord(json: unknown): RestartTurnRecord {
  const record = json as Partial<RestartTurnRecord> | null;
  if (typeof record?.id !== "string" || typeof record.cluster !== "string" || typeof record.nodeId !== "number") {
    throw new TypeError("not a restart turn");
  }
  return record as RestartTurnRecord;
}
