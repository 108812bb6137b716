import {
  CONFIG_KEY,
  FUNCTION_KEY,
  FunctionType,
  LIST_LIMITS,
  type FunctionDefinition,
  type FunctionKey,
} from "@oaas/models";
import { z } from "zod";
import { field, input, optional as orAbsent, readText, withDefault } from "../../reading/fields.ts";
import {
  boolean,
  defaulted,
  enumeration,
  map,
  property,
  required,
  resource,
  string,
  viewedAs,
} from "../../reading/resource.ts";
import { screamingSnakeCase } from "../../reading/spelling.ts";
import { provisionConfig, resourceRequirements, withDeprecatedFields } from "./provision-config.ts";

/** Where peers of August 2025 put the description and the resources of a function. */
export const functionMetadataInput = input({
  description: field("Deprecated location of `description`.", orAbsent(readText())),
  resource_requirements: field(
    "Deprecated location of the resources in `provision_config`.",
    withDefault(resourceRequirements.input, {}),
  ),
});

const metadata = {
  input: orAbsent(functionMetadataInput),
  view: undefined,
  description: "Deprecated location of description and resources; accepted, never returned.",
};

const DEPRECATED_PATHS = {
  cpuRequest: "metadata.resource_requirements.cpu_request",
  memoryRequest: "metadata.resource_requirements.memory_request",
  cpuLimit: "metadata.resource_requirements.cpu_limit",
  memoryLimit: "metadata.resource_requirements.memory_limit",
};

/** A function of a package. */
export const functionDefinition = resource<FunctionDefinition>()(
  {
    key: required("key", "Function key, unique in the package.", string<FunctionKey>(FUNCTION_KEY)),
    functionType: defaulted(
      "function_type",
      "Function type. Default: `CUSTOM`.",
      enumeration(FunctionType, screamingSnakeCase),
      FunctionType.custom,
    ),
    description: property({
      fields: {
        description: {
          input: orAbsent(readText()),
          view: z.string().nullable(),
          description: "Human-readable description.",
        },
        metadata,
      },
      read: (json) => json.description ?? json.metadata?.description,
      write: (description: string | undefined) => ({ description: description ?? null }),
    }),
    provision: property({
      fields: {
        provision_config: {
          input: orAbsent(provisionConfig.input),
          view: provisionConfig.view.nullable(),
          description: "Image, port, resources and scale.",
        },
        metadata,
      },
      read: (json) => readProvision(json).provision,
      write: (provision: FunctionDefinition["provision"]) => ({
        provision_config: provision === undefined ? null : provisionConfig.toJson(provision),
      }),
    }),
    config: defaulted(
      "config",
      "Environment variables of the container. Secrets are `***` for viewers, and in events, plans, diffs and revisions.",
      map(string(), LIST_LIMITS.settings, CONFIG_KEY),
      {},
    ),
    disabled: viewedAs(
      defaulted("disabled", "A disabled function cannot be deployed.", boolean(), false),
      z.boolean().optional(),
    ),
  },
  (json) => readProvision(json).violations,
);

export const functionView = functionDefinition.view;
export const functionToWire = functionDefinition.toJson;

function readProvision(json: {
  readonly provision_config?: FunctionDefinition["provision"];
  readonly metadata?: z.output<(typeof metadata)["input"]>;
}) {
  return withDeprecatedFields(json.provision_config, json.metadata?.resource_requirements ?? {}, DEPRECATED_PATHS);
}
