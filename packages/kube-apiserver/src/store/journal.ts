import type { JsonObject } from "@oaas/kube-core";
import type { StoredObject } from "./stored-object.ts";

/** One object's new state, or its removal. */
export interface JournalWrite {
  readonly kind: string;
  readonly key: string;
  /** Missing when the object goes. */
  readonly stored?: StoredObject;
}

export interface KeptObject {
  readonly kind: string;
  readonly key: string;
  readonly object: JsonObject;
}

/** Where writes are kept so that they survive the process. */
export interface Journal {
  /** Everything that was ever persisted and not removed, and the revision of the last batch. */
  load(): Promise<{ readonly objects: readonly KeptObject[]; readonly revision: number }>;
  /**
   * Keeps a batch whole or not at all. Resolves when it is durable; rejects only when it is certain that nothing of it was kept.
   * `revision` is the last of the batch and never goes back.
   */
  persist(writes: readonly JournalWrite[], revision: number): Promise<void>;
}
