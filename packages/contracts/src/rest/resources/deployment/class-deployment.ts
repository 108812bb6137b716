import { type Result, type Violation } from "@oaas/foundation";
import {
  CLASS_KEY,
  CLUSTER_NAME,
  COUNT_RANGE,
  DEPLOYMENT_KEY,
  DeploymentCondition,
  PACKAGE_NAME,
  RolloutFailure,
  RolloutGate,
  RolloutStrategy,
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
  choice,
  flag,
  input,
  instant,
  listOf,
  mapOf,
  object,
  optional,
  present,
  share,
  text,
  textOf,
  unlessEmpty,
  view,
  whole,
  withDefault,
} from "../../reading/fields.ts";
import { pascal, screaming, snake } from "../../reading/spelling.ts";
import { readBy } from "../../reading/violations.ts";
import { functionDeploymentInput, functionDeploymentToWire, functionDeploymentView } from "./function-deployment.ts";
import {
  enforcementInput,
  enforcementView,
  nfrRequirementsInput,
  nfrRequirementsToWire,
  nfrRequirementsView,
} from "./nfr-requirements.ts";
import { odgmSpecInput, odgmSpecToWire, odgmSpecView } from "./odgm-spec.ts";
import { telemetryConfigInput, telemetryConfigToWire, telemetryConfigView } from "./telemetry-config.ts";

const clusterList = () => listOf(textOf<ClusterName>(CLUSTER_NAME));

const ROLLOUT = {
  strategy: "Update all clusters at once or a few at a time. Default: `all_at_once`.",
  max_parallel: "Number of clusters updated in parallel in a rolling update. Default: 1.",
  gate: "Condition a cluster must meet before the next one is updated. Default: `available`.",
  on_failure: "Action when a cluster does not pass the gate. Default: `stop`.",
};

/** What may be sent as a roll-out. */
export const rolloutInput = input(
  {
    strategy: withDefault(choice(RolloutStrategy, snake), RolloutStrategy.allAtOnce),
    max_parallel: optional(whole({ min: 1, max: COUNT_RANGE.max })),
    gate: withDefault(choice(RolloutGate, snake), RolloutGate.available),
    on_failure: withDefault(choice(RolloutFailure, snake), RolloutFailure.stop),
  },
  ROLLOUT,
).transform((wire): Rollout =>
  present({
    strategy: wire.strategy,
    maxParallel: wire.max_parallel,
    gate: wire.gate,
    onFailure: wire.on_failure,
  }),
);

const deploymentMembers = {
  key: textOf<DeploymentKey>(DEPLOYMENT_KEY),
  package_name: unlessEmpty(textOf<PackageName>(PACKAGE_NAME)),
  class_key: textOf<ClassKey>(CLASS_KEY),
  target_envs: clusterList(),
  target_clusters: clusterList(),
  available_envs: clusterList(),
  target_env: unlessEmpty(text()),
  nfr_requirements: withDefault(nfrRequirementsInput, {}),
  enforcement: optional(enforcementInput),
  env_templates: mapOf(textOf(TEMPLATE_NAME), CLUSTER_NAME),
  template_hint: unlessEmpty(textOf(TEMPLATE_NAME)),
  functions: listOf(functionDeploymentInput),
  addons: optional(z.array(text())),
  odgm: optional(odgmSpecInput),
  telemetry: optional(telemetryConfigInput),
  allow_best_effort: withDefault(flag(), false),
  rollout: optional(rolloutInput),
};

const DEPLOYMENT = {
  key: "Unique key of the deployment.",
  package_name: "Package of the class; inside a package document it is that package.",
  class_key: "Class to deploy.",
  target_envs: "Same as `target_clusters`; both may be set if they are equal.",
  target_clusters: "Clusters to deploy to, all of them. When absent, the planner selects clusters.",
  available_envs: "Clusters the planner may select from. Empty: all clusters.",
  target_env: "Environment kind: restricts the selection to clusters with this label value (`PLANNER_ENV_LABEL`).",
  nfr_requirements: "Non-functional requirements.",
  enforcement: "How the platform reacts to unmet requirements.",
  env_templates: "Template to use, by cluster; rejected where it is not available.",
  template_hint: "Preferred template; used where it is available.",
  functions: "Overrides of the package's settings, per function.",
  addons: "Addons to install. Default: `odgm` when the class has state.",
  odgm: "State store settings.",
  telemetry: "OpenTelemetry settings of the workloads.",
  allow_best_effort: "Accept the best reachable plan when the availability target cannot be met.",
  rollout: "Order in which clusters are updated.",
};

