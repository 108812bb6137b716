import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { PolicyState } from "@oaas/nfr";
import { policyStateFromStatus } from "../../mapping/status/enforcement-state.ts";

/** What is remembered of one class while this process leads. */
export interface ClassMemory {
  states: Map<string, PolicyState>;
  writtenAtMs: number;
  /** Foreign scalers by component, with the time of the next check. */
  readonly conflicts: Map<string, { readonly message: string; readonly untilMs: number }>;
  /** After a failure, nothing is tried before this time. */
  failure?: { readonly message: string; readonly untilMs: number };
  /** Resizes that the server would reject, by component and dimension. */
  readonly refused: Map<string, { readonly message: string; readonly untilMs: number }>;
  /** After the server rejected a write. */
  rejected?: { readonly untilMs: number };
}

/** Continues with the states that the last leader wrote. */
export function restoreMemory(status: ClassRuntimeStatus | undefined): ClassMemory {
  const states = (status?.enforcement_state ?? []).map(policyStateFromStatus);
  return {
    states: new Map(states.map((one) => [stateKey(one), one.state])),
    writtenAtMs: Number.NEGATIVE_INFINITY,
    conflicts: new Map(),
    refused: new Map(),
  };
}

export function stateKey({ component, dimension }: { readonly component: string; readonly dimension: string }): string {
  return `${component}/${dimension}`;
}

export function hasExpired(entry: { readonly untilMs: number } | undefined, nowMs: number): boolean {
  return entry === undefined || entry.untilMs <= nowMs;
}
