/** One number, for reading: machines differ, so nothing is judged by it. */
export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly note?: string;
}

/** Two numbers of the same run divided: what we judge ourselves by. Below `floor` the run fails. */
export interface Ratio {
  readonly name: string;
  readonly value: number;
  readonly floor?: number;
  readonly explains: string;
}

export interface BenchReport {
  readonly title: string;
  readonly measurements: readonly Measurement[];
  readonly ratios: readonly Ratio[];
}

/** A benchmark: `bench/<name>.bench.ts` exports one as `bench`. */
export interface Bench {
  readonly name: string;
  run(log: (line: string) => void): Promise<BenchReport>;
}
