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
} from "../fields.ts";
import { pascal, screaming, snake } from "../spelling.ts";
import { readBy } from "../violations.ts";
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
  strategy: "All clusters at once, or a few at a time; `all_at_once` when not stated.",
  max_parallel: "Clusters that are changed at the same time when rolling; 1 when not stated.",
  gate: "What must be true of a cluster before the next one is changed; `available` when not stated.",
  on_failure: "What happens when a gate is not passed; `stop` when not stated.",
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
  key: "Its key, by which it is updated.",
  package_name: "The package of the class; inside a package that very one.",
  class_key: "The class to run.",
  target_envs: "The same as `target_clusters`; both may be given when they agree.",
  target_clusters: "The clusters to run in, all of them; without it they are chosen.",
  available_envs: "Clusters among which may be chosen; empty is all.",
  target_env: "Kind of environment: only clusters with this label (`PLANNER_ENV_LABEL`).",
  nfr_requirements: "What must hold.",
  enforcement: "What is done when it does not.",
  env_templates: "Template by cluster; an order, refused where it cannot be followed.",
  template_hint: "Template wished for; taken where it can be.",
  functions: "What differs from the package, function by function.",
  addons: "Parts to add; `odgm` by itself when the class has state.",
  odgm: "What is wanted of the state store.",
  telemetry: "What is observed of the workloads.",
  allow_best_effort: "Take the best plan there is when the target is out of reach.",
  rollout: "In which order clusters are changed.",
};

type DeploymentMembers = z.output<z.ZodObject<typeof deploymentMembers>>;

/** What may be sent as a class deployment; what only PM can know (condition, status, times) is ignored. */
export const classDeploymentInput = input(deploymentMembers, DEPLOYMENT, clusterContradiction).transform(deploymentOf);

/** What may be sent to deploy a class: the wish, and the digest of the plan that it must lead to. */
export const deploymentRequestInput = input(
  { ...deploymentMembers, plan_digest: unlessEmpty(text()) },
  { ...DEPLOYMENT, plan_digest: "Do exactly what the plan with this digest says, or answer 409." },
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
      message: "names other clusters than target_envs, which means the same",
      fix: "give one of the two lists",
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
    replication_factor: "Planned replicas; 0 while there is no plan.",
    selected_envs: "The clusters of the plan in force.",
    achieved_quorum_availability: "What the plan in force reaches.",
    last_error: "What last went wrong; null when nothing did.",
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
    condition: "How the deployment is as a whole; `PENDING` also when nobody knows.",
    status: "What came of the plan.",
    created_at: "When it was made.",
    updated_at: "When it was changed.",
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
