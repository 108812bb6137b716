import type { Ids, Random } from "./random.ts";
import type { Clock, Timers } from "./time/time.ts";

/** Everything a process takes from its surroundings without asking; real in `main.ts`, virtual in a simulation. */
export interface Ambient {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly ids: Ids;
}
