import type { Sampler } from "./tracer.ts";

/** The samplers of the OpenTelemetry specification, by their names in `OTEL_TRACES_SAMPLER`. */
export const SAMPLER_NAMES = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

export type SamplerName = (typeof SAMPLER_NAMES)[number];

/** Digits at the end of a trace id, random by W3C Trace Context level 2; no more than a number holds exactly. */
const RANDOM_DIGITS = 13;
const RANDOM_RANGE = 16 ** RANDOM_DIGITS;

/** Creates a sampler; `ratio` is the share of traces for the two ratio samplers, between 0 and 1. */
export function createSampler(name: SamplerName, ratio = 1): Sampler {
  const isParentBased = name.startsWith("parentbased_");
  const ofRoot = rootSampler(name.replace("parentbased_", ""), ratio);
  return (traceId, parent) => (isParentBased && parent !== undefined ? parent.sampled : ofRoot(traceId));
}

function rootSampler(name: string, ratio: number): (traceId: string) => boolean {
  if (name === "always_on") return () => true;
  if (name === "always_off") return () => false;
  const threshold = ratio * RANDOM_RANGE;
  return (traceId) => Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) < threshold;
}
