import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import { isBeingDeleted, multiplyQuantity, parseQuantity, quantityUnits, type KubeObject } from "@oaas/kube-core";
import type { Blocker, Dimension, Limit } from "@oaas/nfr";
import { ENFORCED_MIN_SCALE_ANNOTATION } from "../rendering/manifests/labels.ts";
import type { Pod } from "../lifecycle/observation/observed-objects.ts";
import { FUNCTION_CONTAINER } from "../rendering/manifests/pod.ts";
import type { RenderedFunction } from "../rendering/model/rendered.ts";
import type { ClassEnforcement } from "./class-enforcement.ts";
import { effectiveResources, infeasibleResize, podsOfFunction } from "./pod-resizes.ts";

/** A value that enforcement could change, and its limits. */
export interface EnforceableValue {
  /** A function key, or `odgm`. */
  readonly component: string;
  readonly dimension: Dimension;
  readonly current: number;
  readonly minimums: readonly Limit[];
  readonly maximums: readonly Limit[];
  /** The changed field, such as `Deployment/web spec.replicas`. */
  readonly path: string;
  /** The value is the minimum of an autoscaler, which adds replicas by itself. */
  readonly isMinimum?: true;
  /** The target of that autoscaler, 0 to 1, and its field; absent where the user states it. */
  readonly utilization?: { readonly target: number; readonly path: string };
  /** The value is the maximum of an autoscaler, which asks for this many replicas now. */
  readonly maximumOf?: { readonly stated: number; readonly inUse: number };
  readonly isAllowed: boolean;
  readonly whyNotAllowed?: string;
  readonly blockers: readonly Blocker[];
  /** Why someone else decides on the value now; it is not changed meanwhile. */
  readonly conflict?: string;
  /** Whether running pods are resized in place. */
  readonly isResize?: boolean;
  /** The replicas that have a node, while others find none. */
  readonly schedulable?: number;
  /** The workload whose replicas no autoscaler of the class sets: an autoscaler of someone else would conflict. */
  readonly scaledWorkload?: { readonly kind: string; readonly name: string };
}

/** What the values of a class are derived from. */
export interface ValueSources {
  readonly spec: ClassRuntimeSpec;
  readonly functions: readonly RenderedFunction[];
  /** Live children. */
  readonly children: readonly KubeObject[];
  /** Live pods. */
  readonly pods: readonly Pod[];
  /** Whether the cluster resizes pods in place. */
  readonly canResize: boolean;
  readonly hasOdgm: boolean;
  readonly enforcement: ClassEnforcement;
}

interface Scalable extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly minReplicas?: number;
    readonly maxReplicas?: number;
    readonly metrics?: readonly {
      readonly resource?: { readonly target?: { readonly averageUtilization?: number } };
    }[];
    readonly scaleTargetRef?: { readonly kind?: string; readonly name?: string };
    readonly minReplicaCount?: number;
    readonly maxReplicaCount?: number;
    readonly triggers?: readonly { readonly type?: string }[];
    readonly template?: {
      readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec?: { readonly containers?: readonly Container[] };
    };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly updatedReplicas?: number;
    readonly latestReadyRevisionName?: string;
  };
}

interface Container {
  readonly name?: string;
  readonly resources?: { readonly requests?: Readonly<Record<string, string | number>> };
}

/** The annotation of a revision, which takes precedence over the one of its template. */
export const REVISION_MIN_SCALE = "autoscaling.knative.dev/min-scale";
const TEMPLATE_MIN_SCALE = "autoscaling.knative.dev/minScale";

/** Smallest requests: pods with less are not scheduled or throttled at once. */
const LEAST: Readonly<Record<"cpu" | "memory", number>> = { cpu: 10, memory: 32 * 1024 * 1024 };

/** Lists all values of a class. */
export function enforceableValues(sources: ValueSources): readonly EnforceableValue[] {
  return [
    ...sources.functions.flatMap((fn) => functionValues(fn, sources)),
    ...(sources.hasOdgm ? [odgmReplicas()] : []),
  ];
}

/** The shards of a state store are bound to its nodes, so that another number of nodes would lose data. */
function odgmReplicas(): EnforceableValue {
  return {
    component: "odgm",
    dimension: "replicas",
    current: 0,
    minimums: [],
    maximums: [],
    path: "",
    isAllowed: false,
    whyNotAllowed: "the state store does not reshard at run time; its nodes are set by the deployment",
    blockers: [],
  };
}

