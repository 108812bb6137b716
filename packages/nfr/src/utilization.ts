/** The target of an autoscaler on CPU under enforcement, as a share of the requested CPU. */

/** Where enforcement starts: the default of Kubernetes. */
export const START_TARGET_UTILIZATION = 0.8;
/** Below this an autoscaler would pay for replicas that do nothing. */
export const MIN_TARGET_UTILIZATION = 0.3;
/** An autoscaler tolerates a tenth more than its target: above 90 %, replicas that are fully busy would not be enough for it. */
export const MAX_TARGET_UTILIZATION = 0.9;

/** The name of the target in the evidence of a recommendation. */
export const TARGET_UTILIZATION = "target_utilization";
