import {
  AvailabilitySource,
  CALENDAR_DATE,
  COST_RANGE,
  COUNT_RANGE,
  CURRENCY,
  DEFAULT_PRIOR_WEIGHT_HOURS,
  EstimateBasis,
  PRIOR_RANGE,
  PRIOR_WEIGHT_RANGE,
  type AvailabilityEstimate,
  type AvailabilityMeasurement,
  type AvailabilityPrior,
  type ClusterCost,
  type ClusterName,
} from "@oaas/models";
import { z } from "zod";
import { field, input, readNumber, readRuledText, readText, view, withDefault } from "../../reading/fields.ts";
import {
  boolean,
  enumeration,
  fraction,
  integer,
  nested,
  nullable,
  number,
  optional,
  required,
  resource,
  string,
} from "../../reading/resource.ts";

const PRIOR = {
  value: "Share of time that the cluster is available, above 0 and below 1.",
  weight: "Observed hours that the statement counts as beside the measurement.",
  source: "Where the value comes from, such as a contract or an earlier measurement.",
  date: "Day on which it was stated or last checked, `YYYY-MM-DD`.",
};

/** A number in a range, with the fix in the message. */
function numberIn({ min, max }: { readonly min: number; readonly max: number }, fix: string) {
  return readNumber().refine((value) => value >= min && value <= max, {
    message: "is out of range",
    params: { fix },
  });
}

/** The availability that an operator states for a cluster. */
export const availabilityPriorInput = input({
  value: field(PRIOR.value, numberIn(PRIOR_RANGE, "use a fraction above 0 and below 1, such as 0.999 for 99.9 %")),
  source: field(
    PRIOR.source,
    readText().refine((text) => text !== "", {
      message: "is empty",
      params: { fix: "name a contract, a measurement or an estimate" },
    }),
  ),
  date: field(PRIOR.date, readRuledText(CALENDAR_DATE)),
  weight_hours: field(
    `${PRIOR.weight} Default: ${DEFAULT_PRIOR_WEIGHT_HOURS}.`,
    withDefault(
      numberIn(PRIOR_WEIGHT_RANGE, `use hours from ${PRIOR_WEIGHT_RANGE.min} to ${PRIOR_WEIGHT_RANGE.max}`),
      DEFAULT_PRIOR_WEIGHT_HOURS,
    ),
  ),
});

export const availabilityPrior = resource<AvailabilityPrior>()({
  value: required("value", PRIOR.value, fraction()),
  source: required("source", PRIOR.source, string()),
  date: nullable("date", `${PRIOR.date} Null for the default.`, string()),
  weightHours: required("weight_hours", PRIOR.weight, number()),
});

const COST = {
  cpu_hour: "Price of one requested CPU core for one hour.",
  gib_hour: "Price of one requested GiB of memory for one hour.",
  currency: "Currency code of ISO 4217, such as `EUR`.",
};
const price = () => numberIn(COST_RANGE, `use a price from ${COST_RANGE.min} to ${COST_RANGE.max}`);

/** What the resources of a cluster cost. */
export const clusterCostInput = input({
  cpu_hour: field(COST.cpu_hour, price()),
  gib_hour: field(COST.gib_hour, price()),
  currency: field(COST.currency, readRuledText(CURRENCY)),
});

export const clusterCost = resource<ClusterCost>()({
  cpuHour: required("cpu_hour", COST.cpu_hour, number()),
  gibHour: required("gib_hour", COST.gib_hour, number()),
  currency: required("currency", COST.currency, string()),
});

