import type { ClassFunction, ClassRuntimeSpec } from "@oaas/contracts/crd";
import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import type { Limit } from "@oaas/nfr";
import type { ClusterFacts, Environment } from "../model/cluster-facts.ts";
import type { Policy } from "./policy.ts";
import type { Requirements } from "./requirements.ts";

/** Limits of the replicas of a function. */
export interface Scale {
  /** The value that enforcement chose, else the planned one. */
  readonly min: number;
  /** The planned minimum, when enforcement chose another one. */
  readonly plannedMin?: number;
  /** The limits of enforcement, with their origin. */
  readonly limits?: ReplicaLimits;
  /** The maximum that enforcement chose, else the stated one. */
  readonly max?: number;
  /** The maximum of an autoscaler without `max`, derived from the required throughput. */
  readonly derivedMax?: number;
  /** The stated maximum, when enforcement may raise it. */
  readonly statedMax?: Limit;
  /** Maximum replicas of the environment. */
  readonly quota?: number;
  /** Whether the minimum was stated, not chosen by the template. */
  readonly stated: boolean;
  /** The function states a minimum of zero: nothing may keep a replica running without requests. */
  readonly toZero?: true;
}

/** The fewest and the most replicas that enforcement may choose. */
export interface ReplicaLimits {
  readonly min: Limit;
  readonly max?: Limit;
}

interface ScaleInput {
  readonly fn: ClassFunction;
  readonly allocation: ClassRuntimeSpec["resource_allocation"];
  readonly environment: Environment | undefined;
  readonly requirements: Requirements;
  readonly policy: Policy;
  readonly cluster: ClusterFacts;
  /** The replicas that enforcement chose. */
  readonly enforced?: { readonly replicas?: number; readonly max_replicas?: number } | undefined;
  /** Most replicas that enforcement may choose, as the class states it. */
  readonly enforceable?: number | undefined;
  /** Whether enforcement moves the replicas. */
  readonly isEnforced?: boolean | undefined;
}

/** Assumed requests per second of one replica. */
const RPS_PER_REPLICA = 1000;
/** Replicas that an autoscaler may add when no maximum is stated, as a multiple of those for the required throughput. */
const AUTOSCALER_FACTOR = 2;

/**
 * The limits of one function: its own, else those of the package manager, the environment or the template (raised for
 * the required throughput). Paths of violations start at the function.
 */
export function planScale(input: ScaleInput): Result<Scale, readonly Violation[]> {
  const { fn, allocation, environment, policy, cluster, requirements } = input;
  const defaults = environment?.spec.scale;
  const quota = environment?.spec.quotas?.max_replicas;
  const statedMin = fn.provision_config?.min_scale ?? allocation?.min_replicas ?? defaults?.min_scale;
  const max = fn.provision_config?.max_scale ?? allocation?.max_replicas ?? defaults?.max_scale;

  const violations = [
    ...quotaViolations(quota, statedMin, "min_scale", environment),
    ...quotaViolations(quota, fn.provision_config?.max_scale, "max_scale", environment),
  ];
  if (violations.length > 0) return err(violations);

  const needed = Math.ceil((requirements.throughputRps ?? 0) / RPS_PER_REPLICA);
  const own = Math.min(Math.max(policy.replicas, needed), Math.max(cluster.maxReplicas, policy.replicas));
  const ceiling = Math.min(max ?? Number.POSITIVE_INFINITY, quota ?? Number.POSITIVE_INFINITY);
  const planned = Math.min(statedMin ?? own, ceiling);
  const limits: ReplicaLimits = {
    min:
      statedMin === undefined
        ? { value: Math.min(policy.replicas, ceiling), source: `template ${policy.id}` }
        : { value: planned, source: "min_scale" },
    ...mostReplicas(input, max, planned),
  };
  const most = limits.max?.value ?? Number.POSITIVE_INFINITY;
  const toZero = isScaledToZero(fn);
  const enforced =
    toZero || input.enforced?.replicas === undefined
      ? planned
      : Math.min(Math.max(input.enforced.replicas, limits.min.value), most);
  const canRaise = max !== undefined && max > 0 && most > ceiling;
  const derivedMax = max === undefined ? derivedMaximum(input, needed, ceiling) : undefined;
  return ok({
    min: enforced,
    ...(enforced === planned ? {} : { plannedMin: planned }),
    limits,
    ...(max === undefined ? {} : { max: canRaise ? raisedMaximum(input, ceiling, most) : ceiling }),
    ...(derivedMax === undefined ? {} : { derivedMax }),
    ...(canRaise ? { statedMax: { value: ceiling, source: "max_scale" } } : {}),
    ...(quota === undefined ? {} : { quota }),
    stated: statedMin !== undefined,
    ...(toZero ? { toZero } : {}),
  });
}

