import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import { isJsonObject } from "@oaas/kube-core";
import type { Manifest, Rendered, RenderedFunction } from "../../rendering/model/rendered.ts";
import type { ScalingFacts } from "../../rendering/model/cluster-facts.ts";
import type { ReplicaLimits, Scale } from "../../rendering/plan/scale.ts";
import { withoutReplicas } from "../../rendering/workloads/replicas-handover.ts";
import { asText } from "./language.ts";
import { createsPods, kindOf } from "./workload-kinds.ts";

type Json = Readonly<Record<string, unknown>>;

/** Group, version and kind of KEDA's ScaledObject. */
export const SCALED_OBJECT = "keda.sh/v1alpha1/ScaledObject";
/** Group, version and kind of the HTTPScaledObject of KEDA's HTTP add-on. */
export const HTTP_SCALED_OBJECT = "http.keda.sh/v1alpha1/HTTPScaledObject";

/** The maximum of KEDA when a ScaledObject states none. */
const DEFAULT_MAX = 100;
/** Lets KEDA take over an autoscaler of someone else. */
const TRANSFER_ANNOTATION = "scaledobject.keda.sh/transfer-hpa-ownership";

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Whether a manifest is a ScaledObject or an HTTPScaledObject. */
export function isScaledObject(manifest: Kind): boolean {
  return kindOf(manifest) === SCALED_OBJECT || isHttp(manifest);
}

function isHttp(manifest: Kind): boolean {
  return kindOf(manifest) === HTTP_SCALED_OBJECT;
}

/** Triggers that measure running pods, and so have no value without one. */
const POD_TRIGGERS = new Set(["cpu", "memory"]);

/** Why these manifests of a template cannot start the first replica of a function; undefined if one of them can. */
export function whyNotWoken(manifests: readonly (Kind & Json)[], { capabilities }: ScalingFacts): string | undefined {
  const scalers = manifests.filter(isScaledObject);
  if (scalers.length === 0) return "it has no ScaledObject or HTTPScaledObject";
  const unserved = scalers.find((one) => !(isHttp(one) ? capabilities.httpScaledObject : capabilities.scaledObject));
  if (unserved !== undefined) return `the cluster does not serve ${unserved.apiVersion} ${unserved.kind}`;
  const wakes = scalers.some(
    (one) => isHttp(one) || triggersOf(one).some((trigger) => !POD_TRIGGERS.has(String(jsonOf(trigger)["type"]))),
  );
  return wakes ? undefined : "the triggers cpu and memory of its ScaledObject have no value without a replica";
}

function triggersOf(object: Json): readonly unknown[] {
  const triggers = jsonOf(object["spec"])["triggers"];
  return Array.isArray(triggers) ? triggers : [];
}

/**
 * Returns the fields of a ScaledObject that a template must not set: KEDA would change autoscalers of others, or use
 * credentials of the cluster. Paths start at the manifest.
 */
export function checkScaledObject(object: Json): readonly Violation[] {
  if (`${String(object["apiVersion"])}/${String(object["kind"])}` !== SCALED_OBJECT) return [];
  const spec = jsonOf(object["spec"]);
  const autoscaler = jsonOf(jsonOf(spec["advanced"])["horizontalPodAutoscalerConfig"]);
  const annotations = jsonOf(jsonOf(object["metadata"])["annotations"]);
  return [
    ...(Object.hasOwn(annotations, TRANSFER_ANNOTATION)
      ? [
          {
            path: pathOf(ROOT_PATH, "metadata", "annotations", TRANSFER_ANNOTATION),
            message: "a template cannot take over an autoscaler",
            fix: "remove the annotation",
          },
        ]
      : []),
    ...(Object.hasOwn(autoscaler, "name")
      ? [
          {
            path: pathOf(ROOT_PATH, "spec", "advanced", "horizontalPodAutoscalerConfig", "name"),
            message: "a template cannot name the autoscaler that KEDA creates",
            fix: "remove name",
          },
        ]
      : []),
    ...triggersOf(object).flatMap((trigger, index) => {
      const { kind = "TriggerAuthentication" } = jsonOf(jsonOf(trigger)["authenticationRef"]);
      return kind === "TriggerAuthentication"
        ? []
        : [
            {
              path: pathOf(ROOT_PATH, "spec", "triggers", index, "authenticationRef", "kind"),
              message: `a template cannot use credentials of kind ${String(kind)}`,
              fix: "use a TriggerAuthentication in the namespace of the class",
            },
          ];
    }),
  ];
}

