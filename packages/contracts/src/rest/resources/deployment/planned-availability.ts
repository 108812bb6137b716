import { COUNT_RANGE, type ClusterName, type PlannedAvailability, type PresentAvailability } from "@oaas/models";
import {
  array,
  boolean,
  fraction,
  integer,
  map,
  nullable,
  optional,
  required,
  resource,
  string,
} from "../../reading/resource.ts";

const clusterBound = required(
  "cluster_bound",
  "Upper bound set by the clusters: all replicas of one cluster fail together with it.",
  fraction(),
);

/** The availability that a plan computes; not a measurement. */
export const plannedAvailability = resource<PlannedAvailability>()({
  target: required("target", "Target availability.", fraction()),
  isTargetStated: required("target_is_stated", "False when the target is the default.", boolean()),
  independentReplicas: required(
    "independent_replicas",
    "Availability if every replica fails independently of the others (`PLANNER_ALGORITHM`).",
    fraction(),
  ),
  clusterBound,
  domainAvailability: optional(
    "domain_availability",
    "Availability by failure domains: a replica is up when its cluster, its zone and its node are up. Absent in plans of earlier releases.",
    fraction(),
  ),
  limitingDomain: optional(
    "limiting_domain",
    "The cluster, zone or nodes that limit `domain_availability` the most.",
    string(),
  ),
  replicas: required(
    "replicas_by_cluster",
    "Where replicas are placed. A named cluster has at least one, even if fewer are needed.",
    map(integer(COUNT_RANGE)),
  ),
  limitingClusters: required(
    "limiting_clusters",
    "Clusters whose failure alone makes the class unavailable.",
    array(string<ClusterName>()),
  ),
  meetsTarget: required(
    "meets_target",
    "Whether all numbers meet the target. With `PLANNER_ALGORITHM=domains`, whether `domain_availability` does.",
    boolean(),
  ),
  message: required("message", "Which replicas fail together.", string()),
  warning: nullable(
    "warning",
    "Why a stated target is missed by `cluster_bound` or `domain_availability`; null if it is not.",
    string(),
  ),
});

export const plannedAvailabilityToWire = plannedAvailability.toJson;

/** The availability that is left while clusters are down; not a measurement. */
export const presentAvailability = resource<PresentAvailability>()({
  clustersDown: required(
    "clusters_down",
    "Clusters that are unreachable, or in which the class is down.",
    array(string<ClusterName>()),
  ),
  clusterBound,
  message: required("message", "What the numbers mean.", string()),
});
