import {
  COUNT_RANGE,
  EnforcementDimension,
  EnforcementMode,
  type Enforcement,
  type NfrRequirements,
  type QosRequirement,
} from "@oaas/models";
import { z } from "zod";
import { choice, input, listOf, optional, present, share, view, whole, withDefault } from "../../reading/fields.ts";

const atLeastOne = { min: 1, max: COUNT_RANGE.max };

const NFR_REQUIREMENTS = {
  min_throughput_rps: "Requests per second to sustain in every cluster.",
  max_latency_ms: "Maximum latency in milliseconds.",
  availability: "Share of time a quorum is available, 0 to 1. Default: 0.99.",
  cpu_utilization_target: "Target CPU utilization for autoscaling, as a share of the request.",
};

/** What may be sent as non-functional requirements. */
export const nfrRequirementsInput = input(
  {
    min_throughput_rps: optional(whole(atLeastOne)),
    max_latency_ms: optional(whole(atLeastOne)),
    availability: optional(share()),
    cpu_utilization_target: optional(share()),
  },
  NFR_REQUIREMENTS,
).transform((wire): NfrRequirements =>
  present({
    minThroughputRps: wire.min_throughput_rps,
    maxLatencyMs: wire.max_latency_ms,
    availability: wire.availability,
    cpuUtilizationTarget: wire.cpu_utilization_target,
  }),
);

/** Non-functional requirements as they are sent. */
export const nfrRequirementsView = view(
  {
    min_throughput_rps: z.int().nullable(),
    max_latency_ms: z.int().nullable().optional(),
    availability: z.number().nullable(),
    cpu_utilization_target: z.number().nullable(),
  },
  NFR_REQUIREMENTS,
);

/** Writes requirements in the contract's JSON. */
export function nfrRequirementsToWire(nfr: NfrRequirements): z.output<typeof nfrRequirementsView> {
  return {
    min_throughput_rps: nfr.minThroughputRps ?? null,
    max_latency_ms: nfr.maxLatencyMs ?? null,
    availability: nfr.availability ?? null,
    cpu_utilization_target: nfr.cpuUtilizationTarget ?? null,
  };
}

const QOS_REQUIREMENT = {
  throughput: "Deprecated alias of `nfr_requirements.min_throughput_rps`.",
  availability: "Deprecated alias of `nfr_requirements.availability`.",
};

/** What may be sent as the earlier form of a requirement. */
export const qosRequirementInput = input(
  {
    throughput: withDefault(whole(COUNT_RANGE), 0),
    availability: share(),
  },
  QOS_REQUIREMENT,
).transform((wire): QosRequirement => wire);

/** The earlier form of a requirement as it is sent; the same inside and outside. */
export const qosRequirementView = view({ throughput: z.int(), availability: z.number() }, QOS_REQUIREMENT);

const ENFORCEMENT = {
  mode: "Reaction to an unmet requirement.",
  dimensions: "Resources that enforcement may change.",
};

/** What may be sent about enforcement. */
export const enforcementInput = input(
  {
    mode: withDefault(
      choice(EnforcementMode, (mode) => mode),
      EnforcementMode.observe,
    ),
    dimensions: listOf(choice(EnforcementDimension, (dimension) => dimension)),
  },
  ENFORCEMENT,
).transform((wire): Enforcement => wire);

/** Enforcement as it is sent; the same inside and outside. */
export const enforcementView = view(
  {
    mode: z.enum(EnforcementMode),
    dimensions: z.array(z.enum(EnforcementDimension)).readonly(),
  },
  ENFORCEMENT,
);
