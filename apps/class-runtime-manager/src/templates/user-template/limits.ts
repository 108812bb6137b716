import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import { isJsonObject } from "@oaas/kube-core";
import { COMPONENT_LABEL, OWNER_LABEL, ownerLabelValue } from "../../rendering/manifests/labels.ts";
import { hasNetworkPolicy, renderNetworkPolicy } from "../../rendering/manifests/network-policy.ts";
import { omitEmpty } from "../../rendering/manifests/manifest.ts";
import type { ClassPlan } from "../../rendering/plan/class-plan.ts";
import { withSuffix } from "../../rendering/plan/names.ts";
import type { Environment } from "../../rendering/model/cluster-facts.ts";
import type { Manifest } from "../../rendering/model/rendered.ts";
import { countsOf, isScaledObject, withCounts } from "./scaled-object.ts";
import { createsPods } from "./workload-kinds.ts";

type Json = Readonly<Record<string, unknown>>;

const KNATIVE_GROUP = "serving.knative.dev/";
const SCALE_ANNOTATION = "autoscaling.knative.dev/";
/** Both spellings of the annotation that limits a Knative Service; zero means no limit. */
const MAX_SCALES = ["maxScale", "max-scale"];
const SCALES = [
  ...MAX_SCALES,
  "minScale",
  "min-scale",
  "initialScale",
  "initial-scale",
  "activationScale",
  "activation-scale",
];
/** The number of pods while KEDA is paused. */
const PAUSED_REPLICAS = "autoscaling.keda.sh/paused-replicas";
/** Fields of a spec that state a number of pods. */
const REPLICA_FIELDS = ["replicas", "parallelism", "minReplicas", "maxReplicas", "minReplicaCount", "maxReplicaCount"];

/**
 * Applies the limits of the environment to a filled manifest: the nodes of its pods, and the maximum of Knative and KEDA.
 */
export function applyLimits(object: Manifest, environment: Environment | undefined): Manifest {
  if (environment === undefined) return object;
  if (isScaledObject(object)) return limitScaledObject(object, environment);
  if (!createsPods(object)) return object;
  const spec = jsonOf(object["spec"]);
  const template = jsonOf(spec["template"]);
  const pod = jsonOf(template["spec"]);
  // A template can narrow the nodes of the environment, but not leave them.
  const nodeSelector = omitEmpty({ ...jsonOf(pod["nodeSelector"]), ...environment.spec.nodeSelector });
  const metadata = limitKnative(object, jsonOf(template["metadata"]), environment);
  const limited = {
    ...template,
    ...(metadata === undefined ? {} : { metadata }),
    spec: nodeSelector === undefined ? pod : { ...pod, nodeSelector },
  };
  return { ...object, spec: { ...spec, template: limited } };
}

/** KEDA scales to a hundred pods when the template states no maximum. */
function limitScaledObject(object: Manifest, { spec: { quotas } }: Environment): Manifest {
  const most = quotas?.max_replicas;
  return most === undefined || countsOf(object).max !== undefined ? object : withCounts(object, { max: most });
}

function limitKnative(object: Manifest, metadata: Json, { spec }: Environment): Json | undefined {
  const most = spec.quotas?.max_replicas;
  const annotations = jsonOf(metadata["annotations"]);
  const isStated = MAX_SCALES.some((name) => Object.hasOwn(annotations, SCALE_ANNOTATION + name));
  if (most === undefined || !object.apiVersion.startsWith(KNATIVE_GROUP) || isStated) return omitEmpty(metadata);
  return { ...metadata, annotations: { ...annotations, [`${SCALE_ANNOTATION}maxScale`]: String(most) } };
}

/** Returns the limits of the environment that a filled manifest exceeds. Paths start at the manifest. */
export function checkObjectLimits(object: Manifest, environment: Environment | undefined): readonly Violation[] {
  if (environment === undefined) return [];
  const spec = jsonOf(object["spec"]);
  return [
    ...replicaViolations(object, spec, environment),
    ...(environment.spec.network_policy?.enabled === true ? networkViolations(object, spec, environment) : []),
  ];
}

