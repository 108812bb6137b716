import type { Ids, Random } from "../time/ambient.ts";

/** The sfc32 generator: fast, and identical on every machine for the same seed. */
export function seededRandom(seed: number): Random {
  let a = 0x9e3779b9 ^ seed;
  let b = 0x243f6a88 ^ Math.imul(seed, 0x85ebca6b);
  let c = 0xb7e15162 ^ Math.imul(seed, 0xc2b2ae35);
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return (sum >>> 0) / 4_294_967_296;
  };
  for (let warm = 0; warm < 15; warm += 1) next();
  return { next };
}

/** UUIDs of version 4 from a seeded generator. */
export function seededIds(random: Random): Ids {
  const digit = (): number => Math.floor(random.next() * 16);
  return {
    uuid: () =>
      "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replaceAll(/[xy]/g, (mark) =>
        (mark === "x" ? digit() : (digit() & 3) | 8).toString(16),
      ),
  };
}