/** What a template states for one function, before the values of enforcement are filled in. */
export interface StatedScale {
  readonly functionKey: string;
  /** The scale of the class. */
  readonly scale: Scale;
  /** The replicas that enforcement chose. */
  readonly enforced: number | undefined;
}

/**
 * Gives the replicas of each workload to the ScaledObject that targets it: the workload states none, the minimum is the
 * value that enforcement chose, and the maximum is within the one of the class. `lowest` are the minimums that the
 * template states for the fewest replicas of the class, by name of the ScaledObject.
 */
export function applyScaledObjects(
  rendered: Rendered,
  stated: readonly StatedScale[],
  lowest: ReadonlyMap<string, number>,
): { readonly rendered: Rendered; readonly violations: readonly Violation[] } {
  const scaledObjects = rendered.children.filter(isScaledObject);
  if (scaledObjects.length === 0) return { rendered, violations: [] };
  const workloads = rendered.children.filter(createsPods);
  const changed = new Map<Manifest, Manifest>();
  const violations = scaledObjects.flatMap((object) => {
    const workload = workloads.find(({ apiVersion, kind, metadata: { name } }) =>
      targets(object, { apiVersion, kind, name }),
    );
    if (workload === undefined) return [targetViolation(object)];
    changed.set(workload, withoutReplicas(workload));
    return [];
  });
  const functions = rendered.functions.map((fn): RenderedFunction => {
    const { workload } = fn;
    const object = workload && scaledObjects.find((one) => targets(one, workload));
    const found = stated.find(({ functionKey }) => functionKey === fn.functionKey);
    if (object === undefined || found === undefined) return fn;
    const limits = limitsOf(object, found.scale, lowest.get(object.metadata.name ?? "") ?? 0);
    const { min, max, maximum, maximumLimits } = limits;
    const isFixed = found.scale.toZero === true || isHttp(object);
    const chosen = isFixed ? undefined : found.enforced;
    const minimum = clamp(chosen ?? countsOf(object).min ?? 0, limits);
    if (maximum === 0) violations.push(noReplicasViolation(object));
    changed.set(object, withCounts(object, { min: minimum, max: limits.isMaximumStated ? maximum : undefined }));
    const { replicaLimits: _, ...rest } = fn;
    return {
      ...rest,
      replicas: minimum,
      maxReplicas: maximum,
      replicasOwner: "keda",
      ...(isFixed ? { whyReplicasFixed: fn.whyReplicasFixed ?? HTTP_DECIDES } : { replicaLimits: { min, max } }),
      ...(isFixed || maximumLimits === undefined ? {} : { maximumLimits }),
    };
  });
  const children = rendered.children.map((child) => changed.get(child) ?? child);
  return { rendered: { ...rendered, children, functions }, violations };
}

const HTTP_DECIDES = "its HTTPScaledObject decides on the replicas by requests";

/** Limits of the minimum that enforcement chooses, and the maximum with its own limits. */
interface ScaledLimits extends Required<ReplicaLimits> {
  readonly maximum: number;
  readonly maximumLimits?: NonNullable<RenderedFunction["maximumLimits"]>;
  /** Whether template or class state the maximum. */
  readonly isMaximumStated: boolean;
}

