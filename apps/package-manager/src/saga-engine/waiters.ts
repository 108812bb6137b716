import { orAbort } from "@oaas/foundation";
import type { Stored } from "@oaas/storage";
import { isOpen, type SagaRecord } from "./saga.ts";

/** How a wait for a saga ended: with its end, with another in its place, or with the end of patience. */
export type WaitResult =
  | { readonly state: "ended"; readonly saga: SagaRecord }
  | { readonly state: "superseded" }
  | { readonly state: "gone" }
  | { readonly state: "waiting" };

/** A saga by the store's revision that wrote it: older news of its subject are of another one. */
export interface SagaReference {
  readonly subject: string;
  readonly id: string;
  readonly revision: number;
}

interface Waiter {
  readonly saga: SagaReference;
  readonly resolve: (waited: WaitResult) => void;
}

/** Those who wait for sagas, told whenever something is heard of a subject. */
export class Waiters {
  readonly #waiting = new Map<string, Set<Waiter>>();

  /** Ends with `waiting` when the signal aborts. */
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

  tell(subject: string, news: Stored<SagaRecord>): void {
    for (const { saga, resolve } of this.#waiting.get(subject) ?? []) {
      if (news.revision < saga.revision) continue;
      if (news.record.id !== saga.id) resolve({ state: "superseded" });
      else if (!isOpen(news.record)) resolve({ state: "ended", saga: news.record });
    }
  }

  /** Tells the end of a saga that left no record, or whose record is not read yet. */
  tellEnded(ended: SagaRecord): void {
    for (const { saga, resolve } of this.#waiting.get(ended.subject) ?? []) {
      if (saga.id === ended.id) resolve({ state: "ended", saga: ended });
    }
  }

  tellGone(subject: string): void {
    for (const { resolve } of this.#waiting.get(subject) ?? []) resolve({ state: "gone" });
  }

  close(): void {
    for (const waiting of this.#waiting.values()) for (const { resolve } of waiting) resolve({ state: "waiting" });
  }
}
