import {
  CONFIG_KEY,
  COUNT_RANGE,
  FUNCTION_KEY,
  IMAGE_REFERENCE,
  LIST_LIMITS,
  type FunctionDeployment,
  type FunctionKey,
  type ProvisionConfig,
} from "@oaas/models";
import {
  optional as orAbsent,
  omitUndefined,
  readRuledText,
  optionalUnlessEmpty,
  readInteger,
  withDefault,
} from "../../reading/fields.ts";
import {
  map,
  nested,
  omittedByDefault,
  optional,
  property,
  required,
  resource,
  string,
} from "../../reading/resource.ts";
import { provisionConfig, resourceRequirements, withDeprecatedFields } from "../package/provision-config.ts";
import { nfrRequirements, qosRequirement } from "./nfr-requirements.ts";

const DEPRECATED_PATHS = {
  minScale: "replicas",
  containerImage: "container_image",
  cpuRequest: "resource_requirements.cpu_request",
  memoryRequest: "resource_requirements.memory_request",
  cpuLimit: "resource_requirements.cpu_limit",
  memoryLimit: "resource_requirements.memory_limit",
};

/** Overrides for one function of a deployment. */
export const functionDeployment = resource<FunctionDeployment>()(
  {
    functionKey: required("function_key", "Function key.", string<FunctionKey>(FUNCTION_KEY)),
    description: optional("description", "Human-readable description.", string()),
    availableLocation: optional("available_location", "Location hint passed to the workload.", string()),
    qos: optional("qos_requirement", "Deprecated form of `nfr_requirements`.", nested(qosRequirement)),
    nfr: optional(
      "nfr_requirements",
      "Overrides the deployment's requirements for this function.",
      nested(nfrRequirements),
    ),
    provision: property({
      fields: {
        provision_config: {
          input: orAbsent(provisionConfig.input),
          view: provisionConfig.view.optional(),
          description: "Fields set here override the package's.",
        },
        // The form of August 2025.
        replicas: {
          input: orAbsent(readInteger(COUNT_RANGE)),
          view: undefined,
          description: "Deprecated alias of `provision_config.min_scale`.",
        },
        container_image: {
          input: optionalUnlessEmpty(readRuledText(IMAGE_REFERENCE)),
          view: undefined,
          description: "Deprecated alias of `provision_config.container_image`.",
        },
        resource_requirements: {
          input: withDefault(resourceRequirements.input, {}),
          view: undefined,
          description: "Deprecated location of the resources in `provision_config`.",
        },
      },
      read: (json) => readProvision(json).provision,
      write: (provision: ProvisionConfig | undefined) => ({
        provision_config: provision && provisionConfig.toJson(provision),
      }),
    }),
    config: omittedByDefault(
      "config",
      "Environment variables, merged over the package's. Secrets are masked in the same way.",
      map(string(), LIST_LIMITS.settings, CONFIG_KEY),
      {},
    ),
  },
  (json) => readProvision(json).violations,
);

function readProvision(json: {
  readonly provision_config?: ProvisionConfig | undefined;
  readonly replicas?: number | undefined;
  readonly container_image?: string | undefined;
  readonly resource_requirements?: Partial<ProvisionConfig>;
}) {
  const { provision_config, replicas, container_image, resource_requirements } = json;
  const deprecated = omitUndefined({ minScale: replicas, containerImage: container_image, ...resource_requirements });
  return withDeprecatedFields(provision_config, deprecated, DEPRECATED_PATHS);
}
