/** Buckets of a histogram, each larger than the one before by a constant ratio. The first starts at 0, the last has no end. */
export interface Buckets {
  readonly starts: readonly number[];
  /** The bucket of a value; values above all buckets are in the last. */
  indexOf(value: number): number;
}

export function exponentialBuckets(options: { first: number; max: number; ratio: number }): Buckets {
  const { first, max, ratio } = options;
  const position = (value: number): number => Math.log((value * (ratio - 1)) / first + 1) / Math.log(ratio);
  const count = Math.ceil(position(max)) + 1;
  const starts = Array.from({ length: count }, (_, index) =>
    index === 0 ? 0 : (first * (integerPower(ratio, index) - 1)) / (ratio - 1),
  );
  return {
    starts,
    indexOf: (value) => (value < first ? 0 : Math.min(Math.trunc(position(value)), count - 1)),
  };
}

/** Rounds as VPA's implementation does, by repeated squaring, so that both have the same bucket boundaries. */
function integerPower(base: number, exponent: number): number {
  let result = 1;
  let square = base;
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result *= square;
    square *= square;
  }
  return result;
}
