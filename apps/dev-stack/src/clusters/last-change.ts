import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { ClassState } from "./cluster-state.ts";

type EnforcementState = NonNullable<ClassRuntimeStatus["enforcement_state"]>[number];

/** The newest change by enforcement: `Sale.buy replicas 2 to 3, stable lane, 12:00:05 UTC`. */
export function lastChange(states: readonly EnforcementState[] = []): Pick<ClassState, "lastChange"> {
  const changes = states.flatMap(({ component, dimension, last_action: action }) =>
    action === undefined ? [] : [{ component, dimension, ...action }],
  );
  const [newest] = changes.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
  if (newest === undefined) return {};
  const { component, dimension, from, to, lane, at } = newest;
  const time = new Date(at).toISOString().slice("2026-01-01T".length, "2026-01-01T12:00:00".length);
  return { lastChange: `${component} ${dimension} ${from} to ${to}, ${lane} lane, ${time} UTC` };
}