function replicaViolations(
  object: Manifest,
  spec: Json,
  { name, spec: { quotas } }: Environment,
): readonly Violation[] {
  const most = quotas?.max_replicas;
  if (most === undefined) return [];
  const violation = (path: string, value: unknown): Violation => ({
    path,
    message: `${JSON.stringify(value)} is above the ${most} replicas that environment ${name} allows`,
    fix: `use 1 to ${most}, or raise quotas.max_replicas`,
  });
  const nested = isScaledObject(object) ? jsonOf(spec["replicas"]) : {};
  const above = (stated: unknown): boolean => typeof stated === "number" && stated > most;
  const fields = [
    ...REPLICA_FIELDS.map((field) => ({ path: [field], value: spec[field] })),
    ...["min", "max"].map((field) => ({ path: ["replicas", field], value: nested[field] })),
  ].filter(({ value }) => above(value));
  const annotations = jsonOf(jsonOf(jsonOf(spec["template"])["metadata"])["annotations"]);
  const scales = SCALES.filter((scale) => {
    const stated = annotations[SCALE_ANNOTATION + scale];
    if (stated === undefined || !object.apiVersion.startsWith(KNATIVE_GROUP)) return false;
    const least = MAX_SCALES.includes(scale) ? 1 : 0;
    return !(Number(stated) >= least && Number(stated) <= most);
  }).map((scale) => SCALE_ANNOTATION + scale);
  const paused = isScaledObject(object) ? object.metadata.annotations?.[PAUSED_REPLICAS] : undefined;
  return [
    ...fields.map(({ path, value }) => violation(pathOf(ROOT_PATH, "spec", ...path), value)),
    ...(paused === undefined || Number(paused) <= most
      ? []
      : [violation(pathOf(ROOT_PATH, "metadata", "annotations", PAUSED_REPLICAS), paused)]),
    ...scales.map((key) =>
      violation(pathOf(ROOT_PATH, "spec", "template", "metadata", "annotations", key), annotations[key]),
    ),
  ];
}

/** Policies add up: an ingress rule of the template would open the pods that the environment closes. */
function networkViolations(object: Manifest, spec: Json, { name }: Environment): readonly Violation[] {
  const { ingress } = spec;
  const opens =
    object.kind === "NetworkPolicy" && ingress !== undefined && !(Array.isArray(ingress) && ingress.length === 0);
  const onHost = jsonOf(jsonOf(spec["template"])["spec"])["hostNetwork"];
  const isOnHost = createsPods(object) && onHost !== undefined && onHost !== false;
  return [
    ...(opens
      ? [
          {
            path: pathOf(ROOT_PATH, "spec", "ingress"),
            message: `environment ${name} decides who may call the pods of its classes`,
            fix: "remove ingress, or add the callers to network_policy.allow_from_namespaces of the EnvironmentConfig",
          },
        ]
      : []),
    ...(isOnHost
      ? [
          {
            path: pathOf(ROOT_PATH, "spec", "template", "spec", "hostNetwork"),
            message: `network policies, which environment ${name} requires, do not apply to the network of the node`,
            fix: "remove hostNetwork",
          },
        ]
      : []),
  ];
}

/** The ports that the containers of a workload declare. */
export function declaredPorts(workload: Manifest | undefined): readonly number[] {
  const pod = jsonOf(jsonOf(jsonOf(workload?.["spec"])["template"])["spec"]);
  return listOf(pod["containers"])
    .flatMap((container) => listOf(container["ports"]))
    .flatMap(({ containerPort }) => (typeof containerPort === "number" ? [containerPort] : []));
}

const ADDED_COMPONENT = "template";

/** Labels of the pods of a workload that the template adds, so that the policy of the environment selects them. */
export function withAddedPodLabels(object: Manifest, plan: ClassPlan): Manifest {
  if (!hasNetworkPolicy(plan.input) || !createsPods(object)) return object;
  const spec = jsonOf(object["spec"]);
  const template = jsonOf(spec["template"]);
  const metadata = jsonOf(template["metadata"]);
  const labels = { ...jsonOf(metadata["labels"]), ...addedPodLabels(plan) };
  return { ...object, spec: { ...spec, template: { ...template, metadata: { ...metadata, labels } } } };
}

function addedPodLabels({ input }: ClassPlan): Readonly<Record<string, string>> {
  return { [OWNER_LABEL]: ownerLabelValue(input.owner.name), [COMPONENT_LABEL]: ADDED_COMPONENT };
}

/** The network policy of the pods of workloads that the template adds. Their ports are not known, so it allows all. */
export function renderAddedPodsPolicy(plan: ClassPlan): Manifest {
  const labels = addedPodLabels(plan);
  return renderNetworkPolicy(plan.input, { name: withSuffix(plan.base, "added"), labels, selector: labels });
}

function jsonOf(value: unknown): Json {
  return isJsonObject(value) ? value : {};
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
