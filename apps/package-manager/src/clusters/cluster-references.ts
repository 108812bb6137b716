import { failedPrecondition, startDeadline, unavailable, type Ambient } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import { absent, unchanged, type Condition, type KeyValueStore, type Transaction } from "@oaas/storage";
import type { ClusterRoster } from "./cluster-roster.ts";

/** Written with every deployment that references a removable cluster. */
const REFERENCED = "o/clusters-needed";
/** Written with every removal of a cluster. */
const REMOVED = "o/clusters-removed";

/** How long to wait for a view of the store to catch up. */
const MAX_LAG_MS = 2_000;

export interface ClusterReferencesOptions {
  readonly store: KeyValueStore;
  readonly roster: Pick<ClusterRoster, "entry" | "reached">;
  readonly ambient: Ambient;
}

/**
 * Serialises placing a deployment in a cluster and removing that cluster, which both decide by a view of the store.
 *
 * *Guarantees*: the later commit sees the earlier one, or the store rejects it and it is decided again. The cost does not
 * grow with the number of clusters; configured clusters cannot be removed and cost nothing.
 */
export class ClusterReferences {
  readonly #options: ClusterReferencesOptions;

  constructor(options: ClusterReferencesOptions) {
    this.#options = options;
  }

  /** The part of a transaction that references clusters. Throws failed-precondition if one is not registered any more. */
  async stageReference(names: readonly ClusterName[]): Promise<Transaction> {
    const { roster, store, ambient } = this.#options;
    const origins = names.map((name) => this.#entryOf(name).origin);
    if (!origins.includes("api")) return { writes: [] };
    const removed = await store.get(REMOVED);
    if (removed !== undefined) await this.#waitFor(removed.modRevision, roster);
    for (const name of names) this.#entryOf(name);
    return {
      conditions: [removed === undefined ? absent(REMOVED) : unchanged(removed)],
      writes: [{ op: "put", key: REFERENCED, value: ambient.ids.uuid() }],
    };
  }

  /** The part of a transaction that removes a cluster, once `deployments` shows every earlier reference. */
  async stageRemoval(deployments: {
    reached(revision: number, options: { signal: AbortSignal }): Promise<void>;
  }): Promise<Transaction> {
    const { store, ambient } = this.#options;
    const referenced = await store.get(REFERENCED);
    if (referenced !== undefined) await this.#waitFor(referenced.modRevision, deployments);
    const condition: Condition = referenced === undefined ? absent(REFERENCED) : unchanged(referenced);
    return { conditions: [condition], writes: [{ op: "put", key: REMOVED, value: ambient.ids.uuid() }] };
  }

  #entryOf(name: ClusterName): NonNullable<ReturnType<ClusterRoster["entry"]>> {
    const entry = this.#options.roster.entry(name);
    if (entry !== undefined) return entry;
    throw failedPrecondition(name, `cluster "${name}" is not registered any more; request a new plan`);
  }

  async #waitFor(
    revision: number,
    list: { reached(revision: number, options: { signal: AbortSignal }): Promise<void> },
  ): Promise<void> {
    using deadline = startDeadline(this.#options.ambient, MAX_LAG_MS);
    try {
      await list.reached(revision, deadline);
    } catch (thrown) {
      throw unavailable("the store", "cluster changes of other processes are not visible yet; retry", {
        cause: thrown,
      });
    }
  }
}
