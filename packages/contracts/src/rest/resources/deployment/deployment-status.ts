import {
  conditionBeforeDegraded,
  COUNT_RANGE,
  DeploymentCondition,
  LifecyclePhase,
  RuntimePhase,
  type ClassRuntime,
  type ClusterDeploymentStatus,
  type ClusterName,
  type DeploymentKey,
  type DeploymentStatus,
  type OperationStatus,
  type ReportedMetric,
  type UnitId,
} from "@oaas/models";
import { z } from "zod";
import { field, view } from "../../reading/fields.ts";
import {
  array,
  boolean,
  enumeration,
  fraction,
  integer,
  nested,
  nullable,
  number,
  oneOf,
  optional,
  required,
  resource,
  string,
  timestamp,
  viewedAs,
} from "../../reading/resource.ts";
import { pascalCase } from "../../reading/spelling.ts";
import { functionStatus } from "../cluster/class-runtime.ts";
import { healthCondition, revisionOutcome } from "./health.ts";
import { planPrice } from "./plan-price.ts";
import { plannedAvailability, presentAvailability } from "./planned-availability.ts";
import { activeFreeze } from "../cluster/freeze-window.ts";
import { deploymentPause } from "./deployment-pause.ts";
import { replanStatus } from "./replan-status.ts";
import { requirementStatus } from "./requirement-status.ts";
import { restartProgress, stateStoreStatus } from "../cluster/state-store.ts";
import { driftField } from "../cluster/drift-correction.ts";
import { nfrCompliance, recommendationFields } from "../cluster/nfr-status.ts";

/** The status of one deployment unit. */
export const unitStatusView = view({
  id: field("Deployment unit id.", z.string()),
  status: field(
    "Condition, for clients that do not know `Degraded`, which is `Deploying` here.",
    z.enum(Object.values(DeploymentCondition).map(pascalCase)),
  ),
  health: field("Condition in the words of the health reference.", healthCondition.view.optional()),
  phase: field("Deployment phase.", z.enum(Object.values(RuntimePhase).map(pascalCase))),
  message: field("Human-readable message.", z.string().nullable()),
  last_updated: field("Time of the cluster's last report.", z.string()),
});

export function unitStatusToWire({ id, status, updatedAt }: ClassRuntime): z.output<typeof unitStatusView> {
  const { condition = DeploymentCondition.unknown } = status ?? {};
  return {
    id,
    status: pascalCase(conditionBeforeDegraded(condition)),
    health: pascalCase(condition),
    phase: pascalCase(status?.phase ?? "unknown"),
    message: status?.message ?? null,
    last_updated: status?.lastUpdated ?? updatedAt,
  };
}

const reportedMetric = resource<ReportedMetric>()({
  component: required("component", "Function key, or `odgm`; empty for the class as a whole.", string()),
  metric: required(
    "metric",
    "`rps`, `p99_latency_ms`, `cpu_mcores`, `memory_working_set_bytes`, `availability` or `replicas`.",
    string(),
  ),
  value: required("value", "Measured value.", number()),
  observedAt: required("observed_at", "Time of the measurement.", timestamp()),
  windowSeconds: required("window_seconds", "Window before `observed_at`; 0 for an instantaneous value.", number()),
});
export const reportedMetricView = reportedMetric.view;

const clusterDeploymentStatus = resource<ClusterDeploymentStatus>()({
  cluster: required("cluster", "Cluster name.", string<ClusterName>()),
  unitId: required("unit_id", "Deployment unit id.", string<UnitId>()),
  namespace: optional("namespace", "Kubernetes namespace of the unit; absent when unknown.", string()),
  reachable: required(
    "reachable",
    "Whether the cluster responds. When false, the other fields are its last report.",
    boolean(),
  ),
  condition: required("condition", "Condition of the unit, in the words of the health reference.", healthCondition),
  serving: viewedAs(
    required(
      "serving",
      "Whether every component answers requests, possibly with an earlier revision; false when the cluster is unreachable.",
      boolean(),
    ),
    z.boolean().optional(),
  ),
  upToDate: viewedAs(
    required("up_to_date", "Whether the desired revision is accepted and every ready replica runs it.", boolean()),
    z.boolean().optional(),
  ),
  phase: nullable("phase", "Lifecycle phase; null when unknown.", enumeration(LifecyclePhase)),
  message: nullable("message", "Human-readable message.", string()),
  functions: required("functions", "Status of each function.", array(nested(functionStatus))),
  stateStore: optional(
    "state_store",
    "State store of the class in this cluster; absent for a class without state.",
    nested(stateStoreStatus),
  ),
  nfrCompliance: optional(
    "nfr_compliance",
    "Compliance with the requirements; absent when not measured.",
    nested(nfrCompliance),
  ),
  ...recommendationFields,
  reportedMetrics: optional(
    "reported_metrics",
    "Newest measurements that the class runtime manager reported to this process; absent when it reports none.",
    array(nested(reportedMetric)),
  ),
  driftCorrections: driftField,
  error: nullable("error", "Error that prevents reading or applying the unit; null if none.", string()),
  observedAt: nullable("observed_at", "Time of the cluster's last report; null if it has never reported.", timestamp()),
});
export const clusterDeploymentStatusView = clusterDeploymentStatus.view;

