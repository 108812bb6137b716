import type {
  AccessModifier,
  ConsistencyModel,
  DeploymentCondition,
  EnforcementDimension,
  EnforcementMode,
  FunctionType,
  LifecyclePhase,
  RuntimePhase,
  StateShape,
} from "@oaas/models";
import * as common from "../gen/common_pb.ts";
import * as types from "../gen/deployment_types_pb.ts";
import * as runtime from "../gen/runtime_pb.ts";

/**
 * The names of all fields of a message or a kind. A mapping ends in `satisfies EveryField<…>`, so that a new field does
 * not compile until it is mapped.
 */
export type EveryField<T> = Readonly<Record<Exclude<keyof T, "$typeName" | "$unknown">, unknown>>;

/** Converts between a domain value and its enum value on the wire. */
export interface EnumWords<Word extends string, Value> {
  readonly toWire: (word: Word) => Value;
  /** Undefined for "unspecified" and for unknown values of newer peers. */
  readonly fromWire: (value: number) => Word | undefined;
}

function enumWords<Word extends string, Value extends number>(
  values: Readonly<Record<Word, Value>>,
): EnumWords<Word, Value> {
  const words = new Map<number, Word>();
  for (const word of Object.keys(values) as Word[]) words.set(values[word], word);
  return { toWire: (word) => values[word], fromWire: (value) => words.get(value) };
}

/** oaas.runtime.DeploymentCondition, which has no `degraded`. */
export const conditionWords = enumWords({
  unknown: runtime.DeploymentCondition.DEPLOYMENT_CONDITION_UNKNOWN,
  pending: runtime.DeploymentCondition.PENDING,
  deploying: runtime.DeploymentCondition.DEPLOYING,
  running: runtime.DeploymentCondition.RUNNING,
  down: runtime.DeploymentCondition.DOWN,
  deleted: runtime.DeploymentCondition.DELETED,
} satisfies Record<Exclude<DeploymentCondition, "degraded">, number>);

/** oaas.runtime.DeploymentPhase. */
export const phaseWords = enumWords({
  unknown: runtime.DeploymentPhase.DEPLOYMENT_PHASE_UNKNOWN,
  "resource-provisioning": runtime.DeploymentPhase.RESOURCE_PROVISIONING,
  running: runtime.DeploymentPhase.PHASE_RUNNING,
  failed: runtime.DeploymentPhase.FAILED,
} satisfies Record<RuntimePhase, number>);

/** oaas.runtime.LifecyclePhase. */
export const lifecyclePhaseWords = enumWords({
  pending: runtime.LifecyclePhase.PENDING,
  applying: runtime.LifecyclePhase.APPLYING,
  progressing: runtime.LifecyclePhase.PROGRESSING,
  available: runtime.LifecyclePhase.AVAILABLE,
  degraded: runtime.LifecyclePhase.DEGRADED,
  deleting: runtime.LifecyclePhase.DELETING,
} satisfies Record<LifecyclePhase, number>);

/** oaas.common.ConsistencyModel. */
export const consistencyWords = enumWords({
  none: common.ConsistencyModel.NONE,
  "read-your-write": common.ConsistencyModel.READ_YOUR_WRITE,
  "bounded-staleness": common.ConsistencyModel.BOUNDED_STALENESS,
  strong: common.ConsistencyModel.STRONG,
} satisfies Record<ConsistencyModel, number>);

/** oaas.deployment.StateShape. */
export const stateShapeWords = enumWords({
  data: types.StateShape.DATA,
  singleton: types.StateShape.SINGLETON,
  collection: types.StateShape.COLLECTION,
} satisfies Record<StateShape, number>);

/** oaas.deployment.FunctionType. */
export const functionTypeWords = enumWords({
  builtin: types.FunctionType.BUILTIN,
  custom: types.FunctionType.CUSTOM,
  macro: types.FunctionType.MACRO,
  logical: types.FunctionType.LOGICAL,
  wasm: types.FunctionType.WASM,
} satisfies Record<FunctionType, number>);

/** oaas.deployment.EnforcementMode. */
export const enforcementModeWords = enumWords({
  off: types.EnforcementMode.OFF,
  observe: types.EnforcementMode.OBSERVE,
  enforce: types.EnforcementMode.ENFORCE,
} satisfies Record<EnforcementMode, number>);

/** oaas.deployment.EnforcementDimension. */
export const enforcementDimensionWords = enumWords({
  replicas: types.EnforcementDimension.REPLICAS,
  cpu: types.EnforcementDimension.CPU,
  memory: types.EnforcementDimension.MEMORY,
} satisfies Record<EnforcementDimension, number>);

const ACCESS_MODIFIERS = { public: "Public", internal: "Internal", private: "Private" } as const satisfies Record<
  AccessModifier,
  string
>;

/** The spelling in `ClassFunctionBinding.access_modifier`, which is a string. */
export function accessModifierToWire(modifier: AccessModifier): string {
  return ACCESS_MODIFIERS[modifier];
}

/** Parses a modifier, case-insensitive; undefined for anything else. */
export function accessModifierFromWire(text: string): AccessModifier | undefined {
  const word = text.toLowerCase();
  return Object.hasOwn(ACCESS_MODIFIERS, word) ? (word as AccessModifier) : undefined;
}