/** Whether a function states that it needs no replica without requests. A maximum of zero switches it off instead. */
export function isScaledToZero({ provision_config: provision }: Pick<ClassFunction, "provision_config">): boolean {
  return provision?.min_scale === 0 && provision.max_scale !== 0;
}

/** The most replicas that enforcement may choose: what the class allows it, else the maximum scale, within the quota. */
function mostReplicas(
  { environment, enforceable }: ScaleInput,
  max: number | undefined,
  least: number,
): Pick<ReplicaLimits, "max"> {
  const quota = environment?.spec.quotas?.max_replicas;
  const stated = [
    ...(enforceable !== undefined
      ? [{ value: Math.max(enforceable, least), source: "enforcement.max_replicas" }]
      : max === undefined
        ? []
        : [{ value: max, source: "max_scale" }]),
    ...(quota === undefined
      ? []
      : [{ value: quota, source: `quotas.max_replicas of environment ${environment?.name}` }]),
  ];
  const [smallest] = stated.toSorted((a, b) => a.value - b.value);
  return smallest === undefined ? {} : { max: smallest };
}

/**
 * The maximum of an autoscaler without a stated one, for functions with a required throughput. A function has one
 * scaler: where enforcement moves the replicas, there is no autoscaler that was not asked for.
 */
function derivedMaximum({ isEnforced, cluster }: ScaleInput, needed: number, quota: number): number | undefined {
  if (needed === 0 || isEnforced === true) return undefined;
  return Math.min(AUTOSCALER_FACTOR * needed, cluster.maxReplicas, quota);
}

/** The maximum of an autoscaler that enforcement may raise. */
function raisedMaximum({ enforced }: ScaleInput, stated: number, most: number): number {
  return Math.min(Math.max(enforced?.max_replicas ?? stated, stated), most);
}

function quotaViolations(
  quota: number | undefined,
  value: number | undefined,
  field: string,
  environment: Environment | undefined,
): Violation[] {
  if (quota === undefined || value === undefined || value <= quota) return [];
  return [
    {
      path: pathOf(ROOT_PATH, "provision_config", field),
      message: `${value} is above the ${quota} replicas that environment ${environment?.name} allows`,
      fix: `lower ${field} to ${quota} or raise quotas.max_replicas`,
    },
  ];
}

/** Replicas of a workload that cannot scale from zero: at least one, unless the maximum is zero. */
export function alwaysOnReplicas({ min, max }: Scale): number {
  return max === 0 ? 0 : Math.max(1, min);
}

/** The maximum of an autoscaler. */
export function autoscalerMaximum({ max, derivedMax }: Scale): number | undefined {
  return max ?? derivedMax;
}

/** The enforcement settings of a class: its own, else those of its environment. */
export function statedEnforcement(
  { enforcement, nfr }: ClassRuntimeSpec,
  environment: Environment | undefined,
): ClassRuntimeSpec["enforcement"] {
  return enforcement ?? nfr?.enforcement ?? environment?.spec.enforcement;
}

/** The maximum of a Knative Service, which has no limit without one or with zero. */
export function knativeMaxScale({ max, quota }: Scale): number | undefined {
  return max === undefined || max === 0 ? (quota ?? max) : max;
}