/** The template is filled with the largest maximum that enforcement may choose, so that a number of its own is a limit. */
function limitsOf(object: Manifest, { limits, max: ofClass, statedMax }: Scale, lowest: number): ScaledLimits {
  const { name } = object.metadata;
  const fields = countFields(object);
  const stated = countsOf(object).max;
  const maximumField = `${fields.max} of ${object.kind} ${name}`;
  const source = stated === undefined ? `default ${fields.max} of KEDA` : maximumField;
  const own = { value: stated ?? DEFAULT_MAX, source };
  const maximum = Math.min(own.value, ofClass ?? Number.POSITIVE_INFINITY);
  const most = limits?.max !== undefined && limits.max.value <= own.value ? limits.max : own;
  const max = most.value > maximum ? { value: maximum, source: maximumField } : most;
  const canRaise = statedMax !== undefined && most.value > statedMax.value;
  return {
    min: { value: Math.min(lowest, max.value), source: `${fields.min} of ${object.kind} ${name}` },
    max,
    maximum,
    ...(canRaise ? { maximumLimits: { min: statedMax, max: most } } : {}),
    isMaximumStated: stated !== undefined || maximum !== own.value,
  };
}

function clamp(value: number, { min, max }: ScaledLimits): number {
  return Math.min(Math.max(value, min.value), max.value);
}

/** Whether a ScaledObject scales a workload, with the defaults of KEDA. */
function targets(object: Manifest, { apiVersion, kind, name }: Workload): boolean {
  const target = jsonOf(jsonOf(object["spec"])["scaleTargetRef"]);
  return (
    (target["apiVersion"] ?? "apps/v1") === apiVersion &&
    (target["kind"] ?? "Deployment") === kind &&
    target["name"] === name
  );
}

interface Workload {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string | undefined;
}

/** The names of the fields of minimum and maximum, for people. */
function countFields(object: Kind): { readonly min: string; readonly max: string } {
  return isHttp(object)
    ? { min: "replicas.min", max: "replicas.max" }
    : { min: "minReplicaCount", max: "maxReplicaCount" };
}

interface Counts {
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/** The stated minimum and maximum of a ScaledObject or an HTTPScaledObject. */
export function countsOf(object: Kind & Json): Counts {
  const spec = jsonOf(object["spec"]);
  if (!isHttp(object)) return { min: countOf(spec["minReplicaCount"]), max: countOf(spec["maxReplicaCount"]) };
  const { min, max } = jsonOf(spec["replicas"]);
  return { min: countOf(min), max: countOf(max) };
}

/** The object with other numbers; those left out stay as they are. */
export function withCounts(object: Manifest, { min, max }: Partial<Counts>): Manifest {
  const spec = jsonOf(object["spec"]);
  const counts = isHttp(object)
    ? { replicas: { ...jsonOf(spec["replicas"]), ...present({ min, max }) } }
    : present({ minReplicaCount: min, maxReplicaCount: max });
  return { ...object, spec: { ...spec, ...counts } };
}

function present(counts: Readonly<Record<string, number | undefined>>): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(counts).flatMap(([name, count]) => (count === undefined ? [] : [[name, count]])),
  );
}

/** Undefined for anything but a number, which the API server rejects. */
function countOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** A ScaledObject of a template must not scale the workloads of others. */
function targetViolation(object: Manifest): Violation {
  const target = jsonOf(jsonOf(object["spec"])["scaleTargetRef"]);
  const text = `${asText(target["kind"] ?? "Deployment")} ${asText(target["name"])}`;
  return {
    path: pathOf(ROOT_PATH, "manifests"),
    message: `${object.kind} ${object.metadata.name} scales ${text}, which is not a workload of the template`,
    fix: "use {{ function.name }} in spec.scaleTargetRef.name",
  };
}

function noReplicasViolation({ kind, metadata }: Manifest): Violation {
  const path = pathOf(ROOT_PATH, "manifests");
  return { path, message: `${kind} ${metadata.name} has the maximum 0`, fix: "use max_scale 1 or more" };
}

function jsonOf(value: unknown): Json {
  return isJsonObject(value) ? value : {};
}
