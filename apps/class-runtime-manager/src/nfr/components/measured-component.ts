import type { ClassRuntime } from "@oaas/contracts/crd";
import { digestJson } from "@oaas/foundation/hash";
import { parseQuantity, quantityUnits, multiplyQuantity, type KubeObject } from "@oaas/kube-core";
import type { ComponentScale, RequirementTargets } from "@oaas/nfr/analyzer";
import type { ComponentTarget, QueryOverrides, Workload } from "@oaas/nfr/queries";
import { compareText } from "../../lifecycle/observation/observed-objects.ts";
import {
  classRequirements,
  COMPONENT_LABEL,
  FUNCTION_CONTAINER,
  FUNCTION_KEY_ANNOTATION,
  FUNCTION_LABEL,
  functionRequirements,
  ownerLabelValue,
} from "../../templates/index.ts";

/** A function of a class, or its state store, as far as it is measured. */
export interface MeasuredComponent {
  /** A function key, or `odgm`. */
  readonly component: string;
  readonly target: ComponentTarget;
  readonly requirements: RequirementTargets;
  readonly scale: ComponentScale;
  /** In effect. */
  readonly container: ContainerAmounts;
  /** Stated by the user. Defaults of templates are not limits: they are what a recommendation replaces. */
  readonly limits: { readonly cpu?: number; readonly memory?: number };
  /** Changes with the image and the resources of the container. */
  readonly revision: string;
}

/** CPU in millicores and memory in bytes of the container, when stated. */
export interface ContainerAmounts {
  readonly cpuRequest?: number;
  readonly cpuLimit?: number;
  readonly memoryRequest?: number;
  readonly memoryLimit?: number;
}

/** What the components of a class are derived from. */
export interface ComponentSources {
  readonly class: ClassRuntime;
  readonly uid: string;
  /** Live children of the class, of any kind. */
  readonly children: readonly KubeObject[];
  readonly pods: readonly PodObject[];
  /** The most replicas that the manager chooses. */
  readonly maxReplicas: number;
  /** Queries of the environment of the class. */
  readonly queries?: QueryOverrides | undefined;
}

/** A digest of this length is unique enough among the revisions of one component. */
const REVISION_LENGTH = 16;

/** The state store of a class. */
const ODGM = "odgm";

type WorkloadKind = Workload["kind"];

const WORKLOAD_KINDS: Readonly<Record<string, WorkloadKind>> = {
  "apps/v1 Deployment": "Deployment",
  "apps/v1 StatefulSet": "StatefulSet",
  "apps/v1 DaemonSet": "DaemonSet",
  "serving.knative.dev/v1 Service": "Knative",
};

/** The components of a class that have a workload, by name: the cache has its objects in any order. */
export function measuredComponents(sources: ComponentSources): readonly MeasuredComponent[] {
  const workloads = new Map<string, LiveWorkload[]>();
  for (const child of sources.children) {
    const live = liveWorkload(child);
    if (live !== undefined) workloads.set(live.component, [...(workloads.get(live.component) ?? []), live]);
  }
  return [...workloads]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([component, live]) => measuredComponent(sources, component, live));
}

interface LiveWorkload {
  readonly component: string;
  readonly kind: WorkloadKind;
  readonly object: WorkloadObject;
}

interface WorkloadObject extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: { readonly spec?: { readonly containers?: readonly Container[] } };
  };
}

interface PodObject extends KubeObject {
  readonly spec?: { readonly containers?: readonly Container[] };
}

interface Container {
  readonly name?: string;
  readonly image?: string;
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string | number>>;
    readonly limits?: Readonly<Record<string, string | number>>;
  };
}

function liveWorkload(object: KubeObject): LiveWorkload | undefined {
  const kind = WORKLOAD_KINDS[`${object.apiVersion} ${object.kind}`];
  if (kind === undefined) return undefined;
  const { labels, annotations } = object.metadata;
  const component = labels?.[COMPONENT_LABEL] === ODGM ? ODGM : annotations?.[FUNCTION_KEY_ANNOTATION];
  return component === undefined ? undefined : { component, kind, object };
}

function measuredComponent(
  sources: ComponentSources,
  component: string,
  live: readonly LiveWorkload[],
): MeasuredComponent {
  const { metadata, spec } = sources.class;
  const namespace = metadata.namespace ?? "";
  const functionLabel = component === ODGM ? undefined : live[0]?.object.metadata.labels?.[FUNCTION_LABEL];
  const requirements = requirementsOf(sources.class, component);
  const pods = podsOf(sources.pods, functionLabel);
  const container = effectiveContainer(live, pods);
  const deploymentId = spec.origin?.deployment_id;
  return {
    component,
    target: {
      key: `${sources.uid}/${component}`,
      namespace,
      owner: ownerLabelValue(metadata.name),
      ...(deploymentId === undefined ? {} : { deploymentId }),
      ...(functionLabel === undefined ? {} : { functionLabel }),
      workloads: live.map(({ kind, object }) => ({ kind, namespace, name: object.metadata.name ?? "" })),
      pods: pods.map(({ metadata }) => metadata.name ?? ""),
      ...(requirements.maxLatencyMs === undefined ? {} : { maxLatencyMs: requirements.maxLatencyMs }),
      ...(sources.queries === undefined ? {} : { queries: sources.queries }),
    },
    requirements,
    scale: scaleOf(sources, component, live, { podCount: pods.length, container }),
    container: amountsOf(container),
    limits: statedLimits(sources.class, component),
    revision: digestJson([container?.image ?? null, container?.resources ?? null])
      .replace("sha256:", "")
      .slice(0, REVISION_LENGTH),
  };
}

