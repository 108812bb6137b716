import {
  COUNT_RANGE,
  PlacementAfterLoss,
  QuorumAfterLoss,
  type ClusterLoss,
  type ClusterName,
  type FunctionKey,
  type RemainingUnit,
} from "@oaas/models";
import { array, enumeration, fraction, integer, nested, required, resource, string } from "../../reading/resource.ts";

const clusterNames = array(string<ClusterName>());

/** The minimum replicas of a function that keeps running. */
export const remainingFunction = resource<RemainingUnit["functions"][number]>()({
  functionKey: required("function_key", "Function key.", string<FunctionKey>()),
  minScale: required("min_scale", "Minimum replicas in this cluster.", integer(COUNT_RANGE)),
});

/** A unit that keeps running. */
export const remainingUnit = resource<RemainingUnit>()({
  cluster: required("cluster", "Cluster of the unit.", string<ClusterName>()),
  functions: required("functions", "Its functions.", array(nested(remainingFunction))),
});

/** What the loss of clusters does to a deployment. */
export const clusterLoss = resource<ClusterLoss>()({
  clustersDown: required("clusters_down", "Clusters that are assumed to be down.", clusterNames),
  lost: required("lost", "Clusters of the deployment that are down.", clusterNames),
  running: required("running", "Units that keep running.", array(nested(remainingUnit))),
  quorum: required(
    "quorum",
    "Whether the objects stay available: `kept` (all), `partial` (some), `lost` (none), or `stateless` (no objects).",
    enumeration(QuorumAfterLoss),
  ),
  partitions: required("partitions", "Partitions of all collections; 0 for a stateless class.", integer(COUNT_RANGE)),
  availablePartitions: required("available_partitions", "Partitions that keep enough copies.", integer(COUNT_RANGE)),
  clusterBound: required("cluster_bound", "Upper bound of the availability while these clusters are down.", fraction()),
  restoredBy: required(
    "restored_by",
    "Sets of clusters: when all clusters of any one set are back, the class is available again. Empty when it stays available.",
    array(clusterNames),
  ),
  placement: required(
    "placement",
    "What an apply would do: `unchanged` (the deployment names its clusters, or does not use these), `replanned` (the plan shows it), or `impossible`.",
    enumeration(PlacementAfterLoss),
  ),
  message: required("message", "What keeps running, in one sentence.", string()),
  recovery: required("recovery", "When the lost units come back.", string()),
});

export const clusterLossToWire = clusterLoss.toJson;
