/** Randomness as a port. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
}

/** Identifiers as a port: unique, and with the seeded implementation repeatable. */
export interface Ids {
  /** A new UUID. */
  uuid(): string;
}

/** Uniform integer in [0, bound). */
export function randomInt(random: Random, bound: number): number {
  return Math.floor(random.next() * bound);
}
