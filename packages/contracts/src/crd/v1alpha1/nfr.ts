import { EnforcementDimension, EnforcementMode } from "@oaas/models";
import { z } from "zod";
import { mapOf, setList } from "../collections.ts";
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
/** A value of a component: of a resource, or the maximum of its autoscaler. */
const value = z.enum([...DIMENSIONS, "max_replicas"]);
const lane = z.enum(["stable", "emergency", "verification"]);

/** Enforcement settings of a class. */
export const enforcement = withRules(
  z.object({
    mode: z
      .enum(Object.values(EnforcementMode))
      .default("observe")
      .describe('off, observe (recommend only) or enforce. Quote "off" in YAML, which otherwise reads it as false.'),
    dimensions: setList(dimension, 3).optional().describe("Resources that enforcement may change. Default: all."),
    max_replicas: positive
      .optional()
      .describe(
        "Most replicas that enforcement may choose. Above max_scale, it raises the maximum of an autoscaler when the load needs it. Default: max_scale.",
      ),
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

const component = z.string().min(1).max(253).describe("function, odgm, or a function key.");

/** The numbers behind a recommendation. */
const evidence = z.object({
  window: z.string().max(32).describe("Window of the samples, e.g. 10m."),
  query: text.describe("Query of the signal that set the target."),
  values: mapOf(z.number(), 64).describe("Numbers that entered the computation, by name."),
  floor: z.string().max(253).optional().describe("Floor that set the target, e.g. min_scale; absent when none did."),
  ceiling: z.string().max(253).optional().describe("Limit that cut the target, e.g. max_scale; absent when none did."),
});

/** One recommendation of the analyzer. */
export const recommendation = z.object({
  component,
  dimension: value.describe("Value to change: a resource, or max_replicas, the maximum of an autoscaler."),
  target: z.number().describe("Target value: replicas, CPU in millicores, or memory in bytes."),
  lower_bound: z.number().optional().describe("Lowest value that the data supports."),
  upper_bound: z.number().optional().describe("Highest value that the data supports."),
  basis: text.optional().describe("Signal and window of the computation, in words."),
  evidence: evidence.optional().describe("Signal and window of the computation, in numbers."),
  confidence: fraction.optional().describe("Confidence, 0 to 1."),
  current: z.number().optional().describe("Value in effect when the recommendation was computed."),
  observed_at: timestamp.optional().describe("Time of the recommendation."),
  valid_until: timestamp.optional().describe("Time after which the recommendation is outdated."),
});

/** A longer record is not stored. */
export const MAX_DECISION_RECORD_LENGTH = 32_768;

/** One recommendation that the enforcer applied. */
export const appliedRecommendation = recommendation.extend({
  target: z.number().describe("Applied value: replicas, CPU in millicores, or memory in bytes."),
  current: z.number().optional().describe("Value before the change."),
  recommended: z.number().optional().describe("Recommended value; differs from target when a limit cut the change."),
  action: z.enum(["apply", "revert"]).optional().describe("Whether the value was applied or reverted."),
  lane: lane.optional().describe("Why it was applied then: stable, emergency or verification."),
  path: z.string().max(512).optional().describe("Field that was changed, e.g. Deployment/web spec.replicas."),
  clamped_by: z
    .object({
      value: z.number().describe("Value of the limit."),
      source: z.string().max(253).describe("Origin of the limit, e.g. max_scale."),
    })
    .optional()
    .describe("Limit that cut the change."),
  applied_at: timestamp.optional().describe("Time of the change."),
  policy_version: z.string().max(128).optional().describe("Version of the policy that decided."),
  digest: z.string().max(128).optional().describe("Digest of the inputs of the decision, for oaas nfr verify."),
  record: z
    .string()
    .max(MAX_DECISION_RECORD_LENGTH)
    .optional()
    .describe("Settings, input and outcome of the decision as JSON, for oaas nfr verify; kept for the newest changes."),
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

const measurement = z.object({
  requirement: z.string().max(64).describe("Requirement field, e.g. max_latency_ms."),
  component: z.string().max(253).optional().describe("Function key or odgm. Default: the class."),
  status: z.enum(["met", "violated", "unknown"]).optional().describe("met, violated or unknown."),
  reason: text.optional().describe("Why the status is unknown, e.g. too few requests."),
  required: z.number().describe("Required value."),
  observed: z.number().optional().describe("Measured value; absent without enough samples."),
  unit: z.string().max(32).optional().describe("Unit of both values."),
  window: z.string().max(32).optional().describe("Measurement window, e.g. 10m."),
  window_seconds: count.optional().describe("Measurement window, in seconds."),
  since: timestamp.optional().describe("Time since which the status holds."),
  error_budget_left: z.number().optional().describe("Share of the error budget that is left; negative when overspent."),
  burn_rates: z
    .array(
      z.object({
        long: z.string().max(32).describe("Long window, e.g. 1h."),
        short: z.string().max(32).describe("Short window, e.g. 5m."),
        long_rate: z.number().optional().describe("Burn rate over the long window; absent with too few requests."),
        short_rate: z.number().optional().describe("Burn rate over the short window; absent with too few requests."),
      }),
    )
    .max(8)
    .optional()
    .describe("How fast the error budget is spent: 1 spends it exactly over the period of the objective."),
  confidence: fraction.optional().describe("Confidence, 0 to 1."),
});

/** Compliance with each requirement, as last measured. */
export const nfrCompliance = z.object({
  overall_status: z.string().max(64).describe("Compliant, Violated or Unknown: the worst of all requirements."),
  throughput_status: z.string().max(64).optional().describe("Throughput compliance."),
  latency_status: z.string().max(64).optional().describe("Latency compliance."),
  availability_status: z.string().max(64).optional().describe("Availability compliance."),
  error_rate_status: z.string().max(64).optional().describe("Error rate compliance."),
  last_checked: timestamp.optional().describe("Time of the measurement."),
  measurements: z
    .array(measurement)
    .max(512)
    .optional()
    .describe("Measured values of each requirement of each component."),
});

/** The capacity of one replica of a component, as learnt by the analyzer; kept across restarts. */
export const learntCapacity = z.object({
  component,
  rps_per_replica: z.number().describe("Requests per second that one replica serves within its latency requirement."),
  confidence: fraction.describe("Confidence, 0 to 1."),
  revision: z.string().max(64).optional().describe("Digest of the image and the resources that it was learnt with."),
  percentile: z.number().optional().describe("Percentile of the latencies."),
  learnt_until: timestamp.describe("Time of the newest sample."),
  points: z
    .string()
    .max(8192)
    .describe(
      "What was observed at each load: range, count, latency in ms, CPU in millicores and age in ms, with a semicolon between points. The load of a range is 1.1^range requests per second.",
    ),
});

/** State of the enforcer for one dimension of one component, kept across restarts. */
export const enforcementState = z.object({
  component,
  dimension: value.describe("Value to change: a resource, or max_replicas, the maximum of an autoscaler."),
  targets: z
    .array(
      z.object({
        at: timestamp.describe("Time of the recommendation."),
        target: z.number().describe("Recommended value."),
      }),
    )
    .max(128)
    .optional()
    .describe("Recommended values of the last windows, oldest first."),
  last_action: z
    .object({
      at: timestamp.describe("Time of the change; start of the cooldown."),
      from: z.number().describe("Value before the change."),
      to: z.number().describe("Value after the change."),
      lane: lane.describe("stable, emergency or verification."),
      target: z.number().optional().describe("Recommended value that the change followed."),
      badness_before: z.number().optional().describe("How bad the worst requirement was before the change."),
      verified: z.boolean().describe("Whether the result of the change was verified."),
    })
    .optional()
    .describe("Last change."),
  last_emergency: timestamp.optional().describe("Last change of the emergency lane."),
  direction_changes: z.array(timestamp).max(64).optional().describe("Changes of direction in the last hour."),
  frozen_until: timestamp.optional().describe("Nothing but the emergency lane acts before this time."),
  last_good: z.number().optional().describe("Last value that made nothing worse."),
  rejected: z
    .object({
      from: z.number().describe("Value before the change, in effect again."),
      to: z.number().describe("Value that made a requirement worse."),
      target: z.number().describe("Recommended value that the change followed."),
    })
    .optional()
    .describe("Last reverted change; it is not repeated until the recommendation moves further."),
  last_skip: z.string().max(64).optional().describe("Last reason not to act, e.g. cooldown."),
});
