import { TOPOLOGY_KEY, type PodSettings } from "@oaas/models";
import { z } from "zod";
import { keyedList, mapOf } from "../crd/collections.ts";
import { withRules } from "../crd/rule.ts";
import { intOrQuantity } from "../crd/v1alpha1/scalars.ts";
import { env, envFrom, objectName } from "./env.ts";
import { probe, restartingProbe } from "./probes.ts";
import { ruledText, wholeNumber } from "./text.ts";
import { volumeMounts, volumes } from "./volumes.ts";

const words = z.array(z.string().max(32_768)).min(1).max(128);

const securityContext = z.object({
  runAsUser: wholeNumber(1).optional().describe("User id; not 0. Default: 65532."),
  runAsGroup: wholeNumber(0).optional().describe("Group id. Default: 65532."),
  runAsNonRoot: z.literal(true).optional().describe("Always true."),
  readOnlyRootFilesystem: z.boolean().optional().describe("Whether the root file system is read-only."),
  allowPrivilegeEscalation: z.literal(false).optional().describe("Always false."),
  capabilities: z
    .object({
      drop: z
        .array(z.string().min(1).max(64))
        .max(64)
        .optional()
        .describe("Dropped capabilities; ALL is always added."),
      add: z
        .array(z.enum(["NET_BIND_SERVICE"]))
        .max(1)
        .optional()
        .describe("Added capabilities."),
    })
    .optional()
    .describe("Linux capabilities."),
  seccompProfile: withRules(
    z.object({
      type: z.enum(["RuntimeDefault", "Localhost"]).describe("Profile type."),
      localhostProfile: z
        .string()
        .min(1)
        .max(1024)
        .regex(/^[\w-][\w./-]*$/)
        .optional()
        .describe("File of a Localhost profile."),
    }),
    {
      cel: "(self.type == 'Localhost') == has(self.localhostProfile)",
      message: "localhostProfile belongs to type Localhost",
      at: "localhostProfile",
      fix: "set localhostProfile with type Localhost, and only then",
      holds: ({ type, localhostProfile }) => (type === "Localhost") === (localhostProfile !== undefined),
    },
  )
    .optional()
    .describe("Seccomp profile. Default: RuntimeDefault."),
});

const nodePolicy = z.enum(["Honor", "Ignore"]).optional();

const topologySpread = withRules(
  z.object({
    maxSkew: wholeNumber(1).describe("Largest difference of pods between two domains."),
    topologyKey: ruledText(TOPOLOGY_KEY).describe("Node label whose values are the domains."),
    whenUnsatisfiable: z.enum(["DoNotSchedule", "ScheduleAnyway"]).describe("What the scheduler does otherwise."),
    minDomains: wholeNumber(1).optional().describe("Least number of domains, with DoNotSchedule."),
    nodeAffinityPolicy: nodePolicy.describe("Whether nodes outside the node affinity count."),
    nodeTaintsPolicy: nodePolicy.describe("Whether tainted nodes count."),
  }),
  {
    cel: "!has(self.minDomains) || self.whenUnsatisfiable == 'DoNotSchedule'",
    message: "minDomains needs whenUnsatisfiable DoNotSchedule",
    at: "minDomains",
    fix: "use whenUnsatisfiable: DoNotSchedule, or remove minDomains",
    holds: ({ minDomains, whenUnsatisfiable }) => minDomains === undefined || whenUnsatisfiable === "DoNotSchedule",
  },
);

const amounts = mapOf(intOrQuantity, 16);

/**
 * The pod settings of a function: the only declaration of them. REST, the custom resources and the structured field of
 * the gRPC contract are read by it.
 */
export const podSettings = {
  env: env.describe("Environment variables; names that the platform sets are refused."),
  envFrom: envFrom.describe("Secrets and ConfigMaps whose keys become environment variables."),
  command: words.describe("Replaces the entry point of the image."),
  args: words.describe("Replaces the arguments of the image."),
  startupProbe: restartingProbe.describe("Holds back the other probes until it succeeds."),
  readinessProbe: probe.describe("Whether a replica receives requests."),
  livenessProbe: restartingProbe.describe("Restarts the container when it fails."),
  volumes: volumes.describe("Volumes of the pod."),
  volumeMounts: volumeMounts.describe("Volume mounts of the container."),
  resources: z
    .object({
      requests: amounts.optional().describe("Requests, by resource."),
      limits: amounts.optional().describe("Limits, by resource, such as {nvidia.com/gpu: 1}."),
    })
    .describe("Extended resources and ephemeral-storage. CPU and memory have their own fields."),
  securityContext: securityContext.describe("Security context, within the Pod Security standard restricted."),
  imagePullSecrets: z
    .array(z.object({ name: objectName.describe("Name of the Secret.") }))
    .max(16)
    .describe("Secrets to pull the image with; they replace those of the environment."),
  serviceAccountName: objectName.describe("Service account; its token is mounted."),
  topologySpreadConstraints: keyedList(topologySpread, ["topologyKey", "whenUnsatisfiable"], 8).describe(
    "Spread of the function's pods; replaces the template's. The selector is the function's.",
  ),
  priorityClassName: objectName.describe("PriorityClass of the pods."),
} satisfies { readonly [Name in keyof PodSettings]-?: z.ZodType<NonNullable<PodSettings[Name]>> };
