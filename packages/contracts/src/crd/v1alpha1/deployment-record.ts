import { z } from "zod";
import { keyedList } from "../collections.ts";
import { withRules } from "../rule.ts";
import { classRequests, oneEnforcement, telemetry } from "./class-parts.ts";
import { functionBinding, functionContainer, unitFunction } from "./function.ts";
import { nfrRequirements } from "./nfr.ts";
import { kubernetesObject, type ObjectInput } from "./object.ts";
import { odgmConfig } from "./odgm.ts";
import {
  classKey,
  deploymentKey,
  userTimestamp,
  image,
  packageName,
  port,
  quantity,
  shortName,
  templateName,
} from "./scalars.ts";
import { classStatusFields } from "./status.ts";

const deploymentUnit = z.object({
  id: deploymentKey.describe("Deployment unit id."),
  package_name: packageName.optional().describe("Package name."),
  class_key: classKey.optional().describe("Class key."),
  functions: keyedList(unitFunction, "function_key", 128).optional().describe("Functions of the class."),
  function_bindings: keyedList(functionBinding, "name", 256).optional().describe("Methods of the class, by name."),
  target_env: shortName.optional().describe("Name of the EnvironmentConfig; spec.target_environment takes precedence."),
  target_cluster: shortName.optional().describe("Target cluster."),
  nfr_requirements: nfrRequirements.optional().describe("Non-functional requirements of the class."),
  odgm_config: odgmConfig.optional().describe("State store settings; spec.odgm_config takes precedence."),
  selected_template: templateName.optional().describe("Template; spec.selected_template takes precedence."),
  telemetry: telemetry.optional().describe("OpenTelemetry settings; spec.telemetry takes precedence."),
  created_at: userTimestamp.optional().describe("Creation time of the unit."),
});

const spec = withRules(
  z.object({
    deployment_unit: deploymentUnit.optional().describe("The deployment unit, as sent by the package manager."),
    function: z
      .object({
        image: image.optional().describe("Container image. Default: the environment's function image."),
        port: port.default(8080).describe("Port the container listens on."),
      })
      .optional()
      .describe("Short form for a class with one function."),
    function_containers: keyedList(functionContainer, "function_key", 128)
      .optional()
      .describe("Functions of the class."),
    ...classRequests,
  }),
  {
    cel: "has(self.function) || has(self.deployment_unit) || has(self.odgm_config) || has(self.state_spec) || (has(self.function_containers) && size(self.function_containers) > 0)",
    message:
      "a class needs functions or state: set function, function_containers, deployment_unit, odgm_config or state_spec",
    holds: (value) =>
      value.function !== undefined ||
      value.deployment_unit !== undefined ||
      value.odgm_config !== undefined ||
      value.state_spec !== undefined ||
      (value.function_containers ?? []).length > 0,
  },
  {
    cel: "!(has(self.function) && has(self.function_containers))",
    message: "function is the short form of one entry of function_containers: set only one of them",
    at: "function",
    holds: (value) => value.function === undefined || value.function_containers === undefined,
  },
  oneEnforcement,
);

const status = z.object({
  ...classStatusFields,
  function_container_status: keyedList(
    z.object({
      function_key: z.string().max(253).describe("Function key."),
      container_status: z.string().max(64).optional().describe("Running, Waiting or Terminated."),
      resource_usage: z
        .object({
          cpu: quantity.optional().describe("CPU of one replica."),
          memory: quantity.optional().describe("Memory of one replica."),
        })
        .optional()
        .describe(
          "Measured usage behind the recommendations (90th percentile of the window), updated with them. Absent while the function is not measured. Present usage: oaas top.",
        ),
      health_status: z.string().max(64).optional().describe("healthy, degraded or unknown."),
      odgm_connection_status: z.string().max(64).optional().describe("Connection to the state store."),
    }),
    "function_key",
    128,
  )
    .optional()
    .describe("Container status of each function."),
});

/** The deprecated form of a class runtime, from the first design documents, served by the same reconciler. */
export const deploymentRecord = kubernetesObject("DeploymentRecord", spec, status);

/** A DeploymentRecord after parsing, with defaults. */
export type DeploymentRecord = z.output<typeof deploymentRecord>;
/** A DeploymentRecord before parsing. */
export type DeploymentRecordInput = ObjectInput<typeof deploymentRecord>;
export type DeploymentRecordSpec = DeploymentRecord["spec"];
export type DeploymentRecordStatus = NonNullable<DeploymentRecord["status"]>;
