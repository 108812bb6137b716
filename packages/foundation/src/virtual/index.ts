import type { Ambient } from "../time/ambient.ts";
import { seededIds, seededRandom } from "./random.ts";
import { VirtualTime } from "./time.ts";

export { seededIds, seededRandom } from "./random.ts";
export { VirtualTime } from "./time.ts";

/** Virtual time, randomness and ids from one seed: the same seed gives the same run. */
export function virtualAmbient(seed: number): Ambient & { readonly time: VirtualTime } {
  const time = new VirtualTime();
  const random = seededRandom(seed);
  return { time, clock: time, timers: time, random, ids: seededIds(seededRandom(seed ^ 0x5bd1e995)) };
}
