import { EnforcementDimension, EnforcementMode } from "@oaas/models";
import { z } from "zod";
import { setList } from "../collections.ts";
import { onlyOneOf, withRules } from "../rule.ts";
import { count, moment, positive, share, text, word } from "./scalars.ts";

/** A consistency model, in the spelling of packages (STRONG) or of class runtimes (strong). */
export const consistency = word("none", "eventual", "read_your_write", "bounded_staleness", "strong");

/** What a class or function promises beyond its function, in every spelling of the source documents. */
export const nfrRequirements = withRules(
  z.object({
    min_throughput_rps: positive.optional().describe("Requests per second it must sustain."),
    throughput: positive.optional().describe("Another spelling of min_throughput_rps."),
    max_latency_ms: positive.optional().describe("Longest acceptable response time (p99), in milliseconds."),
    max_latency: positive.optional().describe("Another spelling of max_latency_ms."),
    availability: share.optional().describe("Share of time it must be available, 0 to 1, e.g. 0.999."),
    availability_pct: z.number().min(0).max(100).optional().describe("The same in percent, e.g. 99.9."),
    cpu_utilization_target: share.optional().describe("CPU use that autoscaling aims at, 0 to 1."),
    consistency: consistency.optional().describe("Consistency its state needs."),
  }),
  onlyOneOf("min_throughput_rps", "throughput"),
  onlyOneOf("max_latency_ms", "max_latency"),
  onlyOneOf("availability", "availability_pct"),
);

const DIMENSIONS = Object.values(EnforcementDimension);
const dimension = z.enum(DIMENSIONS);

/** How far the enforcer may go for this class. */
export const enforcement = withRules(
  z.object({
    mode: z
      .enum(Object.values(EnforcementMode))
      .default("observe")
      .describe('off, observe (recommend only) or enforce. Quote "off" in YAML, which otherwise reads it as false.'),
    dimensions: setList(dimension, 3).optional().describe("What may be changed; all three when absent."),
  }),
  {
    cel: "self.mode != 'enforce' || !has(self.dimensions) || size(self.dimensions) > 0",
    message: "mode enforce with an empty list of dimensions enforces nothing: name a dimension or leave the list out",
    at: "dimensions",
    holds: ({ mode, dimensions }) => mode !== "enforce" || dimensions === undefined || dimensions.length > 0,
  },
);

/** The older place of enforcement. */
export const nfr = z.object({ enforcement: enforcement.optional().describe("How far the enforcer may go.") });

const recommendationFields = {
  component: z.string().min(1).max(253).describe("function, odgm, or the key of one function."),
  dimension: dimension.describe("What to change."),
  target: z.number().describe("Replicas, CPU in millicores, or memory in bytes."),
  basis: text.optional().describe("The signal and window it was computed from."),
  confidence: share.optional().describe("How well the samples support it, 0 to 1."),
};

/** One recommendation of the analyzer, or one the enforcer applied. */
export const recommendation = z.object({
  ...recommendationFields,
  current: z.number().optional().describe("The value in force when it was made."),
  observed_at: moment.optional().describe("When it was made."),
});

/**
 * What the analyzer recommends. The Rust manager writes a map from dimension to number; the schema must let it stand, or
 * server-side apply of any part of such an object fails. It is read as recommendations for the functions.
 */
export const nfrRecommendations = z
  .union([
    z.array(recommendation).max(256),
    z.object({
      replicas: z.number().optional().describe("Replicas, as the Rust manager writes it."),
      cpu: z.number().optional().describe("CPU in millicores, as the Rust manager writes it."),
      memory: z.number().optional().describe("Memory in bytes, as the Rust manager writes it."),
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

/** Whether each requirement is met, as last measured. */
export const nfrCompliance = z.object({
  overall_status: z.string().max(64).describe("Compliant, Violated or Unknown: the worst of the parts."),
  throughput_status: z.string().max(64).optional().describe("Throughput."),
  latency_status: z.string().max(64).optional().describe("Latency."),
  availability_status: z.string().max(64).optional().describe("Availability."),
  last_checked: moment.optional().describe("When it was measured."),
  measurements: z
    .array(
      z.object({
        requirement: z.string().max(64).describe("The requirement's field, e.g. max_latency_ms."),
        component: z
          .string()
          .max(253)
          .optional()
          .describe("Function it was measured on, or odgm; the class when absent."),
        required: z.number().describe("What was required."),
        observed: z.number().optional().describe("What was measured; absent without enough samples."),
        unit: z.string().max(32).optional().describe("Unit of both."),
        window_seconds: count.optional().describe("Time it was measured over."),
        confidence: share.optional().describe("How well the samples support it, 0 to 1."),
      }),
    )
    .max(16)
    .optional()
    .describe("The numbers behind the verdicts."),
});

/** Where the enforcer stands for one dimension of one component; kept here so that a restart forgets nothing. */
export const enforcementState = z.object({
  component: recommendationFields.component,
  dimension: recommendationFields.dimension,
  candidate: z.number().optional().describe("The target that must stay stable before it is applied."),
  candidate_since: moment.optional().describe("Since when it has been stable."),
  last_applied: z.number().optional().describe("The target applied last."),
  last_applied_at: moment.optional().describe("When; the cooldown runs from here."),
});
