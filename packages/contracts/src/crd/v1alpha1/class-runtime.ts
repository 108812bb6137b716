import { z } from "zod";
import { keyedList } from "../collections.ts";
import { withRules } from "../rule.ts";
import { classRequests, oneEnforcement } from "./class-parts.ts";
import { classFunction } from "./function.ts";
import { kubernetesObject, type ObjectInput } from "./object.ts";
import { deploymentKey, userTimestamp, odgmId, qualifiedClassKey, shortName } from "./scalars.ts";
import { classStatusFields } from "./status.ts";

/** The origin of a deployment unit, so that GetDeploymentStatus can return the complete unit. */
const origin = z.object({
  deployment_id: deploymentKey.optional().describe("Deployment unit id; the idempotency key of Deploy."),
  deployment_key: deploymentKey.optional().describe("Key of the user's deployment."),
  target_env: shortName.optional().describe("Target cluster, as named by the package manager."),
  revision: odgmId.optional().describe("Revision of the sender; requests with a lower revision are rejected."),
  digest: z.string().max(253).optional().describe("Digest of the desired state, computed by the sender."),
  package_revision: z.string().max(253).optional().describe("Revision of the class's package."),
  managed_by: z.string().max(253).optional().describe("Package manager that owns the unit."),
  created_at: userTimestamp.optional().describe("Creation time of the unit."),
});

const spec = withRules(
  z.object({
    package_class_key: qualifiedClassKey.optional().describe("Package and class, e.g. shop.Order."),
    functions: keyedList(classFunction, "function_key", 128).optional().describe("Functions of the class."),
    origin: origin.optional().describe("Origin of the unit; written by the gRPC service."),
    ...classRequests,
  }),
  {
    cel: "(has(self.functions) && size(self.functions) > 0) || has(self.odgm_config) || has(self.state_spec)",
    message: "a class needs functions or state: set functions, odgm_config or state_spec",
    at: "functions",
    holds: ({ functions = [], odgm_config: odgm, state_spec: state }) =>
      functions.length > 0 || odgm !== undefined || state !== undefined,
  },
  oneEnforcement,
);

/** One class in one cluster: its desired state and its status. */
export const classRuntime = kubernetesObject("ClassRuntime", spec, z.object(classStatusFields));

/** A ClassRuntime after parsing, with defaults. */
export type ClassRuntime = z.output<typeof classRuntime>;
/** A ClassRuntime before parsing. */
export type ClassRuntimeInput = ObjectInput<typeof classRuntime>;
export type ClassRuntimeSpec = ClassRuntime["spec"];
export type ClassRuntimeStatus = NonNullable<ClassRuntime["status"]>;
export type ClassFunction = NonNullable<ClassRuntimeSpec["functions"]>[number];
