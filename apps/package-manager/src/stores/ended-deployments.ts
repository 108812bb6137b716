import type { DeploymentKey } from "@oaas/models";
import { conflictOf, MAX_OPERATIONS, unchanged, type KeyValueStore, type Transaction } from "@oaas/storage";

const PREFIX = "o/ended-deployments/";

/**
 * The highest unit revision of each deployment that has ended.
 *
 * It separates a unit that reached its cluster late from one that is newer than this store (ADR 0016).
 */
export class EndedDeployments {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  /** Part of the transaction that deletes the deployment. */
  stage(key: string, unitRevision: number): Transaction {
    return { writes: [{ op: "put", key: PREFIX + key, value: String(unitRevision) }] };
  }

  /** Undefined when the store never had the deployment, or has dropped its entry. */
  async lastUnitRevision(key: DeploymentKey): Promise<number | undefined> {
    const entry = await this.#store.get(PREFIX + key);
    return entry && Number(entry.value);
  }

  /** Drops the entries with this revision or a lower one. */
  async forgetUpTo(unitRevision: number, signal: AbortSignal): Promise<void> {
    let after: string | undefined;
    do {
      const page = await this.#store.range(
        { prefix: PREFIX, limit: MAX_OPERATIONS, ...(after === undefined ? {} : { after }) },
        { signal },
      );
      const due = page.entries.filter(({ value }) => Number(value) <= unitRevision);
      if (due.length > 0) {
        const writes = due.map(({ key }) => ({ op: "delete" as const, key }));
        await this.#store.commit({ conditions: due.map(unchanged), writes }, { signal }).catch((thrown: unknown) => {
          // An entry changed: the next call sees it.
          if (conflictOf(thrown) === undefined) throw thrown;
        });
      }
      after = page.next;
    } while (after !== undefined);
  }
}