type DeploymentMembers = z.output<z.ZodObject<typeof deploymentMembers>>;

/** What may be sent as a class deployment; what only PM can know (condition, status, times) is ignored. */
export const classDeploymentInput = input(deploymentMembers, DEPLOYMENT, clusterContradiction).transform(deploymentOf);

/** What may be sent to deploy a class: the wish, and the digest of the plan that it must lead to. */
export const deploymentRequestInput = input(
  { ...deploymentMembers, plan_digest: unlessEmpty(text()) },
  {
    ...DEPLOYMENT,
    plan_digest:
      "Digest of a plan from `POST /api/v1/plans`. The request fails with 409 when the deployment would produce another plan.",
  },
  clusterContradiction,
).transform((wire) => present({ deployment: deploymentOf(wire), planDigest: wire.plan_digest }));

const summaryInput = object({
  replication_factor: withDefault(whole(COUNT_RANGE), 0),
  selected_envs: clusterList(),
  achieved_quorum_availability: optional(share()),
  last_error: optional(text()),
}).transform((wire): DeploymentSummary =>
  present({
    replicationFactor: wire.replication_factor,
    selectedClusters: wire.selected_envs,
    achievedQuorumAvailability: wire.achieved_quorum_availability,
    lastError: wire.last_error,
  }),
);

/** A condition in either casing. */
export const conditionInput = choice(
  DeploymentCondition,
  screaming,
  Object.fromEntries(Object.values(DeploymentCondition).map((condition) => [pascal(condition), condition])),
);

/** A class deployment as a PM answers it, read back by a client. */
export const observedDeploymentInput = object(
  {
    ...deploymentMembers,
    condition: withDefault(conditionInput, DeploymentCondition.pending),
    status: optional(summaryInput),
    created_at: optional(instant()),
    updated_at: optional(instant()),
  },
  clusterContradiction,
).transform((wire): ObservedDeployment =>
  present({
    deployment: deploymentOf(wire),
    condition: wire.condition,
    summary: wire.status,
    createdAt: wire.created_at,
    updatedAt: wire.updated_at,
  }),
);

function deploymentOf(wire: DeploymentMembers): ClassDeployment {
  return present({
    key: wire.key,
    packageName: wire.package_name,
    classKey: wire.class_key,
    targetClusters: [...new Set([...wire.target_envs, ...wire.target_clusters])],
    availableClusters: [...new Set(wire.available_envs)],
    environmentKind: wire.target_env,
    nfr: wire.nfr_requirements,
    enforcement: wire.enforcement,
    clusterTemplates: wire.env_templates,
    templateHint: wire.template_hint,
    functions: wire.functions,
    addons: wire.addons,
    odgm: wire.odgm,
    telemetry: wire.telemetry,
    allowBestEffort: wire.allow_best_effort,
    rollout: wire.rollout,
  });
}