/** A measurement over a window. */
export const availabilityMeasurement = resource<AvailabilityMeasurement>()({
  value: required("value", "Share of time that the API is up, times the share of ready nodes meanwhile.", fraction()),
  apiAvailability: required("api_availability", "Share of time that the Kubernetes API is up.", fraction()),
  nodeAvailability: nullable(
    "node_availability",
    "Share of ready nodes while the API is up; null if the nodes are not known.",
    fraction(),
  ),
  windowHours: required("window_hours", "Length of the window.", number()),
  halfLifeHours: required("half_life_hours", "After this time an observation counts half.", number()),
  samples: required("samples", "Number of observations in the window.", integer(COUNT_RANGE)),
  observedHours: required("observed_hours", "Observed time in the window.", number()),
  evidenceHours: required("evidence_hours", "Observed time, each hour with its weight by age.", number()),
  since: nullable("since", "Start of the oldest day with an observation.", string()),
});

/** The observation beside a prior. */
export const observedAvailability = resource<NonNullable<AvailabilityEstimate["observed"]>>()({
  value: required("value", "Observed availability.", fraction()),
  hours: required("hours", "Hours that it counts as; 0 if it is used as reported.", number()),
  source: optional("source", "Source of the value; absent when not reported.", enumeration(AvailabilitySource)),
});

/** The availability to plan with, and its inputs. */
export const availabilityEstimate = resource<AvailabilityEstimate>()({
  value: required("value", "Availability that plans use.", fraction()),
  basis: required(
    "basis",
    "`combined`: prior and observation, weighted by hours. `prior`: the prior alone. `reported`: a value without a sample size, as the cluster reports it. `configured`: set for tests and simulated clusters.",
    enumeration(EstimateBasis),
  ),
  prior: required("prior", "The prior: stated by an operator, else the default.", nested(availabilityPrior)),
  isPriorStated: required("prior_is_stated", "Whether an operator stated the prior.", boolean()),
  observed: optional("observed", "The observation; absent if there is none.", nested(observedAvailability)),
  nodeAvailability: optional(
    "node_availability",
    "The part of the downtime that nodes cause: the share of time that a node is up while its cluster is. Absent without a measurement.",
    fraction(),
  ),
});

export const availabilityEstimateToWire = availabilityEstimate.toJson;

/** The stated availability of a cluster against the measured one. */
export const clusterAvailabilityView = view({
  cluster_name: field("Cluster name.", z.string()),
  availability: field("Availability that plans use; null when unknown.", z.number().nullable()),
  promise: field(
    "The availability that an operator stated; null if none is stated.",
    availabilityPrior.view.nullable(),
  ),
  measurement: field(
    "Measurement of the cluster's manager; null if it reports none.",
    availabilityMeasurement.view.nullable(),
  ),
  promise_kept: field(
    "Whether the measurement reaches the promise; null if one of them is missing.",
    z.boolean().nullable(),
  ),
  estimate: field("How the availability was computed; null when it is unknown.", availabilityEstimate.view.nullable()),
  arithmetic: field("The computation in one line, with its numbers.", z.string()),
  health_age_ms: field("Age of the cluster's report in milliseconds; null if there is none.", z.number().nullable()),
});

/** The parts of an answer about the availability of a cluster. */
export function clusterAvailabilityToWire(given: {
  readonly cluster: ClusterName;
  readonly promise: AvailabilityPrior | undefined;
  readonly measurement: AvailabilityMeasurement | undefined;
  readonly estimate: AvailabilityEstimate | undefined;
  readonly arithmetic: string;
  readonly ageMs: number | undefined;
}): z.output<typeof clusterAvailabilityView> {
  const { cluster, promise, measurement, estimate, arithmetic, ageMs } = given;
  return {
    cluster_name: cluster,
    availability: estimate?.value ?? null,
    promise: promise === undefined ? null : availabilityPrior.toJson(promise),
    measurement: measurement === undefined ? null : availabilityMeasurement.toJson(measurement),
    promise_kept: promise === undefined || measurement === undefined ? null : measurement.value >= promise.value,
    estimate: estimate === undefined ? null : availabilityEstimate.toJson(estimate),
    arithmetic,
    health_age_ms: ageMs ?? null,
  };
}
