import { EnforcementDimension, EnforcementMode } from "@oaas/models";
import { z } from "zod";
import { setList } from "../collections.ts";
import { onlyOneOf, withRules } from "../rule.ts";
import { count, timestamp, positive, fraction, text, word } from "./scalars.ts";

/** A consistency model, in the spelling of packages (STRONG) or of class runtimes (strong). */
export const consistency = word("none", "eventual", "read_your_write", "bounded_staleness", "strong");

/** Non-functional requirements, with the aliases of the source documents. */
export const nfrRequirements = withRules(
  z.object({
    min_throughput_rps: positive.optional().describe("Requests per second to sustain."),
    throughput: positive.optional().describe("Alias of min_throughput_rps."),
    max_latency_ms: positive.optional().describe("Maximum latency (p99), in milliseconds."),
    max_latency: positive.optional().describe("Alias of max_latency_ms."),
    availability: fraction.optional().describe("Required availability, 0 to 1, e.g. 0.999."),
    availability_pct: z.number().min(0).max(100).optional().describe("Required availability in percent, e.g. 99.9."),
    cpu_utilization_target: fraction.optional().describe("Target CPU utilization for autoscaling, 0 to 1."),
    consistency: consistency.optional().describe("Required consistency of the state."),
  }),
  onlyOneOf("min_throughput_rps", "throughput"),
  onlyOneOf("max_latency_ms", "max_latency"),
  onlyOneOf("availability", "availability_pct"),
);

const DIMENSIONS = Object.values(EnforcementDimension);
const dimension = z.enum(DIMENSIONS);

/** Enforcement settings of a class. */
export const enforcement = withRules(
  z.object({
    mode: z
      .enum(Object.values(EnforcementMode))
      .default("observe")
      .describe('off, observe (recommend only) or enforce. Quote "off" in YAML, which otherwise reads it as false.'),
    dimensions: setList(dimension, 3).optional().describe("Resources that enforcement may change. Default: all."),
  }),
  {
    cel: "self.mode != 'enforce' || !has(self.dimensions) || size(self.dimensions) > 0",
    message: "mode enforce with an empty list of dimensions has no effect: add a dimension or remove the list",
    at: "dimensions",
    holds: ({ mode, dimensions }) => mode !== "enforce" || dimensions === undefined || dimensions.length > 0,
  },
);

/** The deprecated location of enforcement. */
export const nfr = z.object({ enforcement: enforcement.optional().describe("Enforcement settings.") });

const recommendationFields = {
  component: z.string().min(1).max(253).describe("function, odgm, or a function key."),
  dimension: dimension.describe("Resource to change."),
  target: z.number().describe("Target value: replicas, CPU in millicores, or memory in bytes."),
  basis: text.optional().describe("Signal and window of the computation."),
  confidence: fraction.optional().describe("Confidence, 0 to 1."),
};

/** One recommendation of the analyzer, or one the enforcer applied. */
export const recommendation = z.object({
  ...recommendationFields,
  current: z.number().optional().describe("Value in effect when the recommendation was computed."),
  observed_at: timestamp.optional().describe("Time of the recommendation."),
});

/**
 * Recommendations of the analyzer. The Rust manager writes a map from dimension to number; the schema must accept it, or
 * server-side apply of such an object fails. It is read as recommendations for the functions.
 */
export const nfrRecommendations = z
  .union([
    z.array(recommendation).max(256),
    z.object({
      replicas: z.number().optional().describe("Replicas, as written by the Rust manager."),
      cpu: z.number().optional().describe("CPU in millicores, as written by the Rust manager."),
      memory: z.number().optional().describe("Memory in bytes, as written by the Rust manager."),
    }),
  ])
  .transform((given): z.output<typeof recommendation>[] =>
    Array.isArray(given)
      ? given
      : DIMENSIONS.flatMap((dimension) => {
          const target = given[dimension];
          return target === undefined ? [] : [{ component: "function", dimension, target }];
        }),
  );

/** Compliance with each requirement, as last measured. */
export const nfrCompliance = z.object({
  overall_status: z.string().max(64).describe("Compliant, Violated or Unknown: the worst of all requirements."),
  throughput_status: z.string().max(64).optional().describe("Throughput compliance."),
  latency_status: z.string().max(64).optional().describe("Latency compliance."),
  availability_status: z.string().max(64).optional().describe("Availability compliance."),
  last_checked: timestamp.optional().describe("Time of the measurement."),
  measurements: z
    .array(
      z.object({
        requirement: z.string().max(64).describe("Requirement field, e.g. max_latency_ms."),
        component: z.string().max(253).optional().describe("Function key or odgm. Default: the class."),
        required: z.number().describe("Required value."),
        observed: z.number().optional().describe("Measured value; absent without enough samples."),
        unit: z.string().max(32).optional().describe("Unit of both values."),
        window_seconds: count.optional().describe("Measurement window, in seconds."),
        confidence: fraction.optional().describe("Confidence, 0 to 1."),
      }),
    )
    .max(16)
    .optional()
    .describe("Measured values."),
});

/** State of the enforcer for one dimension of one component, kept across restarts. */
export const enforcementState = z.object({
  component: recommendationFields.component,
  dimension: recommendationFields.dimension,
  candidate: z.number().optional().describe("Target that must remain stable before it is applied."),
  candidate_since: timestamp.optional().describe("Time since which it is stable."),
  last_applied: z.number().optional().describe("Last applied target."),
  last_applied_at: timestamp.optional().describe("Time of the last change; start of the cooldown."),
});
