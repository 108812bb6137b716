import type { ComponentSamples, Series, Signal } from "../../samples.ts";
import type { AnalysisInput } from "../analysis.ts";
import { DEFAULT_ANALYZER_SETTINGS } from "../settings.ts";

/** 2026-01-05T12:00:00Z, the end of an hour and of every bucket. */
export const NOW = Date.UTC(2026, 0, 5, 12);

/** A full window of one value, or of the values given by the index from the oldest sample on. */
export function windowOf(value: number | ((index: number) => number), endMs = NOW): Series {
  const { windowMs, stepMs } = DEFAULT_ANALYZER_SETTINGS;
  const count = windowMs / stepMs;
  return Array.from({ length: count }, (_, index) => ({
    atMs: endMs - (count - 1 - index) * stepMs,
    value: typeof value === "number" ? value : value(index),
  }));
}

/** Samples with one constant value per signal. */
export function constantSamples(values: Partial<Record<Signal, number>>, endMs = NOW): ComponentSamples {
  const entries = Object.entries(values).map(([signal, value]) => [signal, windowOf(value, endMs)]);
  return { signals: Object.fromEntries(entries) as ComponentSamples["signals"], pods: {} };
}

/** An input with the default settings, one replica and no requirements. */
export function inputOf(given: Partial<AnalysisInput> = {}): AnalysisInput {
  return {
    nowMs: NOW,
    component: "resize",
    requirements: {},
    scale: { current: 1 },
    samples: { signals: {}, pods: {} },
    settings: DEFAULT_ANALYZER_SETTINGS,
    ...given,
  };
}
