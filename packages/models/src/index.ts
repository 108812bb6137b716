/**
 * Domain model. Pure, without input or output; runs in a browser.
 *
 * Reading order: fields (ids, names and validation rules of single fields), package (packages, classes, functions),
 * deployment (desired state), health (conditions, outcomes and their meaning), history (revisions), observed (status,
 * clusters, class runtimes, topology).
 */
export {
  qualifyClassKey,
  splitClassKey,
  type ClassKey,
  type ClusterName,
  type CorrelationId,
  type DeploymentKey,
  type FunctionKey,
  type PackageName,
  type QualifiedClassKey,
  type UnitId,
} from "./fields/ids.ts";
export {
  BINDING_NAME,
  CLASS_KEY,
  CLUSTER_NAME,
  COLLECTION_NAME,
  CONFIG_KEY,
  DEPLOYMENT_KEY,
  FUNCTION_KEY,
  NAMESPACE,
  PACKAGE_NAME,
  TEMPLATE_NAME,
  UNIT_ID,
} from "./fields/names.ts";
export { checkText, type TextProblem, type TextRule } from "./fields/text-rule.ts";
export { quantityNanos, RESOURCE_QUANTITY } from "./fields/quantity.ts";
export {
  IMAGE_REFERENCE,
  parseImagePrefix,
  parseImageReference,
  qualifiedImageName,
  type ImageReference,
} from "./fields/image-reference.ts";
export { ENDPOINT_URL, FILE_PATH, MODULE_URL } from "./fields/address.ts";
export {
  COUNT_RANGE,
  LIST_LIMITS,
  MAX_TEXT_LENGTH,
  NODE_ID_RANGE,
  PORT_RANGE,
  UNIT_INTERVAL,
  type WholeRange,
} from "./fields/limits.ts";
export type { Package, PackageMetadata } from "./package/package.ts";
export { checkPackage, type PackageOutline } from "./package/package-rules.ts";
export {
  AccessModifier,
  ConsistencyModel,
  StateShape,
  type ClassDefinition,
  type FunctionBinding,
  type KeySpecification,
  type StateSpecification,
} from "./package/class.ts";
export { FunctionType, type FunctionDefinition } from "./package/function.ts";
export {
  checkProvisionBounds,
  EMPTY_PROVISION,
  type ProvisionConfig,
  type ProvisionFields,
} from "./package/provision.ts";
export {
  checkPodSettings,
  DATA_KEY,
  ENV_NAME,
  FIELD_PATH,
  FILE_FIELD_PATH,
  HEADER_NAME,
  MOUNT_PATH,
  OBJECT_NAME,
  POD_SETTINGS,
  podSettingsOf,
  RESERVED_ENV,
  TOPOLOGY_KEY,
  VOLUME_FILE_PATH,
  VOLUME_NAME,
  type EnvVar,
  type PodSettings,
  type Probe,
  type SecurityContext,
  type Volume,
  type VolumeMount,
} from "./package/pod-settings.ts";
export {
  DEFAULT_AVAILABILITY,
  EnforcementDimension,
  EnforcementMode,
  type Enforcement,
  type NfrRequirements,
  type QosRequirement,
} from "./deployment/nfr.ts";
export { ShardType, type OdgmSpec } from "./deployment/odgm.ts";
export type { TelemetryConfig } from "./deployment/telemetry.ts";
export { builtinTemplate, TEMPLATES, type BuiltinTemplate } from "./deployment/template.ts";
export {
  RolloutFailure,
  RolloutGate,
  RolloutStrategy,
  type ClassDeployment,
  type DeploymentSummary,
  type FunctionDeployment,
  type ObservedDeployment,
  type Rollout,
} from "./deployment/deployment.ts";
export { ReplanMode } from "./deployment/replan.ts";
export {
  CLUSTER_WORDS,
  combineConditions,
  CONDITION_WORDS,
  conditionBeforeDegraded,
  conditionOfPhase,
  DeploymentCondition,
  LifecyclePhase,
  OUTCOME_WORDS,
  outcomeOfCondition,
  PHASE_WORDS,
  RevisionOutcome,
  topologyStatusOf,
  type HealthWord,
  type PartHealth,
} from "./health/index.ts";
export type { DeploymentRevision, PackageRevision, Revision } from "./history/revision.ts";
export type { ComponentUsage } from "./observed/component-usage.ts";
export type {
  RuntimeCondition,
  RuntimeConditions,
  RuntimeEvent,
  RuntimeObject,
  RuntimePod,
  RuntimePods,
  RuntimeSignals,
  SignalMark,
  SignalSeries,
  SignalTargetKind,
} from "./observed/inspection.ts";
export type {
  ClusterDeploymentStatus,
  DeploymentStatus,
  OperationStatus,
  ReportedMetric,
} from "./observed/deployment-status.ts";
export { MAX_PAUSE_SECONDS, type DeploymentPause } from "./observed/deployment-pause.ts";
export {
  FREEZE_DURATION_RANGE,
  FREEZE_REASON,
  FREEZE_SCHEDULE,
  FREEZE_WINDOW_NAME,
  MAX_FREEZE_WINDOWS,
  TIME_ZONE,
  type ActiveFreeze,
  type FreezeWindow,
  type FreezeWindowName,
  type FreezeWindowSpec,
  type FreezeWindowState,
} from "./observed/freeze-window.ts";
export { DrainedUnitState, type DrainedUnit, type DrainProgress } from "./observed/drain-progress.ts";
export {
  ReplanReason,
  ReplanState,
  type ReplanBudget,
  type ReplanChange,
  type ReplanStatus,
} from "./observed/replan-status.ts";
export { PlacementAfterLoss, QuorumAfterLoss, type ClusterLoss, type RemainingUnit } from "./observed/cluster-loss.ts";
export {
  MeasurementState,
  RequirementUse,
  type ClusterMeasurement,
  type RequirementStatus,
  type StatedRequirement,
} from "./observed/requirement-status.ts";
export { driftSummary, type CorrectedField, type DriftCorrection } from "./observed/drift-correction.ts";
export {
  conditionWithState,
  stateProblem,
  StoreRestartState,
  type MissingShard,
  type RestartProgress,
  type RestartTurn,
  type StateStoreStatus,
  type StoreRestart,
} from "./observed/state-store.ts";
export type { PlannedAvailability, PresentAvailability } from "./observed/planned-availability.ts";
export {
  AvailabilitySource,
  clusterAvailability,
  ClusterStatus,
  type AvailabilityMeasurement,
  type ClusterHealth,
  type ClusterOffer,
  type NodeShape,
} from "./observed/cluster.ts";
export {
  DEFAULT_PRIOR,
  DEFAULT_PRIOR_WEIGHT_HOURS,
  estimateAvailability,
  EstimateBasis,
  PRIOR_RANGE,
  PRIOR_WEIGHT_RANGE,
  UNMEASURED_HOURS,
  type AvailabilityEstimate,
  type AvailabilityPrior,
} from "./observed/availability-estimate.ts";
export type { ClusterPrice, PlanPrice } from "./observed/plan-price.ts";
export { CALENDAR_DATE, COST_RANGE, CURRENCY, type ClusterCost } from "./observed/cluster-terms.ts";
export {
  RuntimePhase,
  type ClassRuntime,
  type ClassRuntimeStatus,
  type FunctionStatus,
  type ResourceReference,
} from "./observed/class-runtime.ts";
export type {
  NfrAppliedChange,
  NfrBurnRate,
  NfrCompliance,
  NfrEvidence,
  NfrMeasurement,
  NfrRecommendation,
  EnforcementAction,
  EnforcementDimensionState,
  EnforcementReport,
  NfrCondition,
  RecordedDecision,
} from "./observed/nfr-status.ts";
export { TopologyNodeType, type Topology, type TopologyEdge, type TopologyNode } from "./observed/topology.ts";
