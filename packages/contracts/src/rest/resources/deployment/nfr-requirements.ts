import {
  COUNT_RANGE,
  EnforcementDimension,
  EnforcementMode,
  LIST_LIMITS,
  type Enforcement,
  type NfrRequirements,
  type QosRequirement,
} from "@oaas/models";
import { z } from "zod";
import {
  array,
  optional,
  defaulted,
  enumeration,
  fraction,
  integer,
  nullable,
  required,
  resource,
  viewedAs,
} from "../../reading/resource.ts";

const positive = integer({ min: 1, max: COUNT_RANGE.max });

/** Non-functional requirements of a class or a function. */
export const nfrRequirements = resource<NfrRequirements>()({
  minThroughputRps: nullable("min_throughput_rps", "Requests per second to sustain in every cluster.", positive),
  maxLatencyMs: viewedAs(
    nullable("max_latency_ms", "Maximum latency in milliseconds.", positive),
    z.int().nullable().optional(),
  ),
  availability: nullable("availability", "Share of time a quorum is available, 0 to 1. Default: 0.99.", fraction()),
  cpuUtilizationTarget: nullable(
    "cpu_utilization_target",
    "Target CPU utilization for autoscaling, as a share of the request.",
    fraction(),
  ),
});

/** The deprecated form of requirements. */
export const qosRequirement = resource<QosRequirement>()({
  throughput: defaulted(
    "throughput",
    "Deprecated alias of `nfr_requirements.min_throughput_rps`.",
    integer(COUNT_RANGE),
    0,
  ),
  availability: required("availability", "Deprecated alias of `nfr_requirements.availability`.", fraction()),
});

/** How the platform reacts to unmet requirements. */
export const enforcement = resource<Enforcement>()({
  mode: defaulted("mode", "Reaction to an unmet requirement.", enumeration(EnforcementMode), EnforcementMode.observe),
  dimensions: defaulted(
    "dimensions",
    "Resources that enforcement may change.",
    array(enumeration(EnforcementDimension), LIST_LIMITS.dimensions),
    [],
  ),
  maxReplicas: optional(
    "max_replicas",
    "Most replicas that enforcement may choose. Above `max_scale`, it raises the maximum of an autoscaler when the load needs it. Default: `max_scale`.",
    integer({ min: 1, max: COUNT_RANGE.max }),
  ),
});

export const nfrRequirementsToWire = nfrRequirements.toJson;
