import type { Ambient } from "@oaas/foundation";
import { absent, conflictOf, type KeyValueStore } from "@oaas/storage";

const KEY = "o/installation-id";

/**
 * The name under which this installation owns units: born with its store and shared by every process on it.
 *
 * A store that forgot everything is another installation, so that it never takes the units of the old one for surplus.
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
