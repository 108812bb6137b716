import { equalJson, type KubeObject, type Stored } from "@oaas/kube-core";
import { stabilizationWindows, type HpaBehavior, type HpaMemory } from "@oaas/kube-core/autoscaling";
import { createDecision, recordEvent, update, updateStatus, type Decision, type Step } from "../loop/decision.ts";
import { conditionIn, withCondition, type Claim } from "../objects/conditions.ts";
import { AUTOSCALERS, type Resource } from "../objects/resources.ts";
import { wholeSeconds } from "../objects/time.ts";
import type { Condition, Workload } from "../objects/typed.ts";
import { proposeReplicas, type MetricSpec, type ResourceMetrics } from "./autoscaler-metric.ts";
import { normalizeReplicas } from "./scaling-behavior.ts";

export interface Autoscaler extends KubeObject {
  readonly spec: {
    readonly scaleTargetRef: { readonly apiVersion?: string; readonly kind: string; readonly name: string };
    readonly minReplicas?: number;
    readonly maxReplicas: number;
    readonly metrics?: readonly MetricSpec[];
    readonly behavior?: HpaBehavior;
  };
  readonly status?: AutoscalerStatus;
}

export interface AutoscalerStatus {
  readonly currentReplicas?: number;
  readonly desiredReplicas?: number;
  readonly lastScaleTime?: string;
  readonly currentMetrics?: readonly object[];
  readonly conditions?: readonly Condition[];
}

export interface AutoscalerState {
  readonly autoscaler: Stored<Autoscaler>;
  readonly target: { readonly kind: Resource; readonly object: Stored<Workload> } | undefined;
  readonly memory: HpaMemory;
  /** Absent in a cluster without a metrics API. */
  readonly measured?: ResourceMetrics;
  readonly now: number;
}

export interface AutoscalerDecision {
  readonly decision: Decision;
  /** What to remember, when it changes. */
  readonly memory?: HpaMemory;
}

/** The period of the real controller. */
export const SYNC_MS = 15_000;

/** Follows the metrics of its annotations or of the metrics API, with the arithmetic of the real controller. */
export function decideAutoscaler(state: AutoscalerState): AutoscalerDecision {
  const { autoscaler, target } = state;
  if (!target) return { decision: report(state, { conditions: [createUnableCondition(autoscaler)] }) };
  const current = target.object.spec?.replicas ?? 1;
  const { minReplicas = 1, maxReplicas } = autoscaler.spec;
  if (current === 0 && minReplicas !== 0)
    return { decision: report(state, { conditions: [ABLE, DISABLED], desired: 0 }) };
  if (current > maxReplicas)
    return createScaleSteps(state, maxReplicas, "Current number of replicas above Spec.MaxReplicas");
  if (current < minReplicas)
    return createScaleSteps(state, minReplicas, "Current number of replicas below Spec.MinReplicas");
  return followMetric(state, current);
}

const ABLE: Claim = {
  type: "AbleToScale",
  status: "True",
  reason: "SucceededGetScale",
  message: "the HPA controller was able to get the target's current scale",
};

const DISABLED: Claim = {
  type: "ScalingActive",
  status: "False",
  reason: "ScalingDisabled",
  message: "scaling is disabled since the replica count of the target is zero",
};

function createUnableCondition({ spec }: Autoscaler): Claim {
  const { kind, name } = spec.scaleTargetRef;
  const plural = `${kind.toLowerCase()}s.apps`;
  return {
    type: "AbleToScale",
    status: "False",
    reason: "FailedGetScale",
    message: `the HPA controller was unable to get the target's current scale: ${plural} "${name}" not found`,
  };
}

function followMetric(state: AutoscalerState, current: number): AutoscalerDecision {
  const { autoscaler, now, memory: before } = state;
  const { minReplicas: min = 1, maxReplicas: max, behavior } = autoscaler.spec;
  const proposed = proposeReplicas(autoscaler, current, state.measured);
  if ("claim" in proposed) {
    const failed = { conditions: [ABLE, proposed.claim], failure: proposed.summary };
    return { decision: report(state, failed, syncMs(state)) };
  }
  const result = normalizeReplicas({ behavior, current, desired: proposed.replicas, min, max, memory: before, now });
  const { memory } = result;
  const able = result.stabilization ?? { reason: "ReadyForNewScale", message: "recommended size matches current size" };
  const active: Claim = {
    type: "ScalingActive",
    status: "True",
    reason: "ValidMetricFound",
    message: `the HPA was able to successfully calculate a replica count from ${proposed.text}`,
  };
  const { isLimited, ...limit } = result.limit;
  const limited: Claim = { type: "ScalingLimited", status: isLimited ? "True" : "False", ...limit };
  const conditions = [createAbleCondition(able.reason, able.message), active, limited];
  const changes = { metrics: proposed.statuses, conditions };
  if (result.replicas === current) {
    const waitMs = result.stabilization || isLimited ? windowEndsInMs(state) : undefined;
    return { decision: report(state, { ...changes, desired: current }, syncMs(state) ?? waitMs), memory };
  }
  const direction = result.replicas > current ? `${proposed.text} above target` : "All metrics below target";
  return { ...createScaleSteps(state, result.replicas, direction, changes), memory };
}

