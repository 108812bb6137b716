import {
  AccessModifier,
  BINDING_NAME,
  CLASS_KEY,
  ConsistencyModel,
  FUNCTION_KEY,
  LIST_LIMITS,
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
import { readBoolean, optional as orAbsent, withDefault } from "../../reading/fields.ts";
import {
  array,
  boolean,
  defaulted,
  enumeration,
  nested,
  nullable,
  omittedByDefault,
  optional,
  property,
  required,
  resource,
  string,
  viewedAs,
} from "../../reading/resource.ts";
import { screamingSnakeCase } from "../../reading/spelling.ts";

/** One key of a class's state. */
export const keySpecification = resource<KeySpecification>()({
  name: required("name", "Key name.", string()),
  keyType: required("key_type", "Key type, as named in your code.", string()),
  nullable: viewedAs(defaulted("nullable", "Whether the key may be absent.", boolean(), false), z.boolean().optional()),
});

/** The state of a class's objects. */
export const stateSpecification = resource<StateSpecification>()({
  keySpecs: omittedByDefault(
    "key_specs",
    "Keys of the state.",
    array(nested(keySpecification), LIST_LIMITS.keySpecs),
    [],
  ),
  defaultProvider: omittedByDefault(
    "default_provider",
    "Storage provider. Empty: the platform's default.",
    string(),
    "",
  ),
  consistencyModel: defaulted(
    "consistency_model",
    "Consistency of reads. Default: `NONE`. `STRONG` requires an odd number of at least 3 replicas and the shard type `raft`.",
    enumeration(ConsistencyModel, screamingSnakeCase),
    ConsistencyModel.none,
  ),
  persistent: defaulted("persistent", "Whether the state is stored on persistent volumes.", boolean(), false),
  serializationFormat: defaulted(
    "serialization_format",
    "Serialization format of values. Empty: the platform's default.",
    string(),
    "",
  ),
  shape: property({
    fields: {
      requires_singleton: {
        input: withDefault(readBoolean(), false),
        view: z.boolean().optional(),
        description: "The class has a single object: one partition.",
      },
      supports_batch_operations: {
        input: withDefault(readBoolean(), false),
        view: z.boolean().optional(),
        description: "Objects are read in batches: at least 4 partitions.",
      },
    },
    read: (json) => {
      if (json.requires_singleton) return StateShape.singleton;
      return json.supports_batch_operations ? StateShape.collection : StateShape.data;
    },
    write: (shape: StateShape) => ({
      requires_singleton: shape === StateShape.singleton || undefined,
      supports_batch_operations: shape === StateShape.collection || undefined,
    }),
  }),
  storageRequest: optional(
    "storage_request",
    "Size of one volume when `persistent` is set. Default: `1Gi`.",
    string(RESOURCE_QUANTITY),
  ),
});

/** A method of a class. */
export const functionBinding = resource<FunctionBinding>()({
  name: required("name", "Method name.", string(BINDING_NAME)),
  functionKey: required("function_key", "Key of a function in the same package.", string<FunctionKey>(FUNCTION_KEY)),
  accessModifier: defaulted(
    "access_modifier",
    "Visibility of the method. Default: `PUBLIC`.",
    enumeration(AccessModifier, screamingSnakeCase),
    AccessModifier.public,
  ),
  stateless: property({
    fields: {
      stateless: {
        input: orAbsent(readBoolean()),
        view: z.boolean(),
        description: "Whether the method does not access the object's state.",
      },
      // Peers of August 2025 send this name.
      immutable: { input: orAbsent(readBoolean()), view: undefined, description: "Deprecated alias of `stateless`." },
    },
    read: (json) => json.stateless ?? json.immutable ?? false,
    write: (stateless: boolean) => ({ stateless }),
  }),
  parameters: defaulted("parameters", "Parameter names.", array(string(), LIST_LIMITS.parameters), []),
  triggerOnStateChange: omittedByDefault(
    "trigger_on_state_change",
    "Run the function whenever the object's state changes.",
    boolean(),
    false,
  ),
  asyncExecution: omittedByDefault("async_execution", "Callers do not wait for the result.", boolean(), false),
});

/** A class of a package. */
export const classDefinition = resource<ClassDefinition>()({
  key: required(
    "key",
    "Class key, unique in the package; `package.Class` in the catalogue.",
    string<ClassKey>(CLASS_KEY),
  ),
  description: nullable("description", "Human-readable description.", string()),
  stateSpec: nullable(
    "state_spec",
    "State of the class's objects. Absent: the class is stateless and has no state store.",
    nested(stateSpecification),
  ),
  bindings: defaulted(
    "function_bindings",
    "Methods of the class.",
    array(nested(functionBinding), LIST_LIMITS.bindings),
    [],
  ),
  disabled: viewedAs(
    defaulted("disabled", "A disabled class cannot be deployed.", boolean(), false),
    z.boolean().optional(),
  ),
});

export const classView = classDefinition.view;
export const classToWire = classDefinition.toJson;
