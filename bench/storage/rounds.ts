/** Work under measurement: a number of awaited operations per call. */
export type Work = () => Promise<number>;

export interface Compared {
  /** Median operations per second over the rounds. */
  readonly ours: number;
  readonly theirs: number;
  /** Median of the ratios of the rounds: both halves of a round run under the same conditions. */
  readonly ratio: number;
}

/** Runs both in turn, alternating the first one, after a warm-up round. */
export async function compare(rounds: number, ours: Work, theirs: Work): Promise<Compared> {
  const results: { readonly ours: number; readonly theirs: number }[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const first = round % 2 === 0 ? await rateOf(ours) : await rateOf(theirs);
    const second = round % 2 === 0 ? await rateOf(theirs) : await rateOf(ours);
    if (round > 0) results.push(round % 2 === 0 ? { ours: first, theirs: second } : { ours: second, theirs: first });
  }
  return {
    ours: median(results.map((each) => each.ours)),
    theirs: median(results.map((each) => each.theirs)),
    ratio: median(results.map((each) => each.ours / each.theirs)),
  };
}

/** Operations per second. */
async function rateOf(work: Work): Promise<number> {
  const start = performance.now();
  const operations = await work();
  return (operations * 1000) / (performance.now() - start);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Keeps `width` operations running until `total` are done. */
export async function concurrently(
  total: number,
  width: number,
  operation: (n: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < total) {
        next += 1;
        await operation(next);
      }
    }),
  );
  return total;
}
