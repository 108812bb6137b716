import { Fault, sleep, type Timers } from "@oaas/foundation";
import { absent, outcomeUnknown, type Condition, type Entry, type KeyValueStore, type Write } from "@oaas/storage";
import type { JsonObject } from "@oaas/kube-core";
import type { Journal, JournalWrite, PersistedObject } from "./journal.ts";

const PAGE = 1000;
const FIRST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 2000;

export interface KeyValueJournalOptions {
  readonly store: KeyValueStore;
  readonly timers: Timers;
  /** The key prefix; one server per prefix. */
  readonly prefix?: string;
}

/**
 * Stores objects on the key-value port, one key each, with the newest revision.
 *
 * Guarantees: a batch and its revision are one transaction, so revisions never decrease, even when the last write was a
 * deletion. Another writer under the same prefix makes the next batch fail.
 *
 * Caveats: when the outcome of a batch is unknown, the store is queried until it is known; writes wait that long.
 */
export class KeyValueJournal implements Journal {
  readonly #store: KeyValueStore;
  readonly #timers: Timers;
  readonly #prefix: string;
  readonly #revisionKey: string;
  /** The store's revision of the last batch; 0 for none. */
  #lastBatch = 0;

  constructor({ store, timers, prefix = "kube/" }: KeyValueJournalOptions) {
    this.#store = store;
    this.#timers = timers;
    this.#prefix = `${prefix}objects/`;
    this.#revisionKey = `${prefix}revision`;
  }

  async load(): Promise<{ readonly objects: readonly PersistedObject[]; readonly revision: number }> {
    const newest = await this.#store.get(this.#revisionKey);
    this.#lastBatch = newest?.modRevision ?? 0;
    const objects: PersistedObject[] = [];
    let after: string | undefined;
    do {
      const from = after === undefined ? {} : { after };
      const page = await this.#store.range({ prefix: this.#prefix, limit: PAGE, ...from });
      for (const entry of page.entries) objects.push(this.#read(entry));
      after = page.next;
    } while (after !== undefined);
    return { objects, revision: Number(newest?.value ?? 0) };
  }

  async persist(writes: readonly JournalWrite[], revision: number): Promise<void> {
    const value = String(revision);
    try {
      const { revision: committed } = await this.#store.commit({
        conditions: [this.#condition()],
        writes: [...writes.map((write) => this.#write(write)), { op: "put", key: this.#revisionKey, value }],
      });
      this.#lastBatch = committed;
    } catch (error) {
      if (!outcomeUnknown(error)) throw error;
      // The batch exists if its number does: they are one transaction.
      const newest = await this.#untilKnown();
      if (newest?.value !== value) throw error;
      this.#lastBatch = newest.modRevision;
    }
  }

  #condition(): Condition {
    const key = this.#revisionKey;
    return this.#lastBatch === 0 ? absent(key) : { key, test: "mod-revision", revision: this.#lastBatch };
  }

  async #untilKnown(): Promise<Entry | undefined> {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      try {
        return await this.#store.get(this.#revisionKey);
      } catch (error) {
        // An unavailable store may recover; a closed one never responds.
        if (error instanceof Fault && error.kind === "failed-precondition") throw error;
        await sleep(this.#timers, waitMs);
      }
    }
  }

  #write({ kind, key, stored }: JournalWrite): Write {
    const name = `${this.#prefix}${kind}/${key}`;
    if (stored === undefined) return { op: "delete", key: name };
    const { apiVersion, kind: itsKind } = stored.object;
    const head = JSON.stringify({ kind: itsKind, apiVersion }).slice(0, -1);
    return { op: "put", key: name, value: `${head},${stored.tail}` };
  }

  #read({ key, value }: Entry): PersistedObject {
    const [kind = "", ...rest] = key.slice(this.#prefix.length).split("/");
    return { kind, key: rest.join("/"), object: JSON.parse(value) as JsonObject };
  }
}
