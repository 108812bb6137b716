import {
  CONFIG_KEY,
  COUNT_RANGE,
  FUNCTION_KEY,
  IMAGE_REFERENCE,
  type FunctionDeployment,
  type FunctionKey,
  type ProvisionConfig,
} from "@oaas/models";
import { z } from "zod";
import {
  input,
  mapOf,
  optional,
  present,
  text,
  textOf,
  unlessEmpty,
  view,
  whole,
  withDefault,
} from "../../reading/fields.ts";
import {
  nfrRequirementsInput,
  nfrRequirementsToWire,
  nfrRequirementsView,
  qosRequirementInput,
  qosRequirementView,
} from "./nfr-requirements.ts";
import {
  provisionConfigInput,
  provisionConfigToWire,
  provisionConfigView,
  provisionWithOlder,
  resourceRequirementsInput,
} from "../package/provision-config.ts";

const OLDER_NAMES = {
  minScale: "replicas",
  containerImage: "container_image",
  cpuRequest: "resource_requirements.cpu_request",
  memoryRequest: "resource_requirements.memory_request",
  cpuLimit: "resource_requirements.cpu_limit",
  memoryLimit: "resource_requirements.memory_limit",
};

const FUNCTION_DEPLOYMENT = {
  function_key: "Function key.",
  description: "Human-readable description.",
  available_location: "Location hint passed to the workload.",
  qos_requirement: "Deprecated form of `nfr_requirements`.",
  nfr_requirements: "Overrides the deployment's requirements for this function.",
  provision_config: "Fields set here override the package's.",
  config: "Environment variables, merged over the package's.",
};

/** What may be sent as a function of a deployment; `replicas`, `container_image` and `resource_requirements` as in August 2025. */
export const functionDeploymentInput = input(
  {
    function_key: textOf<FunctionKey>(FUNCTION_KEY),
    description: optional(text()),
    available_location: optional(text()),
    qos_requirement: optional(qosRequirementInput),
    nfr_requirements: optional(nfrRequirementsInput),
    provision_config: optional(provisionConfigInput),
    config: mapOf(text(), CONFIG_KEY),
    replicas: optional(whole(COUNT_RANGE)),
    container_image: unlessEmpty(textOf(IMAGE_REFERENCE)),
    resource_requirements: withDefault(resourceRequirementsInput, {}),
  },
  {
    ...FUNCTION_DEPLOYMENT,
    replicas: "Deprecated alias of `provision_config.min_scale`.",
    container_image: "Deprecated alias of `provision_config.container_image`.",
    resource_requirements: "Deprecated location of the resources in `provision_config`.",
  },
  (members) => withOlderMembers(members).violations,
).transform((wire): FunctionDeployment =>
  present({
    functionKey: wire.function_key,
    description: wire.description,
    availableLocation: wire.available_location,
    qos: wire.qos_requirement,
    nfr: wire.nfr_requirements,
    provision: withOlderMembers(wire).provision,
    config: wire.config,
  }),
);

type Members = {
  readonly provision_config?: ProvisionConfig | undefined;
  readonly replicas?: number | undefined;
  readonly container_image?: string | undefined;
  readonly resource_requirements?: Partial<ProvisionConfig>;
};

function withOlderMembers({ provision_config, replicas, container_image, resource_requirements }: Members) {
  const older = present({ minScale: replicas, containerImage: container_image, ...resource_requirements });
  return provisionWithOlder(provision_config, older, OLDER_NAMES);
}

/** A function of a deployment as it is sent. */
export const functionDeploymentView = view(
  {
    function_key: z.string(),
    description: z.string().optional(),
    available_location: z.string().optional(),
    qos_requirement: qosRequirementView.optional(),
    nfr_requirements: nfrRequirementsView.optional(),
    provision_config: provisionConfigView.optional(),
    config: z.record(z.string(), z.string()).readonly().optional(),
  },
  FUNCTION_DEPLOYMENT,
);

/** Writes a function of a deployment in the contract's JSON. */
export function functionDeploymentToWire(spec: FunctionDeployment): z.output<typeof functionDeploymentView> {
  return present({
    function_key: spec.functionKey,
    description: spec.description,
    available_location: spec.availableLocation,
    qos_requirement: spec.qos,
    nfr_requirements: spec.nfr && nfrRequirementsToWire(spec.nfr),
    provision_config: spec.provision && provisionConfigToWire(spec.provision),
    config: Object.keys(spec.config).length === 0 ? undefined : spec.config,
  });
}
