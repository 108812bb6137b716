import {
  COUNT_RANGE,
  DeploymentCondition,
  RuntimePhase,
  type ClassRuntime,
  type ClassRuntimeStatus,
  type ClusterName,
  type FunctionKey,
  type FunctionStatus,
  type ResourceReference,
  type UnitId,
} from "@oaas/models";
import { z } from "zod";
import { field, view } from "../../reading/fields.ts";
import {
  array,
  boolean,
  defaulted,
  enumeration,
  integer,
  nested,
  nullable,
  optional,
  required,
  resource,
  string,
} from "../../reading/resource.ts";
import { pascalCase, screamingSnakeCase } from "../../reading/spelling.ts";
import { aliasedCondition, healthCondition } from "../deployment/health.ts";
import { driftField } from "./drift-correction.ts";
import { nfrCompliance, recommendationFields } from "./nfr-status.ts";
import { stateStoreStatus } from "./state-store.ts";

const SERVING = "Whether requests are answered, possibly by an earlier revision or by fewer replicas.";

/** One function of a class runtime. */
export const functionStatus = resource<FunctionStatus>()({
  functionKey: required("function_key", "Function key.", string<FunctionKey>()),
  service: required("service", "Kubernetes Service of the function.", string()),
  port: required("port", "Port of the Service.", integer(COUNT_RANGE)),
  predictedUrl: required("predicted_url", "URL derived from the Service name.", string()),
  observedUrl: nullable("observed_url", "URL reported by the cluster; null until it is known.", string()),
  template: required("template", "Template that rendered the function.", string()),
  condition: optional("health", "Condition in the words of the health reference.", healthCondition),
  ready: nullable("ready", "Whether all replicas of the desired revision are ready; null when unknown.", boolean()),
  serving: optional("serving", SERVING, boolean()),
  desiredReplicas: optional("desired_replicas", "Desired replicas.", integer(COUNT_RANGE)),
  readyReplicas: optional("ready_replicas", "Ready replicas of any revision.", integer(COUNT_RANGE)),
  updatedReplicas: optional("updated_replicas", "Ready replicas of the desired revision.", integer(COUNT_RANGE)),
  reason: nullable("reason", "Machine-readable reason (one CamelCase word).", string()),
  message: nullable("message", "Human-readable message.", string()),
  lastTransitionTime: nullable("last_transition_time", "Time of the last transition.", string()),
});

/** The conditions of class runtimes that the first clients know. */
const FIRST_CONDITIONS = Object.values(DeploymentCondition).filter((one) => one !== "degraded");

/** The aliases are phases of September 2025. */
const phase = enumeration(RuntimePhase, screamingSnakeCase, {
  TEMPLATE_SELECTION: RuntimePhase.resourceProvisioning,
  ENFORCEMENT: RuntimePhase.running,
  COMPLETED: RuntimePhase.running,
});

/** The status of a class runtime. */
export const classRuntimeStatus = resource<ClassRuntimeStatus>()({
  condition: aliasedCondition(pascalCase, FIRST_CONDITIONS),
  phase: required("phase", "Deployment phase.", phase),
  serving: optional("serving", SERVING, boolean()),
  upToDate: optional("up_to_date", "Whether every ready replica runs the desired revision.", boolean()),
  message: nullable("message", "Human-readable message.", string()),
  lastUpdated: required("last_updated", "Time of the cluster's last report.", string()),
  functions: optional("functions", "Status of each function.", array(nested(functionStatus))),
  stateStore: optional(
    "state_store",
    "State store of the class in this cluster; absent for a class without state.",
    nested(stateStoreStatus),
  ),
  ...recommendationFields,
  lastAppliedAt: optional("last_applied_at", "Time of the last applied recommendation.", string()),
  driftCorrections: driftField,
});

/** A reference to a Kubernetes object. */
export const resourceReference = resource<ResourceReference>()({
  kind: required("kind", "Kubernetes kind.", string()),
  name: required("name", "Object name.", string()),
  namespace: nullable("namespace", "Namespace; null for cluster-scoped objects.", string()),
  uid: nullable("uid", "Object UID.", string()),
  apiVersion: optional("api_version", "Kubernetes API version; absent when the cluster does not report it.", string()),
});

const partitionCount = { ...integer(COUNT_RANGE), write: (count: number) => Math.max(1, count) };

const classRuntime = resource<ClassRuntime>()({
  id: required("id", "Deployment unit id.", string<UnitId>()),
  unitId: required("deployment_unit_id", "Same as `id`.", string<UnitId>()),
  packageName: required("package_name", "Package name.", string()),
  classKey: required("class_key", "Class key.", string()),
  targetEnvironment: required(
    "target_environment",
    "Target environment reported by the class runtime manager: the namespace.",
    string(),
  ),
  cluster: nullable("cluster_name", "Cluster name.", string<ClusterName>()),
  status: nullable("status", "Status; null until the cluster reports it.", nested(classRuntimeStatus)),
  nfrCompliance: nullable(
    "nfr_compliance",
    "Compliance with the requirements; null when not measured.",
    nested(nfrCompliance),
  ),
  resourceRefs: defaulted(
    "resource_refs",
    "Kubernetes objects of the class runtime.",
    array(nested(resourceReference)),
    [],
  ),
  deploymentKey: optional(
    "deployment_key",
    "Deployment of the class runtime; absent when the cluster does not report it.",
    string(),
  ),
  createdAt: required("created_at", "Creation time.", string()),
  updatedAt: required("updated_at", "Time of the last change.", string()),
  partitionCount: defaulted(
    "partition_count",
    "Number of state partitions; 1 for a class without state.",
    partitionCount,
    1,
  ),
});

export const functionStatusView = functionStatus.view;
export const resourceReferenceView = resourceReference.view;
/** Reads a class runtime from a response. */
export const classRuntimeInput = classRuntime.input;
export const classRuntimeView = classRuntime.view;
export const classRuntimeToWire = classRuntime.toJson;

/** What a list shows of a class runtime, in a fraction of its size. */
export const classRuntimeSummaryView = view({
  id: field("Deployment unit id.", z.string()),
  package_name: field("Package name.", z.string()),
  class_key: field("Class key.", z.string()),
  cluster_name: field("Cluster name; null when unknown.", z.string().nullable()),
  condition: field("Condition in the words of the health reference.", z.string()),
  ready_replicas: field("Ready replicas of all functions.", z.int()),
  desired_replicas: field("Desired replicas of all functions.", z.int()),
  compliance: field("Overall compliance with the requirements; null when not measured.", z.string().nullable()),
  updated_at: field("Time of the last change.", z.string()),
});
