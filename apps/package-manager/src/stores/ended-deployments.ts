import type { DeploymentKey } from "@oaas/models";
import { conflictOf, MAX_OPERATIONS, unchanged, type KeyValueStore, type Transaction } from "@oaas/storage";

const PREFIX = "o/ended-deployments/";

/**
 * What is remembered of deployments that are gone: the highest revision their units were sent with.
 *
 * By it a unit that reached its cluster too late is told from one that is newer than this store (ADR 0016).
 */
export class EndedDeployments {
  readonly #store: KeyValueStore;

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  /** Part of the transaction that forgets the deployment. */
  stage(key: string, unitRevision: number): Transaction {
    return { writes: [{ op: "put", key: PREFIX + key, value: String(unitRevision) }] };
  }

  /** Undefined when this store never had such a deployment, or had it too long ago. */
  async of(key: DeploymentKey): Promise<number | undefined> {
    const entry = await this.#store.get(PREFIX + key);
    return entry && Number(entry.value);
  }

  /** Forgets those that ended with this revision or an earlier one. */
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
          // One of them ended anew just now: the next time sees that.
          if (conflictOf(thrown) === undefined) throw thrown;
        });
      }
      after = page.next;
    } while (after !== undefined);
  }
}
