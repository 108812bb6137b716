import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { RenderInput } from "../../rendering/model/render-input.ts";

/** Event settings of the state store, for triggers that functions add to objects. */
export interface Events {
  readonly enabled: boolean;
  readonly maxTriggerDepth: number;
  readonly triggerTimeoutMs: number;
}

/** Settings of the class, else of the environment. */
export function eventsOf({ spec, environment }: RenderInput): Events {
  const own = spec.odgm_config?.event_processing;
  const defaults = environment?.spec.odgm.defaults?.event_processing;
  return {
    enabled: own?.enabled ?? defaults?.enabled ?? true,
    maxTriggerDepth: own?.max_trigger_depth ?? defaults?.max_trigger_depth ?? 10,
    triggerTimeoutMs: own?.trigger_timeout_ms ?? defaults?.trigger_timeout_ms ?? 5000,
  };
}

/** Triggers that a class declares: the state store has no input for them. */
export function triggerWarnings({ spec }: RenderInput): readonly Violation[] {
  const paths = [
    ...(spec.function_bindings ?? []).flatMap(({ trigger_on_state_change: isTrigger }, index) =>
      isTrigger === true ? [pathOf(ROOT_PATH, "function_bindings", index, "trigger_on_state_change")] : [],
    ),
    ...((spec.odgm_config?.event_processing?.event_triggers ?? []).length === 0
      ? []
      : [pathOf(ROOT_PATH, "odgm_config", "event_processing", "event_triggers")]),
    ...(spec.functions ?? []).flatMap(({ odgm_integration: store }, index) =>
      (store?.event_triggers ?? []).length === 0
        ? []
        : [pathOf(ROOT_PATH, "functions", index, "odgm_integration", "event_triggers")],
    ),
  ];
  return paths.map((path) => ({
    path,
    message: "triggers of a class never run: this state store only runs triggers of objects",
    fix: "invoke the function where the object is written, or set a trigger on each object",
  }));
}
