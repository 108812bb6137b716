/**
 * Labels that scrape targets add to the series of a class (relabelling of ServiceMonitors and PodMonitors). Queries group
 * by them, and results are assigned to components by them.
 */
export const SERIES_LABELS = {
  /** The value of the label `oaas.io/owner`. */
  owner: "oaas_owner",
  /** The value of the label `oaas.io/deployment-id`. */
  deploymentId: "deployment_id",
  /** The value of the label `oaas.io/class`. */
  class: "class",
  /** The value of the label `oaas.io/function`; absent on series of the state store. */
  function: "function",
} as const;