/** Two spellings of one list may both be there, as in our own answers, but must say the same. */
function clusterContradiction(members: Readonly<Record<string, unknown>>): readonly Violation[] {
  const envs = namesIn(members["target_envs"]);
  const clusters = namesIn(members["target_clusters"]);
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

export const rolloutView = view(
  {
    strategy: z.enum(Object.values(RolloutStrategy).map(snake)),
    max_parallel: z.int().optional(),
    gate: z.enum(Object.values(RolloutGate).map(snake)),
    on_failure: z.enum(Object.values(RolloutFailure).map(snake)),
  },
  ROLLOUT,
);

/** What came of the plan, as it is sent. */
export const deploymentSummaryView = view(
  {
    replication_factor: z.int(),
    selected_envs: z.array(z.string()).readonly().optional(),
    achieved_quorum_availability: z.number().nullable(),
    last_error: z.string().nullable(),
  },
  {
    replication_factor: "Planned replicas; 0 without a plan.",
    selected_envs: "Clusters of the plan in force.",
    achieved_quorum_availability: "Availability of the plan in force.",
    last_error: "Last error; null if none.",
  },
);

const WIRE_CONDITIONS = Object.values(DeploymentCondition)
  .filter((condition) => condition !== DeploymentCondition.unknown)
  .map(screaming);

/** A class deployment as it is sent, with both spellings of its clusters. */
export const classDeploymentView = view(
  {
    key: z.string(),
    package_name: z.string(),
    class_key: z.string(),
    target_envs: z.array(z.string()).readonly().optional(),
    target_clusters: z.array(z.string()).readonly().optional(),
    available_envs: z.array(z.string()).readonly().optional(),
    target_env: z.string().optional(),
    nfr_requirements: nfrRequirementsView,
    enforcement: enforcementView.optional(),
    env_templates: z.record(z.string(), z.string()).readonly().optional(),
    template_hint: z.string().optional(),
    functions: z.array(functionDeploymentView),
    addons: z.array(z.string()).readonly().optional(),
    condition: z.enum(WIRE_CONDITIONS),
    odgm: odgmSpecView.optional(),
    telemetry: telemetryConfigView.optional(),
    allow_best_effort: z.boolean().optional(),
    rollout: rolloutView.optional(),
    status: deploymentSummaryView.optional(),
    created_at: z.string().optional(),
    updated_at: z.string().optional(),
  },
  {
    ...DEPLOYMENT,
    condition: "Overall condition; `PENDING` when it is unknown.",
    status: "Result of the plan in force.",
    created_at: "Creation time.",
    updated_at: "Time of the last change.",
  },
);

/** Reads a class deployment, or says everything that is wrong with it. */
export function classDeploymentFromWire(value: unknown): Result<ClassDeployment, readonly Violation[]> {
  return readBy(classDeploymentInput, value);
}

/** Writes a class deployment in the contract's JSON, with what is known about its fulfilment. */
export function classDeploymentToWire(observed: ObservedDeployment): z.output<typeof classDeploymentView> {
  const { deployment } = observed;
  return present({
    key: deployment.key,
    package_name: deployment.packageName ?? "",
    class_key: deployment.classKey,
    target_envs: deployment.targetClusters,
    target_clusters: deployment.targetClusters,
    available_envs: unlessNone(deployment.availableClusters),
    target_env: deployment.environmentKind,
    nfr_requirements: nfrRequirementsToWire(deployment.nfr),
    enforcement: deployment.enforcement,
    env_templates: Object.keys(deployment.clusterTemplates).length === 0 ? undefined : deployment.clusterTemplates,
    template_hint: deployment.templateHint,
    functions: deployment.functions.map(functionDeploymentToWire),
    addons: deployment.addons,
    condition: conditionToWire(observed.condition),
    odgm: deployment.odgm && odgmSpecToWire(deployment.odgm),
    telemetry: deployment.telemetry && telemetryConfigToWire(deployment.telemetry),
    allow_best_effort: deployment.allowBestEffort || undefined,
    rollout: deployment.rollout && rolloutToWire(deployment.rollout),
    status: observed.summary && summaryToWire(observed.summary),
    created_at: observed.createdAt,
    updated_at: observed.updatedAt,
  });
}

/** The contract has no word for an unknown condition here; peers show such a deployment as pending. */
function conditionToWire(condition: DeploymentCondition): string {
  return screaming(condition === DeploymentCondition.unknown ? DeploymentCondition.pending : condition);
}

function rolloutToWire(rollout: Rollout): z.output<typeof rolloutView> {
  return present({
    strategy: snake(rollout.strategy),
    max_parallel: rollout.maxParallel,
    gate: snake(rollout.gate),
    on_failure: snake(rollout.onFailure),
  });
}

function summaryToWire(summary: DeploymentSummary): z.output<typeof deploymentSummaryView> {
  return present({
    replication_factor: summary.replicationFactor,
    selected_envs: unlessNone(summary.selectedClusters),
    achieved_quorum_availability: summary.achievedQuorumAvailability ?? null,
    last_error: summary.lastError ?? null,
  });
}

function unlessNone<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}
