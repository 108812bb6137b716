import { endOfTurn } from "../real/turn.ts";
import type { Clock, Timer, Timers } from "../time/time.ts";

interface Pending {
  readonly dueAt: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Timers that may fire at one instant: far more than anything sensible sets, so that one which sets itself again without delay is found out. */
const MOST_AT_ONCE = 100_000;

/**
 * A clock that stands still until it is told to move, and the timers that hang on it.
 *
 * *Guarantees*: timers fire in order of due time, ties in the order they were set; the clock shows a timer's due time
 * while it fires; everything that one timer sets going by promises comes to rest before the next fires, however many steps it takes; timers that set
 * each other for ever without time passing are an error.
 *
 * *Caveats*: promises that wait for each other in a circle never give the thread back, so that nothing here can notice them. What waits for the machine (sockets,
 * files, workers) is not waited for.
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

  /** How many timers are waiting. */
  get pendingTimers(): number {
    return this.#pending.size;
  }

  /** Moves the wall clock without letting time pass, as an operator or NTP would. */
  jump(byMs: number): void {
    this.#now += byMs;
  }

  /** Lets `byMs` pass, firing what falls due. */
  async advance(byMs: number): Promise<void> {
    const end = this.#elapsed + byMs;
    await endOfTurn();
    let [instant, atOnce] = [this.#elapsed, 0];
    for (let next = this.#earliest(end); next; next = this.#earliest(end)) {
      await this.#fire(next);
      [instant, atOnce] = this.#elapsed === instant ? [instant, atOnce + 1] : [this.#elapsed, 1];
      if (atOnce > MOST_AT_ONCE) throw new Error(this.#neverQuiet(atOnce));
    }
    this.#moveTo(end);
    await endOfTurn();
  }

  /** Fires the next timer, however far away; false when there is none. */
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

  #neverQuiet(fired: number): string {
    return `${fired} timers fired at ${this.#elapsed} ms, and ${this.#pending.size} more wait: a timer without delay sets itself again for ever; give it a delay, or an end`;
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
