import { CONFIG_KEY, FUNCTION_KEY, FunctionType, type FunctionDefinition, type FunctionKey } from "@oaas/models";
import { z } from "zod";
import {
  choice,
  flag,
  input,
  mapOf,
  optional,
  present,
  text,
  textOf,
  view,
  withDefault,
} from "../../reading/fields.ts";
import { screaming } from "../../reading/spelling.ts";
import {
  provisionConfigInput,
  provisionConfigToWire,
  provisionConfigView,
  provisionWithOlder,
  resourceRequirementsInput,
} from "./provision-config.ts";

/** Where peers of mid-August 2025 kept the description and the resources of a function. */
const olderMetadata = input(
  {
    description: optional(text()),
    resource_requirements: withDefault(resourceRequirementsInput, {}),
  },
  {
    description: "Deprecated location of `description`.",
    resource_requirements: "Deprecated location of the resources in `provision_config`.",
  },
);

const OLDER_NAMES = {
  cpuRequest: "metadata.resource_requirements.cpu_request",
  memoryRequest: "metadata.resource_requirements.memory_request",
  cpuLimit: "metadata.resource_requirements.cpu_limit",
  memoryLimit: "metadata.resource_requirements.memory_limit",
};

const FUNCTION = {
  key: "Function key, unique in the package.",
  function_type: "Function type. Default: `CUSTOM`.",
  description: "Human-readable description.",
  provision_config: "Image, port, resources and scale.",
  config: "Environment variables of its container.",
  disabled: "A disabled function cannot be deployed.",
};

/** What may be sent as a function of a package. */
export const functionInput = input(
  {
    key: textOf<FunctionKey>(FUNCTION_KEY),
    function_type: withDefault(choice(FunctionType, screaming), FunctionType.custom),
    description: optional(text()),
    provision_config: optional(provisionConfigInput),
    config: mapOf(text(), CONFIG_KEY),
    disabled: withDefault(flag(), false),
    metadata: optional(olderMetadata),
  },
  { ...FUNCTION, metadata: "Deprecated location of description and resources; accepted, never returned." },
  (members) => withOlderMetadata(members).violations,
).transform((wire): FunctionDefinition =>
  present({
    key: wire.key,
    functionType: wire.function_type,
    description: wire.description ?? wire.metadata?.description,
    provision: withOlderMetadata(wire).provision,
    config: wire.config,
    disabled: wire.disabled,
  }),
);

type Members = {
  readonly provision_config?: Parameters<typeof provisionWithOlder>[0];
  readonly metadata?: z.output<typeof olderMetadata> | undefined;
};

function withOlderMetadata({ provision_config, metadata }: Members) {
  return provisionWithOlder(provision_config, metadata?.resource_requirements ?? {}, OLDER_NAMES);
}

/** A function as it is sent. */
export const functionView = view(
  {
    key: z.string(),
    function_type: z.enum(Object.values(FunctionType).map(screaming)),
    description: z.string().nullable(),
    provision_config: provisionConfigView.nullable(),
    config: z.record(z.string(), z.string()).readonly(),
    disabled: z.boolean().optional(),
  },
  FUNCTION,
);

/** Writes a function in the contract's JSON. */
export function functionToWire(definition: FunctionDefinition): z.output<typeof functionView> {
  return {
    key: definition.key,
    function_type: screaming(definition.functionType),
    description: definition.description ?? null,
    provision_config: definition.provision === undefined ? null : provisionConfigToWire(definition.provision),
    config: definition.config,
    disabled: definition.disabled,
  };
}
