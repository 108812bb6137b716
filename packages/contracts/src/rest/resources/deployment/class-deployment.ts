import { type Result, type Violation } from "@oaas/foundation";
import {
  CLASS_KEY,
  CLUSTER_NAME,
  COUNT_RANGE,
  DEPLOYMENT_KEY,
  DeploymentCondition,
  LIST_LIMITS,
  PACKAGE_NAME,
  ReplanMode,
  RolloutFailure,
  RolloutGate,
  RolloutStrategy,
  NAMESPACE,
  TEMPLATE_NAME,
  type ClassDeployment,
  type ClassKey,
  type ClusterName,
  type DeploymentKey,
  type DeploymentSummary,
  type ObservedDeployment,
  type PackageName,
  type Rollout,
} from "@oaas/models";
import { z } from "zod";
import {
  field,
  input,
  omitUndefined,
  readText,
  readRuledText,
  optionalUnlessEmpty,
  view,
  withDefault,
} from "../../reading/fields.ts";
import {
  array,
  boolean,
  defaulted,
  emptyIsAbsent,
  enumeration,
  fraction,
  integer,
  map,
  nested,
  nullable,
  omittedByDefault,
  optional,
  property,
  required,
  resource,
  string,
  timestamp,
  type Codec,
} from "../../reading/resource.ts";
import { screamingSnakeCase, snakeCase } from "../../reading/spelling.ts";
import { readBy } from "../../reading/violations.ts";
import { functionDeployment } from "./function-deployment.ts";
import { aliasedCondition } from "./health.ts";
import { enforcement, nfrRequirements } from "./nfr-requirements.ts";
import { odgmSpec } from "./odgm-spec.ts";
import { telemetryConfig } from "./telemetry-config.ts";

/** The order in which clusters are updated. */
export const rollout = resource<Rollout>()({
  strategy: defaulted(
    "strategy",
    "Update all clusters at once or a few at a time. Default: `all_at_once`.",
    enumeration(RolloutStrategy, snakeCase),
    RolloutStrategy.allAtOnce,
  ),
  maxParallel: optional(
    "max_parallel",
    "Number of clusters updated in parallel in a rolling update. Default: 1.",
    integer({ min: 1, max: COUNT_RANGE.max }),
  ),
  gate: defaulted(
    "gate",
    "Condition a cluster must meet before the next one is updated. Default: `available`.",
    enumeration(RolloutGate, snakeCase),
    RolloutGate.available,
  ),
  onFailure: defaulted(
    "on_failure",
    "Action when a cluster does not pass the gate. Default: `stop`.",
    enumeration(RolloutFailure, snakeCase),
    RolloutFailure.stop,
  ),
});

/** One week. */
const MAX_CLUSTER_LOST_SECONDS = 604_800;

const clusterNames = array(string<ClusterName>(CLUSTER_NAME), LIST_LIMITS.clusters);
const uniqueClusterNames = { ...clusterNames, read: clusterNames.read.transform(unique) };
const templateName = string(TEMPLATE_NAME);

function unique<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}

const desired = resource<ClassDeployment>()({
  key: required("key", "Unique key of the deployment.", string<DeploymentKey>(DEPLOYMENT_KEY)),
  packageName: property({
    fields: {
      package_name: {
        input: optionalUnlessEmpty(readRuledText<PackageName>(PACKAGE_NAME)),
        view: z.string(),
        description: "Package of the class; inside a package document it is that package.",
      },
    },
    read: (json) => json.package_name,
    write: (name: PackageName | undefined) => ({ package_name: name ?? "" }),
  }),
  classKey: required("class_key", "Class to deploy.", string<ClassKey>(CLASS_KEY)),
  namespace: optional(
    "namespace",
    "Kubernetes namespace of the units in every cluster. Default: that of the package, else the default of each cluster. A deployed class cannot move to another namespace.",
    emptyIsAbsent(string(NAMESPACE)),
  ),
  targetClusters: property({
    fields: {
      target_envs: {
        input: withDefault(clusterNames.read, []),
        view: clusterNames.view.optional(),
        description: "Same as `target_clusters`; both may be set if they are equal.",
      },
      target_clusters: {
        input: withDefault(clusterNames.read, []),
        view: clusterNames.view.optional(),
        description: "Clusters to deploy to, all of them. When absent, the planner selects clusters.",
      },
    },
    read: (json) => unique([...json.target_envs, ...json.target_clusters]),
    write: (clusters: readonly ClusterName[]) => ({ target_envs: clusters, target_clusters: clusters }),
  }),
  availableClusters: omittedByDefault(
    "available_envs",
    "Clusters the planner may select from. Empty: all clusters.",
    uniqueClusterNames,
    [],
  ),
  environmentKind: optional(
    "target_env",
    "Environment kind: restricts the selection to clusters with this label value (`PLANNER_ENV_LABEL`).",
    emptyIsAbsent(string()),
  ),
  nfr: defaulted("nfr_requirements", "Non-functional requirements.", nested(nfrRequirements), {}),
  enforcement: optional("enforcement", "How the platform reacts to unmet requirements.", nested(enforcement)),
  clusterTemplates: omittedByDefault(
    "env_templates",
    "Template to use, by cluster; rejected where it is not available.",
    map(templateName, LIST_LIMITS.clusters, CLUSTER_NAME),
    {},
  ),
  templateHint: optional(
    "template_hint",
    "Preferred template; used where it is available.",
    emptyIsAbsent(templateName),
  ),
  functions: defaulted(
    "functions",
    "Overrides of the package's settings, per function.",
    array(nested(functionDeployment), LIST_LIMITS.functions),
    [],
  ),
  addons: optional(
    "addons",
    "Addons to install. Default: `odgm` when the class has state.",
    array(string(), LIST_LIMITS.addons),
  ),
  odgm: optional("odgm", "State store settings.", nested(odgmSpec)),
  telemetry: optional("telemetry", "OpenTelemetry settings of the workloads.", nested(telemetryConfig)),
  allowBestEffort: omittedByDefault(
    "allow_best_effort",
    "Accept the best reachable plan when the availability target cannot be met.",
    boolean(),
    false,
  ),
  rollout: optional("rollout", "Order in which clusters are updated.", nested(rollout)),
  replan: optional(
    "replan",
    "Reaction to a better plan, such as when a cluster is lost: `auto` applies it, `propose` shows it in the status, `off` does not look for one. Default: `propose`.",
    enumeration(ReplanMode),
  ),
  replanClusterLostSeconds: optional(
    "replan_cluster_lost_secs",
    "Seconds that a cluster must be lost before its units are moved. Default: `REPLAN_CLUSTER_LOST`.",
    integer({ min: 1, max: MAX_CLUSTER_LOST_SECONDS }),
  ),
  replanAllowStateLoss: optional(
    "replan_allow_state_loss",
    "Allow `replan: auto` to move a class with state, although stored objects may be lost or left behind.",
    boolean(),
  ),
});

