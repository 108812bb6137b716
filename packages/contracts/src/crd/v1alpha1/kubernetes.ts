import { z } from "zod";
import { keyedList, mapOf } from "../collections.ts";
import { withRules } from "../rule.ts";
import { count, intOrQuantity } from "./scalars.ts";

/*
 * Kubernetes' own things, in Kubernetes' own spelling (camelCase), so that a reader may copy them from a pod.
 * Only the members that CRM passes on are listed; the API server names the others when validation is strict.
 */

const objectName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/);

const resourceAmounts = mapOf(intOrQuantity, 16);

/** Requests and limits of one container, by resource name. */
export const containerResources = z.object({
  requests: resourceAmounts.optional().describe("What the scheduler sets aside, e.g. {cpu: 200m, memory: 512Mi}."),
  limits: resourceAmounts.optional().describe("What the container may never exceed."),
});

/** A reference to an object of the same namespace. */
export const localReference = z.object({ name: objectName.describe("Name of the object.") });

/** One toleration of a node's taint. */
export const toleration = z.object({
  key: z.string().max(316).optional().describe("Taint key; absent with operator Exists matches every taint."),
  operator: z.enum(["Exists", "Equal"]).optional().describe("How the key is compared; Equal when absent."),
  value: z.string().max(63).optional().describe("Taint value, with operator Equal."),
  effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).optional().describe("Effect; absent matches all."),
  tolerationSeconds: count.optional().describe("How long a NoExecute taint is tolerated."),
});

/** Labels a node must carry. */
export const nodeSelector = mapOf(z.string().max(63), 32);

const SOURCES = ["emptyDir", "configMap", "secret", "persistentVolumeClaim"] as const;

const volume = withRules(
  z.object({
    name: z
      .string()
      .min(1)
      .max(63)
      .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)
      .describe("Name that volume_mounts refer to."),
    emptyDir: z
      .object({
        medium: z.enum(["", "Memory"]).optional().describe("Memory for a tmpfs."),
        sizeLimit: intOrQuantity.optional().describe("Largest size."),
      })
      .optional()
      .describe("An empty folder that lives as long as the pod."),
    configMap: z
      .object({ name: objectName.describe("ConfigMap."), optional: z.boolean().optional().describe("May be absent.") })
      .optional()
      .describe("The entries of a ConfigMap as files."),
    secret: z
      .object({
        secretName: objectName.describe("Secret."),
        optional: z.boolean().optional().describe("May be absent."),
      })
      .optional()
      .describe("The entries of a Secret as files."),
    persistentVolumeClaim: z
      .object({ claimName: objectName.describe("Claim."), readOnly: z.boolean().optional().describe("Read only.") })
      .optional()
      .describe("An existing claim."),
  }),
  {
    cel: `[${SOURCES.map((source) => `has(self.${source})`).join(", ")}].exists_one(given, given)`,
    message: `a volume has exactly one source of ${SOURCES.join(", ")}`,
    holds: (value) => SOURCES.filter((source) => value[source] !== undefined).length === 1,
  },
);

const volumeMount = z.object({
  name: z.string().min(1).max(63).describe("Name of one of the volumes."),
  mountPath: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^\/[^:]*$/)
    .describe("Absolute path inside the container."),
  subPath: z.string().max(1024).optional().describe("Path inside the volume."),
  readOnly: z.boolean().optional().describe("Whether writing is refused."),
});

/** Volumes of a function's pod, by name. */
export const volumes = keyedList(volume, "name", 32);

/** Where the volumes appear in the container, by path. */
export const volumeMounts = keyedList(volumeMount, "mountPath", 32);
