import type { ClusterName, ClusterPrice, PlanPrice } from "@oaas/models";
import { array, boolean, map, nested, number, nullable, required, resource, string } from "../../reading/resource.ts";

/** The price of one cluster. */
export const clusterPrice = resource<ClusterPrice>()({
  cluster: required("cluster", "Cluster name.", string<ClusterName>()),
  perMonth: nullable("per_month", "Price for 730 hours; null when the registration states none.", number()),
  currency: nullable("currency", "Currency code; null when the price is unknown.", string()),
  isAssumed: required(
    "is_assumed",
    "Whether defaults replace requests that the deployment does not state, or those of the state store.",
    boolean(),
  ),
});

/** The price of a plan per month. */
export const planPrice = resource<PlanPrice>()({
  clusters: required("clusters", "Price by cluster.", array(nested(clusterPrice))),
  totals: required("totals", "Sum by currency, without clusters of unknown price.", map(number())),
  unknownIn: required("unknown_in", "Clusters whose registration states no price.", array(string<ClusterName>())),
});

export const planPriceToWire = planPrice.toJson;
