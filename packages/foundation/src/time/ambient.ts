import type { Clock, Timers } from "./time.ts";

/** Randomness as a port. */
export interface Random {
  /** Returns a uniform number in [0, 1). */
  next(): number;
}

/** Identifiers as a port: unique, and repeatable with a seed. */
export interface Ids {
  /** Returns a new UUID. */
  uuid(): string;
}

/** Returns a uniform integer in [0, bound). */
export function randomInt(random: Random, bound: number): number {
  return Math.floor(random.next() * bound);
}

/** Time, randomness and ids of a process: real in `main.ts`, virtual in a simulation. */
export interface Ambient {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly ids: Ids;
}
