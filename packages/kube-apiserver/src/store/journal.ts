import type { JsonObject } from "@oaas/kube-core";
import type { StoredObject } from "./stored-object.ts";

/** One object's new state, or its removal. */
export interface JournalWrite {
  readonly kind: string;
  readonly key: string;
  /** Missing for a deletion. */
  readonly stored?: StoredObject;
}

export interface PersistedObject {
  readonly kind: string;
  readonly key: string;
  readonly object: JsonObject;
}

/** Durable storage of writes. */
export interface Journal {
  /** All stored objects, and the revision of the last batch. */
  load(): Promise<{ readonly objects: readonly PersistedObject[]; readonly revision: number }>;
  /**
   * Stores a batch atomically. Resolves when it is durable; rejects only when it is certain that nothing was stored.
   * `revision` is the last of the batch and never decreases.
   */
  persist(writes: readonly JournalWrite[], revision: number): Promise<void>;
}
