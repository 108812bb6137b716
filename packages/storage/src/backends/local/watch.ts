import type { Timer, Timers } from "@oaas/foundation";
import { inRange, rangeOf } from "../../port/key-order.ts";
import type { ChangeEvent, WatchBatch, WatchQuery } from "../../port/key-value-store.ts";
import type { LocalEngine } from "./engine.ts";

interface LocalWatch {
  readonly engine: LocalEngine;
  readonly timers: Timers;
  readonly bookmarkMs: number;
  /** Aborts with the fault to throw when the handle is closed. */
  readonly closing: AbortSignal;
  readonly query: WatchQuery;
}

/** Limit of changes in a batch of several transactions; the last transaction may exceed it. */
const MOST_GATHERED = 256;

/**
 * Reads history at the pace of the reader: a watcher is a position in the shared history.
 *
 * Flow: deliver changes from history → wait for a change, the bookmark interval, an abort or close → repeat.
 */
export async function* watchHistory(watch: LocalWatch): AsyncGenerator<WatchBatch, void, undefined> {
  const { engine, query } = watch;
  using position = new Position(watch);
  while (!query.signal?.aborted) {
    if (watch.closing.aborted) throw watch.closing.reason;
    engine.assertOpen();
    if (position.isCaughtUp) {
      if (position.bookmarkDue) yield { revision: position.delivered(), events: [] };
      else await position.moved();
      continue;
    }
    const events = position.take();
    if (events.length > 0) yield { revision: position.delivered(), events };
  }
}

/**
 * Position of a watcher in history. Changes outside its range advance the position without waking the watcher.
 */
class Position implements Disposable {
  readonly #watch: LocalWatch;
  readonly #concerns: (key: string) => boolean;
  readonly #stop: (() => void)[] = [];
  /** Next revision to check. */
  #next: number;
  #bookmark: Timer | undefined;
  #due = false;
  #wake: (() => void) | undefined;

  constructor(watch: LocalWatch) {
    const { engine, closing, query } = watch;
    this.#watch = watch;
    this.#next = query.fromRevision;
    this.#concerns = concernOf(query);
    const look = (): void => {
      if (this.#wake !== undefined && this.#hasMoved()) this.#wake();
    };
    this.#stop.push(engine.onChange(look));
    for (const signal of [closing, query.signal]) {
      signal?.addEventListener("abort", look, { once: true });
      this.#stop.push(() => signal?.removeEventListener("abort", look));
    }
  }

  /** Whether there is nothing to deliver. A compacted position counts as something, because it must be reported. */
  get isCaughtUp(): boolean {
    const { history } = this.#watch.engine;
    return this.#next > history.revision && this.#next > history.compacted;
  }

  get bookmarkDue(): boolean {
    return this.#due;
  }

  /** Returns the next batch of changes in the range, if any. */
  take(): ChangeEvent[] {
    const { engine, query } = this.#watch;
    const { history } = engine;
    const events: ChangeEvent[] = [];
    const listener = { concerns: this.#concerns, withPrevious: query.withPrevious ?? false, to: events };
    do {
      history.collect(this.#next, listener);
      this.#next += 1;
    } while (query.batched && this.#next <= history.revision && events.length < MOST_GATHERED);
    if (events.length === 0) this.#passed();
    return events;
  }

  /** Resets the bookmark timer: everything has been delivered. */
  delivered(): number {
    this.#bookmark?.cancel();
    this.#bookmark = undefined;
    this.#due = false;
    return this.#next - 1;
  }

  /** Resolves when there may be something to deliver. */
  async moved(): Promise<void> {
    if (this.#hasMoved()) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  [Symbol.dispose](): void {
    this.#bookmark?.cancel();
    for (const stop of this.#stop) stop();
  }

  #hasMoved(): boolean {
    const { engine, closing, query } = this.#watch;
    const { history } = engine;
    if (closing.aborted || query.signal?.aborted || !engine.isOpen || this.#next <= history.compacted) return true;
    for (; this.#next <= history.revision; this.#next += 1) {
      if (history.touches(this.#next, this.#concerns)) return true;
      this.#passed();
    }
    return false;
  }

  /** Schedules a bookmark for a revision outside the range. */
  #passed(): void {
    this.#bookmark ??= this.#watch.timers.after(this.#watch.bookmarkMs, () => {
      this.#due = true;
      this.#wake?.();
    });
  }
}

function concernOf(query: WatchQuery): (key: string) => boolean {
  const { prefix } = query;
  if (prefix !== undefined) return (key) => key.startsWith(prefix);
  const range = rangeOf(query);
  return (key) => inRange(range, key);
}
