import { orAbort } from "@oaas/foundation";
import type { Stored } from "@oaas/storage";
import { isOpen, type SagaRecord } from "./saga.ts";

/** The result of waiting for a saga; `waiting` after the timeout, `gone` when its subject was deleted. */
export type WaitResult =
  | { readonly state: "ended"; readonly saga: SagaRecord }
  | { readonly state: "superseded" }
  | { readonly state: "gone" }
  | { readonly state: "waiting" };

/** A saga and the store revision that wrote it. Older changes of the subject concern an earlier saga. */
export interface SagaReference {
  readonly subject: string;
  readonly id: string;
  readonly revision: number;
}

interface Waiter {
  readonly saga: SagaReference;
  readonly resolve: (waited: WaitResult) => void;
}

/** The callers that wait for sagas, notified of each change of a subject. */
export class Waiters {
  readonly #waiting = new Map<string, Set<Waiter>>();

  /** Resolves with `waiting` when the signal aborts. */
  async wait(saga: SagaReference, signal: AbortSignal): Promise<WaitResult> {
    const { subject } = saga;
    const { promise, resolve } = Promise.withResolvers<WaitResult>();
    const waiter = { saga, resolve };
    const waiting = this.#waiting.get(subject) ?? new Set();
    this.#waiting.set(subject, waiting.add(waiter));
    try {
      return await orAbort(promise, signal);
    } catch {
      return { state: "waiting" };
    } finally {
      waiting.delete(waiter);
      if (waiting.size === 0 && this.#waiting.get(subject) === waiting) this.#waiting.delete(subject);
    }
  }

  notify(subject: string, change: Stored<SagaRecord>): void {
    for (const { saga, resolve } of this.#waiting.get(subject) ?? []) {
      if (change.revision < saga.revision) continue;
      if (change.record.id !== saga.id) resolve({ state: "superseded" });
      else if (!isOpen(change.record)) resolve({ state: "ended", saga: change.record });
    }
  }

  /** Reports the end of a saga that left no record, or whose record is not read yet. */
  notifyEnded(ended: SagaRecord): void {
    for (const { saga, resolve } of this.#waiting.get(ended.subject) ?? []) {
      if (saga.id === ended.id) resolve({ state: "ended", saga: ended });
    }
  }

  notifyDeleted(subject: string): void {
    for (const { resolve } of this.#waiting.get(subject) ?? []) resolve({ state: "gone" });
  }

  close(): void {
    for (const waiting of this.#waiting.values()) for (const { resolve } of waiting) resolve({ state: "waiting" });
  }
}