/** Both aliases may be set, as in our own responses, but must be equal. */
function checkClusterAliases(json: Readonly<Record<string, unknown>>): readonly Violation[] {
  const envs = namesIn(json["target_envs"]);
  const clusters = namesIn(json["target_clusters"]);
  const agree = envs.size === clusters.size && [...envs].every((name) => clusters.has(name));
  if (envs.size === 0 || clusters.size === 0 || agree) return [];
  return [
    {
      path: "$.target_clusters",
      message: "differs from target_envs, which is an alias of target_clusters",
      fix: "set one of the two lists",
    },
  ];
}

function namesIn(list: unknown): ReadonlySet<unknown> {
  return new Set(Array.isArray(list) ? list : []);
}

/** A deployment in a request; fields that only the server sets (condition, status, times) are ignored. */
export const classDeploymentInput = input(desired.inputFields, checkClusterAliases).transform(desired.fromFields);

/** The body of a deploy request: the deployment and the digest of the plan it must produce. */
export const deploymentRequestInput = input(
  {
    ...desired.inputFields,
    plan_digest: field(
      "Digest of a plan from `POST /api/v1/plans`. The request fails with 409 when the deployment would produce another plan.",
      optionalUnlessEmpty(readText()),
    ),
  },
  checkClusterAliases,
).transform((json) => omitUndefined({ deployment: desired.fromFields(json), planDigest: json.plan_digest }));

/** Result of the plan in force. */
export const deploymentSummary = resource<DeploymentSummary>()({
  replicationFactor: defaulted("replication_factor", "Planned replicas; 0 without a plan.", integer(COUNT_RANGE), 0),
  selectedClusters: omittedByDefault("selected_envs", "Clusters of the plan in force.", clusterNames, []),
  namespaces: optional("namespaces", "Namespaces of the units; absent when unknown.", array(string())),
  achievedQuorumAvailability: nullable(
    "achieved_quorum_availability",
    "Planned availability if every replica fails independently; not a measurement.",
    fraction(),
  ),
  lastError: nullable("last_error", "Last error; null if none.", string()),
});

/** The conditions of deployments that the first clients know. An unknown one is pending there. */
const FIRST_CONDITIONS = Object.values(DeploymentCondition).filter((one) => one !== "unknown" && one !== "degraded");

const observation = resource<Omit<ObservedDeployment, "deployment">>()({
  condition: aliasedCondition(screamingSnakeCase, FIRST_CONDITIONS),
  summary: optional("status", "Result of the plan in force.", nested(deploymentSummary)),
  createdAt: optional("created_at", "Creation time.", timestamp()),
  updatedAt: optional("updated_at", "Time of the last change.", timestamp()),
});

/** A deployment in a response, with both aliases of its clusters. */
export const classDeploymentView = view({ ...desired.viewFields, ...observation.viewFields });

/** Reads a deployment from a response. */
export const observedDeploymentInput = input(
  { ...desired.inputFields, ...observation.inputFields },
  checkClusterAliases,
).transform((json): ObservedDeployment => ({
  ...observation.fromFields(json),
  deployment: desired.fromFields(json),
}));

/** Reads a deployment, or returns all its violations. */
export function classDeploymentFromWire(value: unknown): Result<ClassDeployment, readonly Violation[]> {
  return readBy(classDeploymentInput, value);
}

/** Writes a deployment and its observed state. */
export function classDeploymentToWire({
  deployment,
  ...observed
}: ObservedDeployment): z.output<typeof classDeploymentView> {
  return { ...desired.toJson(deployment), ...observation.toJson(observed) };
}

/** A deployment in another document, without an observed state. */
export const desiredDeployment: Codec<ClassDeployment, typeof classDeploymentView> = {
  read: classDeploymentInput,
  view: classDeploymentView,
  write: (deployment) => {
    const { health: _, ...json } = classDeploymentToWire({ deployment, condition: DeploymentCondition.pending });
    return json;
  },
};