function functionValues(fn: RenderedFunction, sources: ValueSources): readonly EnforceableValue[] {
  const { children } = sources;
  const { workload: ref } = fn;
  const workload: Scalable | undefined = children.find(
    ({ kind, metadata, apiVersion }) =>
      kind === ref?.kind && apiVersion === ref?.apiVersion && metadata.name === ref?.name,
  );
  if (ref === undefined || workload === undefined) return [];
  const autoscaler: Scalable | undefined = children.find(
    (child: Scalable) => child.kind === "HorizontalPodAutoscaler" && child.spec?.scaleTargetRef?.name === ref.name,
  );
  const scaledObject: Scalable | undefined = children.find((child) => isScaledObjectOf(child, ref));
  const scalers = { autoscaler, scaledObject };
  const blockers = isRollingOut(workload) ? (["rolling-out"] as const) : [];
  const replicas = replicasValue(fn, workload, scalers, sources);
  const maximum = replicas && maximumValue(fn, workload, scalers, replicas);
  const schedulable = schedulableReplicas(fn, sources.pods);
  return [
    ...(replicas ? [{ ...replicas, ...schedulable, blockers }] : []),
    ...(maximum ? [{ ...maximum, ...schedulable, blockers }] : []),
    ...(["cpu", "memory"] as const).flatMap((dimension) => {
      const value = requestValue(dimension, fn, workload, scalers, sources);
      return value ? [{ ...value, blockers }] : [];
    }),
  ];
}

/** How many replicas have a node; empty when all have one. */
function schedulableReplicas(fn: RenderedFunction, pods: readonly Pod[]): Pick<EnforceableValue, "schedulable"> {
  const live = podsOfFunction(fn.functionKey, pods).filter((pod) => !isBeingDeleted(pod));
  const without = live.filter(isUnschedulable).length;
  return without === 0 ? {} : { schedulable: live.length - without };
}

function isUnschedulable({ status }: Pod): boolean {
  return (
    status?.conditions?.some(
      ({ type, status: state, reason }) => type === "PodScheduled" && state === "False" && reason === "Unschedulable",
    ) ?? false
  );
}

/** The live objects of the class that scale a workload. */
interface Scalers {
  readonly autoscaler: Scalable | undefined;
  readonly scaledObject: Scalable | undefined;
}

function isScaledObjectOf({ apiVersion, kind, spec }: Scalable, workload: { kind: string; name: string }): boolean {
  if (!isKedaObject(apiVersion, kind)) return false;
  const { kind: target = "Deployment", name } = spec?.scaleTargetRef ?? {};
  return target === workload.kind && name === workload.name;
}

function isKedaObject(apiVersion: string, kind: string): boolean {
  return (
    (kind === "ScaledObject" && apiVersion.startsWith("keda.sh/")) ||
    (kind === "HTTPScaledObject" && apiVersion.startsWith("http.keda.sh/"))
  );
}

/** Whether a new pod template is being rolled out. Pods that start after a change of replicas are not a roll-out. */
function isRollingOut({ kind, metadata, spec, status }: Scalable): boolean {
  if (kind !== "Deployment" && kind !== "StatefulSet") return false;
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return true;
  return (status?.updatedReplicas ?? 0) < (spec?.replicas ?? 1);
}

