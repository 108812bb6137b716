import { failedPrecondition, startDeadline, unavailable, type Ambient } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import { absent, unchanged, type Condition, type KeyValueStore, type Transaction } from "@oaas/storage";
import type { ClusterRoster } from "./cluster-roster.ts";

/** Written with every wish that comes to need a cluster which can be removed. */
const NEEDED = "o/clusters-needed";
/** Written with every removal of a cluster. */
const REMOVED = "o/clusters-removed";

/** How long a list that follows the store may be behind it. */
const BEHIND_MS = 2_000;

export interface ClusterReferencesOptions {
  readonly store: KeyValueStore;
  readonly roster: Pick<ClusterRoster, "entry" | "reached">;
  readonly ambient: Ambient;
}

/**
 * Keeps two things apart that each look at a list first: placing something in a cluster, and removing the cluster.
 *
 * *Guarantees*: of the two, whoever commits later sees the other, or is refused by the store and decides again. Neither costs more with the
 * number of clusters, and clusters of the configuration, which nobody can remove, cost nothing.
 */
export class ClusterReferences {
  readonly #options: ClusterReferencesOptions;

  constructor(options: ClusterReferencesOptions) {
    this.#options = options;
  }

  /** The part of a transaction by which something comes to need clusters; failed-precondition when one is not known any more. */
  async stageReference(names: readonly ClusterName[]): Promise<Transaction> {
    const { roster, store, ambient } = this.#options;
    const origins = names.map((name) => this.#known(name).origin);
    if (!origins.includes("api")) return { writes: [] };
    const removed = await store.get(REMOVED);
    if (removed !== undefined) await this.#inTime(removed.modRevision, roster);
    for (const name of names) this.#known(name);
    return {
      conditions: [removed === undefined ? absent(REMOVED) : unchanged(removed)],
      writes: [{ op: "put", key: NEEDED, value: ambient.ids.uuid() }],
    };
  }

  /** The part of a transaction that removes a cluster, after `needs` shows every wish that was written before. */
  async stageRemoval(needs: {
    reached(revision: number, options: { signal: AbortSignal }): Promise<void>;
  }): Promise<Transaction> {
    const { store, ambient } = this.#options;
    const needed = await store.get(NEEDED);
    if (needed !== undefined) await this.#inTime(needed.modRevision, needs);
    const condition: Condition = needed === undefined ? absent(NEEDED) : unchanged(needed);
    return { conditions: [condition], writes: [{ op: "put", key: REMOVED, value: ambient.ids.uuid() }] };
  }

  #known(name: ClusterName): NonNullable<ReturnType<ClusterRoster["entry"]>> {
    const entry = this.#options.roster.entry(name);
    if (entry !== undefined) return entry;
    throw failedPrecondition(name, `cluster "${name}" is not known any more; make a plan without it`);
  }

  async #inTime(
    revision: number,
    list: { reached(revision: number, options: { signal: AbortSignal }): Promise<void> },
  ): Promise<void> {
    using patience = startDeadline(this.#options.ambient, BEHIND_MS);
    try {
      await list.reached(revision, patience);
    } catch (thrown) {
      throw unavailable("the store", "what others wrote about clusters is not heard of; try again", { cause: thrown });
    }
  }
}
