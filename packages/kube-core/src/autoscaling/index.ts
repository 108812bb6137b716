export {
  decideReplicas,
  EMPTY_HPA_MEMORY,
  followRecommendation,
  type HpaDecision,
  type HpaInput,
  type HpaLimit,
  type HpaMemory,
  type HpaPolicy,
  type HpaRules,
  type HpaSpec,
} from "./horizontal-autoscaler.ts";
export { DEFAULT_HPA_SETTINGS, type HpaPod, type HpaSettings, type HpaTarget } from "./hpa-replicas.ts";
export {
  defaultKnativeSettings,
  KnativeAutoscaler,
  type KnativeAutoscalerSettings,
  type KnativeDecision,
} from "./knative-autoscaler.ts";
export { DEFAULT_SCALE_TO_ZERO, ScaleToZero, type ScaleToZeroSettings } from "./scale-to-zero.ts";
