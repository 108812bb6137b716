import type { Ambient } from "@oaas/foundation";
import { absent, conflictOf, type KeyValueStore } from "@oaas/storage";

const KEY = "o/installation-id";

/**
 * The name by which this installation owns units. It is created with the store and shared by all processes on it.
 *
 * An empty store is a new installation, so that it never treats units of the previous one as surplus.
 */
export async function installationId(store: KeyValueStore, ambient: Ambient): Promise<string> {
  for (;;) {
    const entry = await store.get(KEY);
    if (entry !== undefined) return entry.value;
    const id = `oaas-pm-${ambient.ids.uuid()}`;
    try {
      await store.commit({ conditions: [absent(KEY)], writes: [{ op: "put", key: KEY, value: id }] });
      return id;
    } catch (thrown) {
      if (conflictOf(thrown) === undefined) throw thrown;
    }
  }
}
