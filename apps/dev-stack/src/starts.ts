import { conflict, timestamp, type Clock } from "@oaas/foundation";
import type { KeyValueStore } from "@oaas/storage";

/** How often the stack was started on its data folder. */
export interface Starts {
  readonly count: number;
  readonly previousAt: string | undefined;
}

const KEY = "dev-stack/starts";

/** Counts this start in the store, durably, and answers what was there: the proof that data is found again. */
export async function countStart(store: KeyValueStore, clock: Clock): Promise<Starts> {
  const present = await store.get(KEY);
  const before = present ? (JSON.parse(present.value) as { count: number; at: string }) : undefined;
  const count = (before?.count ?? 0) + 1;
  const { changed } = await store.commit({
    conditions: [
      present ? { key: KEY, test: "mod-revision", revision: present.modRevision } : { key: KEY, test: "absent" },
    ],
    writes: [{ op: "put", key: KEY, value: JSON.stringify({ count, at: timestamp(clock.now()) }) }],
  });
  if (!changed) throw conflict("start counter", KEY);
  return { count, previousAt: before?.at };
}
