import { DIMENSIONS, type PolicyDecision, type PolicyInput } from "@oaas/nfr";
import type { DecisionRecord } from "@oaas/nfr/policy";
import type { EnforceableClass } from "../../controller/reconcile/enforceable-class.ts";
import type { EnforceableValue } from "../../enforcement/enforceable-values.ts";
import type { DimensionState } from "../../mapping/status/enforcement-state.ts";
import { stateKey, type ClassMemory } from "./class-memory.ts";
import type { ComponentFindings } from "./policy-input.ts";

export type Action = Exclude<PolicyDecision, { readonly action: "hold" }>;

/** The decision on one value of a class. */
export interface Decided {
  readonly value: EnforceableValue;
  readonly input: PolicyInput;
  readonly decision: PolicyDecision;
  readonly found: ComponentFindings | undefined;
}

/** A decision to change the value, with its audit record. */
export interface DecidedAction extends Decided {
  readonly decision: Action;
  readonly record: DecisionRecord;
}

/** The states after the decisions, sorted, with those of components whose workload is missing now. */
export function nextStates(
  { components }: EnforceableClass,
  decided: readonly Decided[],
  { states }: ClassMemory,
): readonly DimensionState[] {
  const next = new Map<string, DimensionState>();
  for (const [key, state] of states) {
    const at = key.lastIndexOf("/");
    const component = key.slice(0, at);
    const dimension = DIMENSIONS.find((one) => one === key.slice(at + 1));
    if (dimension !== undefined && components.has(component)) next.set(key, { component, dimension, state });
  }
  for (const { input, decision } of decided) {
    const { component, dimension } = input;
    next.set(stateKey(input), { component, dimension, state: decision.next });
  }
  return [...next].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, state]) => state);
}

/** The field that an action changes. */
export function changedPath({ path, utilization }: EnforceableValue, decision: Action): string {
  return decision.utilization === undefined ? path : (utilization?.path ?? path);
}
