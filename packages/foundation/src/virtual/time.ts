import { endOfTurn } from "../real/index.ts";
import type { Clock, Timer, Timers } from "../time/time.ts";

interface Pending {
  readonly dueAt: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Limit of timers at one instant. It detects a timer without delay that schedules itself forever. */
const MAX_TIMERS_PER_INSTANT = 100_000;

/**
 * A clock that moves only on `advance` and `step`, with its timers.
 *
 * *Guarantees*: timers fire in order of due time, ties in the order of scheduling. The clock shows the due time of a
 * timer while it fires. All promise callbacks that a timer causes run before the next timer fires. Timers that schedule
 * each other forever without delay are an error.
 *
 * *Caveats*: does not wait for sockets, files or workers, and cannot detect promises that resolve each other forever.
 */
export class VirtualTime implements Clock, Timers {
  #now: number;
  #elapsed = 0;
  #order = 0;
  readonly #pending = new Set<Pending>();

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(delayMs: number, callback: () => void): Timer {
    const entry: Pending = {
      dueAt: this.#elapsed + Math.max(0, delayMs),
      order: (this.#order += 1),
      callback,
    };
    this.#pending.add(entry);
    return { cancel: () => void this.#pending.delete(entry) };
  }

  /** Number of scheduled timers. */
  get pendingTimers(): number {
    return this.#pending.size;
  }

  /** Moves the wall clock without advancing time, like an operator or NTP. */
  jump(byMs: number): void {
    this.#now += byMs;
  }

  /** Advances time by `byMs` and fires the due timers. */
  async advance(byMs: number): Promise<void> {
    const end = this.#elapsed + byMs;
    await endOfTurn();
    let [instant, firedAtInstant] = [this.#elapsed, 0];
    for (let next = this.#earliest(end); next; next = this.#earliest(end)) {
      await this.#fire(next);
      [instant, firedAtInstant] = this.#elapsed === instant ? [instant, firedAtInstant + 1] : [this.#elapsed, 1];
      if (firedAtInstant > MAX_TIMERS_PER_INSTANT) throw new Error(this.#endlessTimersText(firedAtInstant));
    }
    this.#moveTo(end);
    await endOfTurn();
  }

  /** Fires the next timer at any distance; returns false when there is none. */
  async step(): Promise<boolean> {
    await endOfTurn();
    const next = this.#earliest(Number.POSITIVE_INFINITY);
    if (!next) return false;
    await this.#fire(next);
    return true;
  }

  async #fire(entry: Pending): Promise<void> {
    this.#pending.delete(entry);
    this.#moveTo(Math.max(this.#elapsed, entry.dueAt));
    entry.callback();
    await endOfTurn();
  }

  #endlessTimersText(fired: number): string {
    return `${fired} timers fired at ${this.#elapsed} ms and ${this.#pending.size} are pending: a timer without delay schedules itself forever`;
  }

  #moveTo(elapsed: number): void {
    this.#now += elapsed - this.#elapsed;
    this.#elapsed = elapsed;
  }

  #earliest(limit: number): Pending | undefined {
    let best: Pending | undefined;
    for (const entry of this.#pending) {
      if (entry.dueAt > limit) continue;
      if (!best || entry.dueAt < best.dueAt || (entry.dueAt === best.dueAt && entry.order < best.order)) best = entry;
    }
    return best;
  }
}
