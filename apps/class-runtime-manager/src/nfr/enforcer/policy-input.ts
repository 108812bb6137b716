import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { Blocker, PolicyInput, Recommendation, Urgency } from "@oaas/nfr";
import type { EnforceableClass } from "../../controller/reconcile/enforceable-class.ts";
import type { EnforceableValue } from "../../enforcement/enforceable-values.ts";
import { hasExpired, stateKey, type ClassMemory } from "./class-memory.ts";
import { recommendationFor } from "./recommendation-for.ts";

/** What the analyzer found about one component. */
export interface ComponentFindings {
  readonly component: string;
  readonly recommendations: readonly Recommendation[];
  readonly urgency: Urgency;
  readonly badness?: number;
  /** The age of the newest sample; absent without any. */
  readonly dataAgeMs?: number;
  /** The digest of the samples behind the recommendations; computed for actions only. */
  readonly digestSamples?: () => string;
}

/** The part of the input that is the same for all classes. */
export interface EnforcerState {
  readonly nowMs: number;
  readonly isFrozen: boolean;
  readonly leaderSinceMs: number;
  /** Whether the action budget of this minute has something left. */
  readonly hasBudget: boolean;
  /** Older measurements lead to no action. */
  readonly maxDataAgeMs: number;
}

/** The input of the policy for one value of a class. */
export function policyInput(
  { enforcement, status }: EnforceableClass,
  value: EnforceableValue,
  found: ComponentFindings | undefined,
  memory: ClassMemory,
  { nowMs, isFrozen, leaderSinceMs, hasBudget, maxDataAgeMs }: EnforcerState,
): PolicyInput {
  const { component, dimension, current, minimums, maximums, isAllowed, whyNotAllowed } = value;
  const recommendation = recommendationFor(value, found?.recommendations ?? []);
  const blockers = [
    ...value.blockers,
    ...(value.conflict === undefined ? [] : (["conflict"] as const)),
    ...phaseBlockers(status),
    ...dataBlockers(found, maxDataAgeMs),
    ...(hasExpired(memory.conflicts.get(component), nowMs) ? [] : (["conflict"] as const)),
    ...(hasBudget ? [] : (["budget"] as const)),
  ];
  return {
    nowMs,
    mode: enforcement.mode,
    component,
    dimension,
    isAllowed,
    ...(whyNotAllowed === undefined ? {} : { whyNotAllowed }),
    ...(recommendation ? { recommendation } : {}),
    current,
    ...(value.isMinimum ? { isMinimum: true } : {}),
    ...(value.utilization === undefined ? {} : { utilization: value.utilization.target }),
    minimums,
    maximums,
    urgency: found?.urgency ?? {},
    blockers,
    ...(enforcement.pausedUntilMs === undefined ? {} : { pausedUntilMs: enforcement.pausedUntilMs }),
    isFrozen,
    leaderSinceMs,
    ...(found?.badness === undefined ? {} : { badness: found.badness }),
    ...(value.schedulable === undefined ? {} : { schedulable: value.schedulable }),
    state: memory.states.get(stateKey({ component, dimension })) ?? { targets: [], directionChangesMs: [] },
  };
}

function dataBlockers(found: ComponentFindings | undefined, maxDataAgeMs: number): readonly Blocker[] {
  if (found?.dataAgeMs === undefined) return ["no-data"];
  return found.dataAgeMs > maxDataAgeMs ? ["data-outdated"] : [];
}

/** A class that is not available is not changed: its measurements tell nothing about its size. */
function phaseBlockers(status: ClassRuntimeStatus | undefined): readonly Blocker[] {
  if (status?.phase === "available") return [];
  if (isFieldConflict(status)) return ["conflict"];
  return status?.phase === "degraded" ? ["degraded"] : ["progressing"];
}

/** Whether another manager applies a field of a child; the message of the class names it. */
export function isFieldConflict(status: ClassRuntimeStatus | undefined): boolean {
  return status?.reason === "Conflict";
}