/**
 * The container of a function or state store, with the resources of its oldest pod: pods may have been resized in place,
 * and new ones are resized soon after their start.
 */
function effectiveContainer(live: readonly LiveWorkload[], pods: readonly PodObject[]): Container | undefined {
  const containers = live[0]?.object.spec?.template?.spec?.containers;
  const container = containers?.find(({ name }) => name === FUNCTION_CONTAINER) ?? containers?.[0];
  const oldest = pods.reduce<PodObject | undefined>(
    (first, pod) => (first !== undefined && createdMs(first) <= createdMs(pod) ? first : pod),
    undefined,
  );
  const resources = oldest?.spec?.containers?.find(({ name }) => name === container?.name)?.resources;
  return container && resources ? { ...container, resources } : container;
}

function createdMs({ metadata }: KubeObject): number {
  return Date.parse(metadata.creationTimestamp ?? "");
}

/** Requirements are stated for functions; the state store has none. */
function requirementsOf({ spec }: ClassRuntime, component: string): RequirementTargets {
  const fn = spec.functions?.find(({ function_key: key }) => key === component);
  if (fn === undefined) return {};
  const { throughputRps, latencyMs, availability } = functionRequirements(fn, classRequirements(spec));
  return {
    ...(throughputRps === undefined ? {} : { minThroughputRps: throughputRps }),
    ...(latencyMs === undefined ? {} : { maxLatencyMs: latencyMs }),
    ...(availability === undefined ? {} : { availability }),
  };
}

/** The pods of a component. */
function podsOf(pods: readonly PodObject[], functionLabel: string | undefined): readonly PodObject[] {
  return pods.filter(({ metadata: { labels } }) =>
    functionLabel === undefined ? labels?.[COMPONENT_LABEL] === ODGM : labels?.[FUNCTION_LABEL] === functionLabel,
  );
}

function scaleOf(
  { class: { spec }, maxReplicas }: ComponentSources,
  component: string,
  live: readonly LiveWorkload[],
  { podCount, container }: { readonly podCount: number; readonly container: Container | undefined },
): ComponentScale {
  const fn = spec.functions?.find(({ function_key: key }) => key === component);
  const canScaleToZero = live.some(({ kind }) => kind === "Knative");
  const replicas = live.map(({ object }) => object.spec?.replicas).find((count) => count !== undefined);
  const min = fn?.provision_config?.min_scale ?? spec.resource_allocation?.min_replicas;
  const stated = fn?.provision_config?.max_scale ?? spec.resource_allocation?.max_replicas;
  const enforceable = (spec.enforcement ?? spec.nfr?.enforcement)?.max_replicas;
  const max = enforceable === undefined ? stated : Math.max(enforceable, stated ?? 0);
  const { cpuRequest } = amountsOf(container);
  const { cpuTarget } = classRequirements(spec);
  return {
    // Knative and DaemonSets state no replicas: their pods count.
    current: replicas ?? podCount,
    ...(min === undefined ? {} : { min }),
    max: max === undefined || max === 0 ? maxReplicas : max,
    canScaleToZero,
    ...(cpuRequest === undefined ? {} : { cpuRequestMillicores: cpuRequest }),
    ...(cpuTarget === undefined ? {} : { cpuTarget }),
  };
}

function statedLimits({ spec }: ClassRuntime, component: string): MeasuredComponent["limits"] {
  const fn = spec.functions?.find(({ function_key: key }) => key === component);
  const stated = [fn?.provision_config, fn === undefined ? undefined : spec.resource_allocation];
  const cpu = amountOf(stated.find((one) => one?.cpu_limit !== undefined)?.cpu_limit, 1000n);
  const memory = amountOf(stated.find((one) => one?.memory_limit !== undefined)?.memory_limit, 1n);
  return { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) };
}

function amountsOf(container: Container | undefined): ContainerAmounts {
  const { requests = {}, limits = {} } = container?.resources ?? {};
  const [cpuRequest, cpuLimit] = [requests["cpu"], limits["cpu"]].map((text) => amountOf(text, 1000n));
  const [memoryRequest, memoryLimit] = [requests["memory"], limits["memory"]].map((text) => amountOf(text, 1n));
  return {
    ...(cpuRequest === undefined ? {} : { cpuRequest }),
    ...(cpuLimit === undefined ? {} : { cpuLimit }),
    ...(memoryRequest === undefined ? {} : { memoryRequest }),
    ...(memoryLimit === undefined ? {} : { memoryLimit }),
  };
}

function amountOf(text: string | number | undefined, factor: bigint): number | undefined {
  const parsed = text === undefined ? undefined : parseQuantity(text);
  return parsed?.ok ? Number(quantityUnits(multiplyQuantity(parsed.value, factor))) : undefined;
}
