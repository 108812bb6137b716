/** An absolute number, for information only: it depends on the machine. */
export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly note?: string;
}

/** The ratio of two numbers of the same run. The run fails below `floor`. */
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
  /** Flags with a value that it accepts, without dashes, and what each does. */
  readonly flags?: Readonly<Record<string, string>>;
  run(log: (line: string) => void, values: Readonly<Record<string, string>>): Promise<BenchReport>;
}
