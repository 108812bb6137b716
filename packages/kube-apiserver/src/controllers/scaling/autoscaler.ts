import { equalJson, type KubeObject, type Stored } from "@oaas/kube-core";
import { createDecision, recordEvent, update, updateStatus, type Decision, type Step } from "../loop/decision.ts";
import { conditionIn, withCondition, type Claim } from "../objects/conditions.ts";
import { AUTOSCALERS, type Resource } from "../objects/resources.ts";
import { wholeSeconds } from "../objects/time.ts";
import type { Condition, Workload } from "../objects/typed.ts";
import { computeMetric, omitMetric, type MetricSpec } from "./autoscaler-metric.ts";

export interface Autoscaler extends KubeObject {
  readonly spec: {
    readonly scaleTargetRef: { readonly apiVersion?: string; readonly kind: string; readonly name: string };
    readonly minReplicas?: number;
    readonly maxReplicas: number;
    readonly metrics?: readonly MetricSpec[];
    readonly behavior?: { readonly scaleDown?: { readonly stabilizationWindowSeconds?: number } };
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

/** Past recommendations: scaling down follows the highest of the window. */
export interface Recommendation {
  readonly atMs: number;
  readonly replicas: number;
}

export interface AutoscalerState {
  readonly autoscaler: Stored<Autoscaler>;
  readonly target: { readonly kind: Resource; readonly object: Stored<Workload> } | undefined;
  readonly recommendations: readonly Recommendation[];
  readonly now: number;
}

export interface AutoscalerDecision {
  readonly decision: Decision;
  /** Recommendation to record. */
  readonly recommended?: number;
}

const TOLERANCE = 0.1;
const SYNC_MS = 15_000;
const DOWN_WINDOW_SECONDS = 300;

/** Follows the metric of its annotations, with the arithmetic of the real controller. */
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
  const { autoscaler } = state;
  const metric = computeMetric(autoscaler, current);
  if (!metric) return { decision: report(state, { conditions: [ABLE, omitMetric(autoscaler)], isFailed: true }) };
  const ratio = metric.value / metric.target;
  const recommended = Math.abs(ratio - 1) <= TOLERANCE ? current : Math.ceil(current * ratio);
  const stable = stabilizeReplicas(state, recommended);
  const boundedReplicas = boundReplicas(autoscaler, current, stable);
  const ready: Claim =
    stable > recommended
      ? createAbleCondition(
          "ScaleDownStabilized",
          "recent recommendations were higher than current one, applying the highest recent recommendation",
        )
      : createAbleCondition("ReadyForNewScale", "recommended size matches current size");
  const active: Claim = {
    type: "ScalingActive",
    status: "True",
    reason: "ValidMetricFound",
    message: `the HPA was able to successfully calculate a replica count from ${metric.text}`,
  };
  const changes = { metrics: [metric.status], conditions: [ready, active, boundedReplicas.claim] };
  if (boundedReplicas.replicas === current) {
    const waitMs = stable > recommended ? windowEndsInMs(state) : undefined;
    return { decision: report(state, { ...changes, desired: current }, waitMs), recommended };
  }
  const direction = boundedReplicas.replicas > current ? `${metric.text} above target` : "All metrics below target";
  return { ...createScaleSteps(state, boundedReplicas.replicas, direction, changes), recommended };
}

function createAbleCondition(reason: string, message: string): Claim {
  return { type: "AbleToScale", status: "True", reason, message };
}

function stabilizeReplicas({ autoscaler, recommendations, now }: AutoscalerState, recommended: number): number {
  const windowMs = (autoscaler.spec.behavior?.scaleDown?.stabilizationWindowSeconds ?? DOWN_WINDOW_SECONDS) * 1000;
  const recent = recommendations.filter(({ atMs }) => now - atMs < windowMs).map(({ replicas }) => replicas);
  return Math.max(recommended, ...recent);
}

function windowEndsInMs({ autoscaler, recommendations, now }: AutoscalerState): number | undefined {
  const windowMs = (autoscaler.spec.behavior?.scaleDown?.stabilizationWindowSeconds ?? DOWN_WINDOW_SECONDS) * 1000;
  const ends = recommendations.map(({ atMs }) => atMs + windowMs - now).filter((wait) => wait > 0);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** Scales up by at most double or four at a time, within the limits of the spec. */
function boundReplicas(
  { spec }: Autoscaler,
  current: number,
  desired: number,
): { readonly replicas: number; readonly claim: Claim } {
  const { minReplicas = 1, maxReplicas } = spec;
  const rate = Math.max(current * 2, current + 4);
  const createLimitedCondition = (reason: string, message: string): Claim => ({
    type: "ScalingLimited",
    status: "True",
    reason,
    message,
  });
  if (desired > Math.min(rate, maxReplicas)) {
    return rate < maxReplicas
      ? {
          replicas: rate,
          claim: createLimitedCondition(
            "ScaleUpLimit",
            "the desired replica count is increasing faster than the maximum scale rate",
          ),
        }
      : {
          replicas: maxReplicas,
          claim: createLimitedCondition(
            "TooManyReplicas",
            "the desired replica count is more than the maximum replica count",
          ),
        };
  }
  if (desired < minReplicas) {
    const claim = createLimitedCondition(
      "TooFewReplicas",
      "the desired replica count is less than the minimum replica count",
    );
    return { replicas: minReplicas, claim };
  }
  const message = "the desired count is within the acceptable range";
  return {
    replicas: desired,
    claim: { type: "ScalingLimited", status: "False", reason: "DesiredWithinRange", message },
  };
}

interface Changes {
  readonly conditions: readonly Claim[];
  readonly metrics?: readonly object[];
  readonly desired?: number;
  readonly isFailed?: boolean;
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
function failureEvents(autoscaler: Stored<Autoscaler>, { isFailed, conditions }: Changes): Step[] {
  const failed = conditions.find(({ type, status }) => type === "ScalingActive" && status === "False");
  const isKnown = conditionIn(autoscaler.status?.conditions, "ScalingActive")?.message === failed?.message;
  if (isFailed !== true || !failed || isKnown) return [];
  const cause = (failed.message ?? "").replace("the HPA was unable to compute the replica count: ", "");
  const name = autoscaler.spec.metrics?.[0]?.resource?.name ?? "cpu";
  const all = `invalid metrics (1 invalid out of 1), first error is: failed to get ${name} resource metric value: ${cause}`;
  return [
    recordEvent({ about: autoscaler, type: "Warning", reason: "FailedGetResourceMetric", message: cause }),
    recordEvent({ about: autoscaler, type: "Warning", reason: "FailedComputeMetricsReplicas", message: all }),
  ];
}
