import type { Timer, Timers } from "@oaas/foundation";
import { inRange, rangeOf, type KeyRange } from "../../key-order.ts";
import type { ChangeEvent, WatchBatch, WatchQuery } from "../../kv.ts";
import type { LocalEngine } from "./engine.ts";

interface LocalWatch {
  readonly engine: LocalEngine;
  readonly timers: Timers;
  readonly bookmarkMs: number;
  /** Aborts, with the reason to throw, when the handle is closed. */
  readonly closing: AbortSignal;
  readonly query: WatchQuery;
}

/**
 * Follows history at the reader's pace: a watcher is a position in the shared history and nothing more.
 *
 * Flow: deliver what history has → wait for a change, the bookmark's time, the caller's abort or the close → again.
 */
export async function* watchHistory(watch: LocalWatch): AsyncGenerator<WatchBatch, void, undefined> {
  const { engine, query } = watch;
  const range = rangeOf(query);
  using wake = new WakeUp(watch);
  let next = query.fromRevision;
  while (!query.signal?.aborted) {
    if (watch.closing.aborted) throw watch.closing.reason;
    engine.assertOpen();
    if (next > engine.history.revision && next > engine.history.compacted) {
      if (wake.bookmarkDue) yield { revision: wake.delivered(next - 1), events: [] };
      else await wake.sleep(next);
      continue;
    }
    const events = relevant(engine.history.at(next), range, query.withPrevious ?? false);
    next += 1;
    if (events.length === 0) wake.skipped();
    else yield { revision: wake.delivered(next - 1), events };
  }
}

function relevant(events: readonly ChangeEvent[], range: KeyRange, withPrevious: boolean): ChangeEvent[] {
  const inside = events.filter((event) => inRange(range, event.type === "put" ? event.entry.key : event.key));
  if (withPrevious) return inside;
  return inside.map((event) =>
    event.type === "put"
      ? { type: "put", entry: event.entry }
      : { type: "delete", key: event.key, revision: event.revision },
  );
}

/** What a caught-up watcher waits for: a change, the time for a bookmark, the caller's abort, the close. */
class WakeUp implements Disposable {
  readonly #watch: LocalWatch;
  readonly #stop: (() => void)[] = [];
  #bookmark: Timer | undefined;
  #due = false;
  #wake: (() => void) | undefined;

  constructor(watch: LocalWatch) {
    this.#watch = watch;
    const onEvent = (): void => this.#wake?.();
    this.#stop.push(watch.engine.onChange(onEvent));
    for (const signal of [watch.closing, watch.query.signal]) {
      signal?.addEventListener("abort", onEvent, { once: true });
      this.#stop.push(() => signal?.removeEventListener("abort", onEvent));
    }
  }

  get bookmarkDue(): boolean {
    return this.#due;
  }

  /** The reader has been told this revision, so no bookmark is needed for now. */
  delivered(revision: number): number {
    this.#bookmark?.cancel();
    this.#bookmark = undefined;
    this.#due = false;
    return revision;
  }

  /** A revision passed that does not concern the reader: it shall learn of it, but not at once. */
  skipped(): void {
    this.#bookmark ??= this.#watch.timers.after(this.#watch.bookmarkMs, () => {
      this.#due = true;
      this.#wake?.();
    });
  }

  /** Resolves when it may be time to look again. */
  sleep(next: number): Promise<void> {
    const { engine, closing, query } = this.#watch;
    if (engine.history.revision >= next || closing.aborted || query.signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  [Symbol.dispose](): void {
    this.#bookmark?.cancel();
    for (const stop of this.#stop) stop();
  }
}