const operation = resource<OperationStatus>()({
  id: required("id", "Operation id.", string()),
  kind: required("kind", "Operation type.", oneOf(["deploy", "delete", "roll_back", "repair"])),
  state: required(
    "state",
    "Progress of sending the units to the clusters; `succeeded` means that all clusters accepted them.",
    oneOf(["running", "succeeded", "failed", "compensating", "compensated", "cancelled"]),
  ),
  done: required("done", "Completed steps.", integer(COUNT_RANGE)),
  total: required("total", "Total steps.", integer(COUNT_RANGE)),
  message: nullable("message", "The failed step and its error; null if none.", string()),
  outcome: optional("outcome", "Outcome of the revision that it rolls out; absent for a deletion.", revisionOutcome),
  outcomeAt: optional("outcome_at", "When the outcome was reached; absent until then.", timestamp()),
});
export const operationFields = operation.viewFields;
export const operationToWire = operation.toJson;
export const operationView = operation.view;

/** Package managers of earlier releases do not count. */
const clusterCount = <const Name extends string>(name: Name, description: string) =>
  viewedAs(required(name, description, integer(COUNT_RANGE)), z.int().optional());

const deploymentStatus = resource<DeploymentStatus>()({
  key: required("key", "Deployment key.", string<DeploymentKey>()),
  condition: required("condition", "Condition, in the words of the health reference.", healthCondition),
  message: nullable("message", "Human-readable message.", string()),
  revision: required(
    "revision",
    "Revision in force; the history may contain newer revisions that were rolled back.",
    integer(COUNT_RANGE),
  ),
  desiredClusters: clusterCount("desired_clusters", "Number of clusters that must run it."),
  servingClusters: clusterCount("serving_clusters", "Number of desired clusters that serve."),
  upToDateClusters: clusterCount("up_to_date_clusters", "Number of desired clusters that are up to date."),
  clusters: required("clusters", "Status of each unit.", array(nested(clusterDeploymentStatus))),
  operation: nullable("operation", "The current or last operation.", nested(operation)),
  achievedQuorumAvailability: nullable(
    "achieved_quorum_availability",
    "Same as `planned_availability.independent_replicas`. It is planned, not measured.",
    fraction(),
  ),
  plannedAvailability: nullable(
    "planned_availability",
    "Availability of the plan in force; null if it was planned by a release that did not compute it.",
    nested(plannedAvailability),
  ),
  price: optional("price", "Price per month; absent without a plan.", nested(planPrice)),
  presentAvailability: nullable(
    "present_availability",
    "Availability that is left while clusters are down; null when all of them are up.",
    nested(presentAvailability),
  ),
  requirements: optional(
    "requirements",
    "Each stated requirement: its use, and whether it is measured. Absent without a plan.",
    array(nested(requirementStatus)),
  ),
  replan: optional(
    "replan",
    "New plan for the running deployment, or the wait for one while a cluster is lost; absent without either.",
    nested(replanStatus),
  ),
  pause: optional(
    "pause",
    "Present while the deployment is paused: nothing changes its clusters, except its deletion.",
    nested(deploymentPause),
  ),
  freezes: optional(
    "freezes",
    "Freeze windows that are active for its clusters: until they end, only recovery changes them. Absent when there are none.",
    array(nested(activeFreeze)),
  ),
  stateRestart: optional(
    "state_restart",
    "Restarts of a state store with members in several clusters, one node at a time; absent when no node waits.",
    nested(restartProgress),
  ),
  updatedAt: required("updated_at", "Time of the last change or cluster report, whichever is later.", timestamp()),
});
export const deploymentStatusView = deploymentStatus.view;
export const deploymentStatusToWire = deploymentStatus.toJson;
