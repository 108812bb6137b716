import {
  AccessModifier,
  BINDING_NAME,
  CLASS_KEY,
  ConsistencyModel,
  FUNCTION_KEY,
  RESOURCE_QUANTITY,
  StateShape,
  type ClassDefinition,
  type ClassKey,
  type FunctionBinding,
  type FunctionKey,
  type KeySpecification,
  type StateSpecification,
} from "@oaas/models";
import { z } from "zod";
import {
  choice,
  flag,
  input,
  listOf,
  optional,
  present,
  text,
  textOf,
  view,
  withDefault,
} from "../../reading/fields.ts";
import { screaming } from "../../reading/spelling.ts";

const no = () => withDefault(flag(), false);

const KEY_SPECIFICATION = {
  name: "Key name.",
  key_type: "Key type, as named in your code.",
  nullable: "Whether the key may be absent.",
};

/** What may be sent as a key of a class's state. */
export const keySpecificationInput = input(
  { name: text(), key_type: text(), nullable: no() },
  KEY_SPECIFICATION,
).transform((wire): KeySpecification => ({ name: wire.name, keyType: wire.key_type, nullable: wire.nullable }));

const STATE_SPECIFICATION = {
  key_specs: "Keys of the state.",
  default_provider: "Storage provider. Empty: the platform's default.",
  consistency_model:
    "Consistency of reads. Default: `NONE`. `STRONG` requires an odd number of at least 3 replicas and the shard type `raft`.",
  persistent: "Whether the state is stored on persistent volumes.",
  serialization_format: "Serialization format of values. Empty: the platform's default.",
  requires_singleton: "The class has a single object: one partition.",
  supports_batch_operations: "Objects are read in batches: at least 4 partitions.",
  storage_request: "Size of one volume when `persistent` is set. Default: `1Gi`.",
};

/** What may be sent as the state of a class. */
export const stateSpecificationInput = input(
  {
    key_specs: listOf(keySpecificationInput),
    default_provider: withDefault(text(), ""),
    consistency_model: withDefault(choice(ConsistencyModel, screaming), ConsistencyModel.none),
    persistent: no(),
    serialization_format: withDefault(text(), ""),
    requires_singleton: no(),
    supports_batch_operations: no(),
    storage_request: optional(textOf(RESOURCE_QUANTITY)),
  },
  STATE_SPECIFICATION,
).transform((wire): StateSpecification =>
  present({
    keySpecs: wire.key_specs,
    defaultProvider: wire.default_provider,
    consistencyModel: wire.consistency_model,
    shape: shapeOf(wire),
    persistent: wire.persistent,
    storageRequest: wire.storage_request,
    serializationFormat: wire.serialization_format,
  }),
);

/** One object for the whole class is the stronger wish of the two. */
function shapeOf(wire: { readonly requires_singleton: boolean; readonly supports_batch_operations: boolean }) {
  if (wire.requires_singleton) return StateShape.singleton;
  return wire.supports_batch_operations ? StateShape.collection : StateShape.data;
}

const FUNCTION_BINDING = {
  name: "Method name.",
  function_key: "Key of a function in the same package.",
  access_modifier: "Visibility of the method.",
  stateless: "Whether the method does not access the object's state.",
  parameters: "Parameter names.",
  trigger_on_state_change: "Run the function whenever the object's state changes.",
  async_execution: "Callers do not wait for the result.",
};

/** What may be sent as a method of a class. Peers of mid-August 2025 say `immutable` for `stateless`. */
export const functionBindingInput = input(
  {
    name: textOf(BINDING_NAME),
    function_key: textOf<FunctionKey>(FUNCTION_KEY),
    access_modifier: choice(AccessModifier, screaming),
    stateless: optional(flag()),
    immutable: optional(flag()),
    parameters: listOf(text()),
    trigger_on_state_change: no(),
    async_execution: no(),
  },
  { ...FUNCTION_BINDING, immutable: "Deprecated alias of `stateless`." },
).transform((wire): FunctionBinding => ({
  name: wire.name,
  functionKey: wire.function_key,
  accessModifier: wire.access_modifier,
  stateless: wire.stateless ?? wire.immutable ?? false,
  parameters: wire.parameters,
  triggerOnStateChange: wire.trigger_on_state_change,
  asyncExecution: wire.async_execution,
}));