function replicasValue(
  fn: RenderedFunction,
  workload: Scalable,
  { autoscaler, scaledObject }: Scalers,
  { enforcement, spec: classSpec }: ValueSources,
): Omit<EnforceableValue, "blockers"> | undefined {
  const { kind, metadata, spec, status } = workload;
  const limits = fn.replicaLimits;
  const base = { component: fn.functionKey, dimension: "replicas" as const };
  const allowed = permission(
    "replicas",
    enforcement,
    limits === undefined ? (fn.whyReplicasFixed ?? "the template fixes the number of replicas") : undefined,
  );
  const minimums = limits ? [limits.min] : [];
  const maximums = limits?.max ? [limits.max] : [];
  switch (fn.replicasOwner) {
    case "autoscaler": {
      if (autoscaler === undefined) return undefined;
      const { name } = autoscaler.metadata;
      const most = autoscaler.spec?.maxReplicas;
      const percent = autoscaler.spec?.metrics?.[0]?.resource?.target?.averageUtilization;
      const stated = classSpec.functions?.find(({ function_key: key }) => key === fn.functionKey)?.nfr_requirements;
      const isTargetStated = [stated, classSpec.nfr_requirements].some(
        (one) => one?.cpu_utilization_target !== undefined,
      );
      return {
        ...base,
        ...allowed,
        current: autoscaler.spec?.minReplicas ?? 1,
        minimums,
        maximums: [
          ...maximums,
          ...(most === undefined ? [] : [{ value: most, source: `maxReplicas of HorizontalPodAutoscaler ${name}` }]),
        ],
        path: `HorizontalPodAutoscaler/${name} spec.minReplicas`,
        isMinimum: true,
        ...(percent === undefined || isTargetStated
          ? {}
          : { utilization: { target: percent / 100, path: `HorizontalPodAutoscaler/${name} spec.metrics` } }),
      };
    }
    case "keda": {
      if (scaledObject === undefined) return undefined;
      const { name } = scaledObject.metadata;
      const pause = pauseOf(scaledObject);
      return {
        ...base,
        ...allowed,
        ...(pause === undefined ? {} : { conflict: pause }),
        current: (scaledObject.kind === "ScaledObject" ? scaledObject.spec?.minReplicaCount : fn.replicas) ?? 0,
        minimums,
        maximums,
        path: `${scaledObject.kind}/${name} spec.${scaledObject.kind === "ScaledObject" ? "minReplicaCount" : "replicas.min"}`,
        isMinimum: true,
      };
    }
    case "knative": {
      const stated =
        metadata.annotations?.[ENFORCED_MIN_SCALE_ANNOTATION] ??
        spec?.template?.metadata?.annotations?.[TEMPLATE_MIN_SCALE];
      const revision = status?.latestReadyRevisionName;
      return {
        ...base,
        ...allowed,
        current: Number(stated ?? 0),
        minimums,
        maximums,
        path: `${revision === undefined ? `Service/${metadata.name}` : `Revision/${revision}`} ${REVISION_MIN_SCALE}`,
        isMinimum: true,
      };
    }
    case "template":
      return {
        ...base,
        ...allowed,
        current: spec?.replicas ?? 1,
        minimums,
        maximums,
        path: `${kind}/${metadata.name} spec.replicas`,
        scaledWorkload: { kind, name: metadata.name ?? "" },
      };
    case "nodes":
      return undefined;
  }
}

/** The maximum of the autoscaler, when the class lets enforcement raise it. It never falls below the minimum in effect. */
function maximumValue(
  { maximumLimits: limits, replicasOwner }: RenderedFunction,
  workload: Scalable,
  { autoscaler, scaledObject }: Scalers,
  minimum: Omit<EnforceableValue, "blockers">,
): Omit<EnforceableValue, "blockers"> | undefined {
  const isKeda = replicasOwner === "keda";
  const scaler = isKeda ? scaledObject : autoscaler;
  const current = isKeda ? scaler?.spec?.maxReplicaCount : scaler?.spec?.maxReplicas;
  if (limits === undefined || scaler === undefined || current === undefined) return undefined;
  const { isMinimum: _, ...shared } = minimum;
  return {
    ...shared,
    dimension: "max_replicas",
    current,
    minimums: [limits.min, { value: minimum.current, source: "the minimum in effect" }],
    maximums: [limits.max],
    path: `${scaler.kind}/${scaler.metadata.name} spec.${isKeda ? "maxReplicaCount" : "maxReplicas"}`,
    maximumOf: { stated: limits.min.value, inUse: workload.spec?.replicas ?? 0 },
  };
}

