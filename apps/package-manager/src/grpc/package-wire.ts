import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import {
  accessModifierToWire,
  consistencyWords,
  functionTypeWords,
  stateShapeWords,
  type EveryField,
  type OClass,
  type OFunction,
  type OPackage,
  type OPackageSchema,
  type StateSpecification as StateSpecificationWire,
} from "@oaas/contracts/grpc";
import { packageFromWire, omitUndefined, type provisionConfigToWire } from "@oaas/contracts/rest";
import { invalidArgument } from "@oaas/foundation";
import {
  podSettingsOf,
  StateShape,
  type ClassDefinition,
  type FunctionDefinition,
  type Package,
  type PodSettings,
  type StateSpecification,
} from "@oaas/models";

/** Reads a package of the gRPC contract. It goes through the REST form, so that both have the same rules and violation paths. */
export function packageOf(wire: OPackage | undefined): Package {
  if (!wire)
    throw invalidArgument("the request", [{ path: "$.package", message: "is missing", fix: "send the package" }]);
  const { metadata } = wire;
  const read = packageFromWire(
    omitUndefined({
      name: wire.name,
      version: wire.version,
      namespace: wire.namespace,
      disabled: wire.disabled,
      dependencies: wire.dependencies,
      metadata:
        metadata &&
        omitUndefined({
          author: nonEmpty(metadata.author),
          description: nonEmpty(metadata.description),
          tags: metadata.tags,
        }),
      classes: wire.classes.map(classOf),
      functions: wire.functions.map(functionOf),
    }),
  );
  if (!read.ok) throw invalidArgument(`package "${wire.name}"`, read.error);
  return read.value;
}

/** An empty string as undefined: proto3 cannot omit a plain string. */
function nonEmpty(text: string): string | undefined {
  return text === "" ? undefined : text;
}

function classOf(wire: OClass): object {
  return omitUndefined({
    key: wire.key,
    description: wire.description,
    disabled: wire.disabled,
    state_spec: wire.stateSpec && stateOf(wire.stateSpec),
    function_bindings: wire.functions.map((binding) =>
      omitUndefined({
        name: binding.name ?? binding.functionKey,
        function_key: binding.functionKey,
        access_modifier: (nonEmpty(binding.accessModifier) ?? "PUBLIC").toUpperCase(),
        stateless: binding.stateless,
        parameters: binding.parameters,
      }),
    ),
  });
}

function stateOf({ persistent, serializationFormat, state }: StateSpecificationWire): object {
  if (!state) return omitUndefined({ persistent, serialization_format: nonEmpty(serializationFormat) });
  const shape = stateShapeWords.fromWire(state.shape);
  return omitUndefined({
    persistent: state.persistent || persistent,
    serialization_format: state.serializationFormat ?? nonEmpty(serializationFormat),
    default_provider: state.defaultProvider,
    storage_request: state.storageRequest,
    consistency_model: screamingSnakeCase(consistencyWords.fromWire(state.consistencyModel) ?? "none"),
    requires_singleton: shape === StateShape.singleton,
    supports_batch_operations: shape === StateShape.collection,
    key_specs: state.keySpecs.map(({ name, keyType, nullable }) => ({
      name,
      key_type: keyType,
      nullable: nullable ?? false,
    })),
  });
}

function functionOf(wire: OFunction): object {
  const { metadata, provisionConfig: provision } = wire;
  const resources = metadata?.resourceRequirements;
  return omitUndefined({
    key: wire.key,
    description: nonEmpty(metadata?.description ?? ""),
    disabled: wire.disabled,
    function_type: screamingSnakeCase(
      (wire.functionType === undefined ? undefined : functionTypeWords.fromWire(wire.functionType)) ?? "custom",
    ),
    config: wire.config,
    provision_config:
      (provision ?? resources) &&
      omitUndefined({
        ...provision?.pod,
        container_image: provision?.containerImage,
        wasm_module_url: provision?.wasmModuleUrl,
        port: provision?.port,
        max_concurrency: provision?.maxConcurrency,
        need_http2: provision?.needHttp2,
        cpu_request: provision?.cpuRequest ?? nonEmpty(resources?.cpuRequest ?? ""),
        memory_request: provision?.memoryRequest ?? nonEmpty(resources?.memoryRequest ?? ""),
        cpu_limit: provision?.cpuLimit ?? resources?.cpuLimit,
        memory_limit: provision?.memoryLimit ?? resources?.memoryLimit,
        min_scale: provision?.minScale,
        max_scale: provision?.maxScale,
      } satisfies EveryField<Omit<ReturnType<typeof provisionConfigToWire>, keyof PodSettings>>),
  });
}

function screamingSnakeCase(word: string): string {
  return word.toUpperCase().replaceAll("-", "_");
}

/** A package in the form of the gRPC contract. */
export function packageToProto(definition: Package): MessageInitShape<typeof OPackageSchema> {
  const { metadata } = definition;
  return omitUndefined({
    name: definition.name,
    version: definition.version,
    namespace: definition.namespace,
    disabled: definition.disabled,
    dependencies: [...definition.dependencies],
    metadata: omitUndefined({
      author: metadata.author,
      description: metadata.description,
      tags: [...metadata.tags],
      createdAt: instant(metadata.createdAt),
      updatedAt: instant(metadata.updatedAt),
    }),
    classes: definition.classes.map((each) => classToProto(definition, each)),
    functions: definition.functions.map((each) => functionToProto(definition, each)),
  });
}

function instant(time: string | undefined): { readonly seconds: bigint; readonly nanos: number } | undefined {
  if (time === undefined) return undefined;
  const ms = Date.parse(time);
  return { seconds: BigInt(Math.floor(ms / 1000)), nanos: (ms % 1000) * 1_000_000 };
}

function classToProto({ name }: Package, definition: ClassDefinition) {
  return omitUndefined({
    key: definition.key,
    name: definition.key,
    package: name,
    disabled: definition.disabled,
    description: definition.description,
    stateSpec: definition.stateSpec && stateToProto(definition.stateSpec),
    functions: definition.bindings.map((binding) => ({
      functionKey: binding.functionKey,
      accessModifier: accessModifierToWire(binding.accessModifier),
      parameters: [...binding.parameters],
      name: binding.name,
      stateless: binding.stateless,
    })),
  });
}

function stateToProto(state: StateSpecification) {
  return {
    type: state.shape,
    persistent: state.persistent,
    serializationFormat: state.serializationFormat,
    state: omitUndefined({
      consistencyModel: consistencyWords.toWire(state.consistencyModel),
      persistent: state.persistent,
      shape: stateShapeWords.toWire(state.shape),
      serializationFormat: nonEmpty(state.serializationFormat),
      defaultProvider: nonEmpty(state.defaultProvider),
      storageRequest: state.storageRequest,
      keySpecs: state.keySpecs.map(({ name, keyType, nullable }) => ({ name, keyType, nullable })),
    }),
  };
}

function functionToProto({ name }: Package, definition: FunctionDefinition) {
  return omitUndefined({
    key: definition.key,
    name: definition.key,
    package: name,
    disabled: definition.disabled,
    metadata: omitUndefined({ description: definition.description }),
    functionType: functionTypeWords.toWire(definition.functionType),
    provisionConfig: definition.provision && {
      ...definition.provision,
      ...omitUndefined({ pod: podSettingsOf(definition.provision) as JsonObject | undefined }),
    },
    config: { ...definition.config },
  });
}
