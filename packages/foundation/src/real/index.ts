import { randomUUID } from "node:crypto";
import type { Ambient, Ids, Random } from "../time/ambient.ts";
import type { Clock, Timers } from "../time/time.ts";

/** The system clock. */
export const realClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Node's timers. A delay of 0 fires at the end of the current event loop turn, not after a millisecond. */
export const realTimers: Timers = {
  after: (delayMs, callback) => {
    if (delayMs <= 0) {
      const immediate = setImmediate(callback);
      return { cancel: () => clearImmediate(immediate) };
    }
    const timeout = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(timeout) };
  },
};

export const realRandom: Random = { next: () => Math.random() };

export const realIds: Ids = { uuid: () => randomUUID() };

/** Only for `main.ts`, adapters and tests against real components. */
export const realAmbient: Ambient = {
  clock: realClock,
  timers: realTimers,
  random: realRandom,
  ids: realIds,
};

/** Resolves at the end of the current event loop turn, after all pending promise callbacks. */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
