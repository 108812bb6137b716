import { randomUUID } from "node:crypto";
import type { Ambient } from "../ambient.ts";
import type { Ids, Random } from "../random.ts";
import type { Clock, Timers } from "../time/time.ts";

/** The machine's clock. */
export const realClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Node's timers. Without a delay it is the end of this turn of the event loop, not the next millisecond. */
export const realTimers: Timers = {
  after: (delayMs, callback) => {
    if (delayMs <= 0) {
      const turn = setImmediate(callback);
      return { cancel: () => clearImmediate(turn) };
    }
    const handle = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(handle) };
  },
};

export const realRandom: Random = { next: () => Math.random() };

export const realIds: Ids = { uuid: () => randomUUID() };

/** For `main.ts`, adapters and tests against real components; nobody else. */
export const realAmbient: Ambient = {
  clock: realClock,
  timers: realTimers,
  random: realRandom,
  ids: realIds,
};
