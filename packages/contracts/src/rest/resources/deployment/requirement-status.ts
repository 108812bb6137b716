import {
  MeasurementState,
  RequirementUse,
  type ClusterMeasurement,
  type ClusterName,
  type RequirementStatus,
  type StatedRequirement,
} from "@oaas/models";
import { array, enumeration, nested, number, optional, required, resource, string } from "../../reading/resource.ts";

const statedFields = {
  requirement: required("requirement", "Field that states it, e.g. `max_latency_ms`.", string()),
  component: required("component", "Function key; empty for the class.", string()),
  text: required("text", "Name and value, e.g. `latency 100 ms`.", string()),
  use: required(
    "use",
    "`sizing` (decides replicas, scale or partitions), `configuration` (of the state store or the autoscaler) or `recorded` (decides nothing).",
    enumeration(RequirementUse),
  ),
  useText: required("use_text", "What it decides, or why nothing.", string()),
};

/** A requirement that a deployment states, and what the plan does with it. */
export const statedRequirement = resource<StatedRequirement>()(statedFields);

/** The measurement of a requirement in one cluster. */
export const clusterMeasurement = resource<ClusterMeasurement>()({
  cluster: required("cluster", "Cluster that measures it.", string<ClusterName>()),
  component: required("component", "Function key or `odgm`; empty when it is not measured there.", string()),
  status: optional("status", "`met` or `violated`; absent when not measured.", string()),
  observed: optional("observed", "Measured value; absent when not measured.", number()),
  unit: optional("unit", "Unit of the measured value.", string()),
  window: optional("window", "Window of the measurement, e.g. `10m`.", string()),
  checkedAt: optional("checked_at", "Time of the measurement.", string()),
  reason: optional("reason", "Why it is not measured, e.g. too few requests.", string()),
});

/** A requirement with its measurements. */
export const requirementStatus = resource<RequirementStatus>()({
  ...statedFields,
  state: required(
    "state",
    "`measured` in every cluster, `partly_measured` or `not_measured`.",
    enumeration(MeasurementState),
  ),
  measurements: required("measurements", "Measurements by cluster and component.", array(nested(clusterMeasurement))),
  summary: required("summary", "Value, use, and whether it is measured, in one line.", string()),
});

export const statedRequirementToWire = statedRequirement.toJson;