/** Usage changes without a change of an object, so that it is read again; annotations do not. */
function syncMs({ measured }: AutoscalerState): number | undefined {
  return measured && SYNC_MS;
}

function createAbleCondition(reason: string, message: string): Claim {
  return { type: "AbleToScale", status: "True", reason, message };
}

/** When the next recommendation or change of the scale leaves its window. */
function windowEndsInMs({ autoscaler, memory, now }: AutoscalerState): number | undefined {
  const { upMs, downMs } = stabilizationWindows(autoscaler.spec.behavior);
  const windowMs = Math.max(upMs, downMs);
  const ends = memory.recommendations.map(({ atMs }) => atMs + windowMs - now).filter((wait) => wait > 0);
  const isRateLimited = memory.added.length + memory.removed.length > 0;
  const waits = isRateLimited ? [...ends, SYNC_MS] : ends;
  return waits.length === 0 ? undefined : Math.min(...waits);
}

interface Changes {
  readonly conditions: readonly Claim[];
  readonly metrics?: readonly object[];
  readonly desired?: number;
  /** The message of the Event when metrics cannot be computed. */
  readonly failure?: string;
  readonly isScaled?: boolean;
}

function createScaleSteps(
  state: AutoscalerState,
  replicas: number,
  reason: string,
  changes?: Changes,
): AutoscalerDecision {
  const { autoscaler, target } = state;
  if (!target) return { decision: createDecision([]) };
  const done = createAbleCondition(
    "SucceededRescale",
    `the HPA controller was able to update the target scale to ${replicas}`,
  );
  const others = changes?.conditions.filter(({ type }) => type !== "AbleToScale") ?? [];
  const message = `New size: ${replicas}; reason: ${reason}`;
  const { steps } = report(state, { ...changes, conditions: [done, ...others], desired: replicas, isScaled: true });
  const scale = update(target.kind, { ...target.object, spec: { ...target.object.spec, replicas } });
  const event = recordEvent({ about: autoscaler, type: "Normal", reason: "SuccessfulRescale", message });
  return { decision: createDecision([scale, event, ...steps], SYNC_MS) };
}

function report(state: AutoscalerState, changes: Changes, waitMs?: number): Decision {
  const { autoscaler, target, now } = state;
  const before = autoscaler.status ?? {};
  const conditions = changes.conditions.reduce<readonly Condition[]>(
    (list, claim) => withCondition(list, claim, now),
    before.conditions ?? [],
  );
  const status: AutoscalerStatus = {
    ...before,
    ...(target ? { currentReplicas: target.object.spec?.replicas ?? 1 } : {}),
    desiredReplicas: changes.desired ?? before.desiredReplicas ?? 0,
    ...(changes.metrics === undefined ? {} : { currentMetrics: changes.metrics }),
    ...(conditions.length === 0 ? {} : { conditions }),
    ...(changes.isScaled === true ? { lastScaleTime: wholeSeconds(now) } : {}),
  };
  if (equalJson(status, before)) return createDecision([], waitMs);
  return createDecision(
    [...failureEvents(autoscaler, changes), updateStatus(AUTOSCALERS, { ...autoscaler, status })],
    waitMs,
  );
}

/** Reported when it begins, not in every pass. */
function failureEvents(autoscaler: Stored<Autoscaler>, { failure, conditions }: Changes): Step[] {
  const failed = conditions.find(({ type, status }) => type === "ScalingActive" && status === "False");
  const isKnown = conditionIn(autoscaler.status?.conditions, "ScalingActive")?.message === failed?.message;
  if (failure === undefined || !failed || isKnown) return [];
  const message = (failed.message ?? "").replace("the HPA was unable to compute the replica count: ", "");
  return [
    recordEvent({ about: autoscaler, type: "Warning", reason: "FailedGetResourceMetric", message }),
    recordEvent({ about: autoscaler, type: "Warning", reason: "FailedComputeMetricsReplicas", message: failure }),
  ];
}
