import { exponentialBuckets } from "./buckets.ts";

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** A bucket with less weight counts as empty. */
export const EPSILON = 0.0001;

/** How far usage is remembered: a sample loses half of its weight in this time. */
export const HALF_LIFE_MS = 24 * HOUR_MS;

/** Usage in cores. */
export const CPU_BUCKETS = exponentialBuckets({ first: 0.01, max: 1000, ratio: 1.05 });

/** Usage in bytes. */
export const MEMORY_BUCKETS = exponentialBuckets({ first: 1e7, max: 1e12, ratio: 1.05 });

export const CPU_SAMPLE_WEIGHT = 0.1;
export const MEMORY_SAMPLE_WEIGHT = 1;

/** Each pod contributes its largest memory usage once per interval. */
export const PEAK_INTERVAL_MS = 24 * HOUR_MS;

/** Without a sample for so long the history is outdated and starts again. */
export const HISTORY_MS = 8 * DAY_MS;

/** A container that was killed needs a fifth more memory, and at least 100 MiB more. */
export const OOM_RATIO = 1.2;
export const OOM_MIN_BYTES = 100 * 1024 * 1024;

export const PERCENTILES = { lowerBound: 0.5, target: 0.9, upperBound: 0.95 } as const;
export const SAFETY_MARGIN = 0.15;

/** The history that gives full confidence; with half of it the upper bound is three times the percentile. */
export const CONFIDENCE_INTERVAL_MS = 24 * HOUR_MS;

export const MIN_CPU_MILLICORES = 25;
export const MIN_MEMORY_BYTES = 250 * 1024 * 1024;

/** The largest values that the histograms can tell apart, as limits of unknown upper bounds. */
export const MAX_CPU_MILLICORES = 1_000_000;
export const MAX_MEMORY_BYTES = 1e12;
