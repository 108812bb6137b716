import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import { classRequirements } from "../../rendering/plan/requirements.ts";
import type { RenderInput } from "../../rendering/model/render-input.ts";
import { classKeyOf } from "./collections.ts";

type EventProcessing = NonNullable<NonNullable<ClassRuntimeSpec["odgm_config"]>["event_processing"]>;
type Trigger = NonNullable<EventProcessing["event_triggers"]>[number];

/** Triggers on state changes, with all decisions made. */
export interface Events {
  readonly enabled: boolean;
  readonly maxTriggerDepth: number;
  readonly triggerTimeoutMs: number;
  readonly triggers: readonly Trigger[];
  readonly batch: { readonly enabled: boolean; readonly batch_size: number; readonly batch_timeout_ms: number };
}

const LOW_LATENCY_MS = 100;
const DEFAULT_TIMEOUT_MS = 5000;
const MIN_TIMEOUT_MS = 1000;

/** Settings of the class, else of the environment, else derived from the required latency. */
export function eventsOf(input: RenderInput): Events {
  const { spec, environment } = input;
  const own = spec.odgm_config?.event_processing;
  const defaults = environment?.spec.odgm.defaults?.event_processing;
  const triggers = distinct([
    ...(own?.event_triggers ?? defaults?.event_triggers ?? []),
    ...(spec.functions ?? []).flatMap((fn) => fn.odgm_integration?.event_triggers ?? []),
    ...boundTriggers(input),
  ]);
  const enabled = own?.enabled ?? defaults?.enabled ?? triggers.length > 0;
  // Without events, a changed latency must not restart the state store.
  const latencyMs = enabled ? classRequirements(spec, environment).latencyMs : undefined;
  return {
    enabled,
    maxTriggerDepth:
      own?.max_trigger_depth ??
      defaults?.max_trigger_depth ??
      (latencyMs !== undefined && latencyMs < LOW_LATENCY_MS ? 5 : 10),
    triggerTimeoutMs:
      own?.trigger_timeout_ms ??
      defaults?.trigger_timeout_ms ??
      (latencyMs === undefined ? DEFAULT_TIMEOUT_MS : Math.max(MIN_TIMEOUT_MS, Math.floor(latencyMs / 2))),
    triggers,
    batch: own?.batch_processing ??
      defaults?.batch_processing ?? { enabled: true, batch_size: 100, batch_timeout_ms: 1000 },
  };
}

/** Functions that run when the state of the class changes. */
function boundTriggers(input: RenderInput): readonly Trigger[] {
  return (input.spec.function_bindings ?? [])
    .filter((binding) => binding.trigger_on_state_change === true)
    .map((binding) => ({
      function_key: binding.function_key,
      trigger_type: "state_change",
      collection_filters: [`${classKeyOf(input)}_*`],
      async_execution: binding.async_execution ?? false,
    }));
}

function distinct(triggers: readonly Trigger[]): readonly Trigger[] {
  const seen = new Map(
    triggers.toReversed().map((trigger) => [`${trigger.trigger_type} ${trigger.function_key}`, trigger]),
  );
  return triggers.filter((trigger) => seen.get(`${trigger.trigger_type} ${trigger.function_key}`) === trigger);
}