const CLASS = {
  key: "Class key, unique in the package.",
  description: "Human-readable description.",
  state_spec: "State of the class's objects. Absent: the class is stateless and has no state store.",
  function_bindings: "Methods of the class.",
  disabled: "A disabled class cannot be deployed.",
};

/** What may be sent as a class. */
export const classInput = input(
  {
    key: textOf<ClassKey>(CLASS_KEY),
    description: optional(text()),
    state_spec: optional(stateSpecificationInput),
    function_bindings: listOf(functionBindingInput),
    disabled: no(),
  },
  CLASS,
).transform((wire): ClassDefinition =>
  present({
    key: wire.key,
    description: wire.description,
    stateSpec: wire.state_spec,
    bindings: wire.function_bindings,
    disabled: wire.disabled,
  }),
);

export const keySpecificationView = view(
  { name: z.string(), key_type: z.string(), nullable: z.boolean().optional() },
  KEY_SPECIFICATION,
);

export const stateSpecificationView = view(
  {
    key_specs: z.array(keySpecificationView).optional(),
    default_provider: z.string().optional(),
    consistency_model: z.enum(Object.values(ConsistencyModel).map(screaming)),
    persistent: z.boolean(),
    serialization_format: z.string(),
    requires_singleton: z.boolean().optional(),
    supports_batch_operations: z.boolean().optional(),
    storage_request: z.string().optional(),
  },
  STATE_SPECIFICATION,
);

export const functionBindingView = view(
  {
    name: z.string(),
    function_key: z.string(),
    access_modifier: z.enum(Object.values(AccessModifier).map(screaming)),
    stateless: z.boolean(),
    parameters: z.array(z.string()).readonly(),
    trigger_on_state_change: z.boolean().optional(),
    async_execution: z.boolean().optional(),
  },
  FUNCTION_BINDING,
);

/** A class as it is sent. */
export const classView = view(
  {
    key: z.string(),
    description: z.string().nullable(),
    state_spec: stateSpecificationView.nullable(),
    function_bindings: z.array(functionBindingView),
    disabled: z.boolean().optional(),
  },
  { ...CLASS, key: "Class key, unique in the package; `package.Class` in the catalogue." },
);

/** Writes a class in the contract's JSON. */
export function classToWire(definition: ClassDefinition): z.output<typeof classView> {
  return {
    key: definition.key,
    description: definition.description ?? null,
    state_spec: definition.stateSpec === undefined ? null : stateSpecificationToWire(definition.stateSpec),
    function_bindings: definition.bindings.map(functionBindingToWire),
    disabled: definition.disabled,
  };
}

function stateSpecificationToWire(state: StateSpecification): z.output<typeof stateSpecificationView> {
  return present({
    key_specs: state.keySpecs.length === 0 ? undefined : state.keySpecs.map(keySpecificationToWire),
    default_provider: state.defaultProvider === "" ? undefined : state.defaultProvider,
    consistency_model: screaming(state.consistencyModel),
    persistent: state.persistent,
    serialization_format: state.serializationFormat,
    requires_singleton: state.shape === StateShape.singleton || undefined,
    supports_batch_operations: state.shape === StateShape.collection || undefined,
    storage_request: state.storageRequest,
  });
}

function keySpecificationToWire(key: KeySpecification): z.output<typeof keySpecificationView> {
  return { name: key.name, key_type: key.keyType, nullable: key.nullable };
}

function functionBindingToWire(binding: FunctionBinding): z.output<typeof functionBindingView> {
  return present({
    name: binding.name,
    function_key: binding.functionKey,
    access_modifier: screaming(binding.accessModifier),
    stateless: binding.stateless,
    parameters: binding.parameters,
    trigger_on_state_change: binding.triggerOnStateChange || undefined,
    async_execution: binding.asyncExecution || undefined,
  });
}
