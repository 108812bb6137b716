export {
  decideReplicas,
  EMPTY_HPA_MEMORY,
  followRecommendation,
  type HpaBehavior,
  type HpaDecision,
  type HpaInput,
  type HpaLimit,
  type HpaMemory,
  type HpaPolicy,
  type HpaRules,
  type HpaSpec,
  stabilizationWindows,
} from "./horizontal-autoscaler.ts";
export {
  DEFAULT_HPA_SETTINGS,
  isWithinTolerance,
  replicasForMetric,
  type HpaPod,
  type HpaSettings,
  type HpaTarget,
} from "./hpa-replicas.ts";
export {
  defaultKnativeSettings,
  KnativeAutoscaler,
  type KnativeAutoscalerSettings,
  type KnativeDecision,
} from "./knative-autoscaler.ts";
export { DEFAULT_SCALE_TO_ZERO, ScaleToZero, type ScaleToZeroSettings } from "./scale-to-zero.ts";