function requestValue(
  dimension: "cpu" | "memory",
  fn: RenderedFunction,
  workload: Scalable,
  scalers: Scalers,
  sources: ValueSources,
): Omit<EnforceableValue, "blockers"> | undefined {
  const { spec, enforcement, canResize } = sources;
  if (workload.kind === "Job") return undefined;
  const containers = workload.spec?.template?.spec?.containers;
  const container = containers?.find(({ name }) => name === FUNCTION_CONTAINER) ?? containers?.[0];
  const isResize = canResize && fn.resources !== undefined;
  const current = amountOf(
    isResize ? fn.resources.running.requests[dimension] : container?.resources?.requests?.[dimension],
    dimension,
  );
  if (current === undefined) return undefined;
  const provision = spec.functions?.find(({ function_key: key }) => key === fn.functionKey)?.provision_config;
  const request = provision?.[`${dimension}_request`] ?? spec.resource_allocation?.[`${dimension}_request`];
  const limit = provision?.[`${dimension}_limit`] ?? spec.resource_allocation?.[`${dimension}_limit`];
  const most = amountOf(limit, dimension);
  const otherLoop = loopOn(dimension, scalers);
  const field = `resources.requests.${dimension}`;
  const owner = `${workload.kind}/${workload.metadata.name}`;
  const hindrance =
    request !== undefined
      ? `the class states ${dimension}_request ${request}`
      : otherLoop !== undefined
        ? `${otherLoop} scales on ${dimension === "cpu" ? "CPU" : dimension}, and two loops must not set it`
        : fn.resources === undefined
          ? "the template states the resources of the container; {{ function.resources }} lets enforcement choose them"
          : isResize || enforcement.mayRestart
            ? undefined
            : WOULD_RESTART;
  return {
    component: fn.functionKey,
    dimension,
    ...permission(dimension, enforcement, hindrance),
    current,
    minimums: [{ value: LEAST[dimension], source: `least ${dimension} request` }],
    maximums: [
      ...(most === undefined ? [] : [{ value: most, source: `${dimension}_limit` }]),
      ...(isResize ? feasibleLimits(dimension, fn, sources) : []),
    ],
    path: isResize ? `pods of ${owner} ${field}, in place` : `${owner} ${field}`,
    ...(isResize ? { isResize } : {}),
  };
}

/** The scaler that acts on the usage of a resource, which depends on its request. */
function loopOn(dimension: "cpu" | "memory", { autoscaler, scaledObject }: Scalers): string | undefined {
  if (dimension === "cpu" && autoscaler !== undefined) return `HorizontalPodAutoscaler ${autoscaler.metadata.name}`;
  const isTrigger = scaledObject?.spec?.triggers?.some(({ type }) => type === dimension) ?? false;
  return isTrigger ? `ScaledObject ${scaledObject?.metadata.name}` : undefined;
}

/** Annotations by which users pause KEDA. */
const PAUSES = ["paused-replicas", "paused", "paused-scale-in", "paused-scale-out"];
/** The values of Go for false; KEDA takes any other value as a pause, and any number of replicas. */
const FALSE = new Set(["false", "False", "FALSE", "f", "F", "0"]);

/** Why a ScaledObject must not be changed: a user paused it. */
function pauseOf({ metadata: { name, annotations = {} } }: Scalable): string | undefined {
  const pause = PAUSES.find((word) => {
    const value = annotations[`autoscaling.keda.sh/${word}`];
    return value !== undefined && (word === "paused-replicas" || !FALSE.has(value));
  });
  return pause && `ScaledObject ${name} is paused by annotation autoscaling.keda.sh/${pause}`;
}

const WOULD_RESTART =
  "pods would restart: this cluster cannot resize them in place, which Kubernetes 1.33 and later can; " +
  "annotation oaas.io/enforcement-restarts: allowed permits restarts";

/** What the nodes of the pods provide, where a resize was not possible. */
function feasibleLimits(dimension: "cpu" | "memory", fn: RenderedFunction, { pods }: ValueSources): readonly Limit[] {
  return podsOfFunction(fn.functionKey, pods).flatMap((pod) => {
    const found = infeasibleResize(pod);
    const value = amountOf(effectiveResources(pod)?.requests?.[dimension], dimension);
    return found === undefined || value === undefined ? [] : [{ value, source: `the node: ${found}` }];
  });
}

function permission(
  dimension: Dimension,
  { dimensions }: ClassEnforcement,
  hindrance: string | undefined,
): Pick<EnforceableValue, "isAllowed" | "whyNotAllowed"> {
  if (!dimensions.has(dimension)) return { isAllowed: false };
  return hindrance === undefined ? { isAllowed: true } : { isAllowed: false, whyNotAllowed: hindrance };
}

/** CPU in millicores, memory in bytes. */
function amountOf(text: string | number | undefined, dimension: "cpu" | "memory"): number | undefined {
  const parsed = text === undefined ? undefined : parseQuantity(String(text));
  return parsed?.ok
    ? Number(quantityUnits(multiplyQuantity(parsed.value, dimension === "cpu" ? 1000n : 1n)))
    : undefined;
}
