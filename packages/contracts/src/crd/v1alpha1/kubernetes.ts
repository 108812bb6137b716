import { z } from "zod";
import { keyedList, mapOf } from "../collections.ts";
import { withRules } from "../rule.ts";
import { count, intOrQuantity } from "./scalars.ts";

/*
 * Types taken from Kubernetes, with their camelCase names, so that they can be copied from a pod spec. Only the fields that
 * the class runtime manager passes on are included; strict validation reports the others.
 */

const objectName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/);

const resourceAmounts = mapOf(intOrQuantity, 16);

/** Requests and limits of one container, by resource name. */
export const containerResources = z.object({
  requests: resourceAmounts.optional().describe("Resource requests, e.g. {cpu: 200m, memory: 512Mi}."),
  limits: resourceAmounts.optional().describe("Resource limits."),
});

/** A reference to an object of the same namespace. */
export const localReference = z.object({ name: objectName.describe("Name of the object.") });

/** One toleration of a node's taint. */
export const toleration = z.object({
  key: z.string().max(316).optional().describe("Taint key; when absent, operator Exists matches every taint."),
  operator: z.enum(["Exists", "Equal"]).optional().describe("Operator. Default: Equal."),
  value: z.string().max(63).optional().describe("Taint value, with operator Equal."),
  effect: z
    .enum(["NoSchedule", "PreferNoSchedule", "NoExecute"])
    .optional()
    .describe("Taint effect; matches all when absent."),
  tolerationSeconds: count.optional().describe("Seconds a NoExecute taint is tolerated."),
});

/** Required node labels. */
export const nodeSelector = mapOf(z.string().max(63), 32);

const SOURCES = ["emptyDir", "configMap", "secret", "persistentVolumeClaim"] as const;

const volume = withRules(
  z.object({
    name: z
      .string()
      .min(1)
      .max(63)
      .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)
      .describe("Volume name, referenced by volume_mounts."),
    emptyDir: z
      .object({
        medium: z.enum(["", "Memory"]).optional().describe("Storage medium; Memory for tmpfs."),
        sizeLimit: intOrQuantity.optional().describe("Size limit."),
      })
      .optional()
      .describe("Empty directory with the lifetime of the pod."),
    configMap: z
      .object({
        name: objectName.describe("ConfigMap name."),
        optional: z.boolean().optional().describe("Whether the object may be missing."),
      })
      .optional()
      .describe("ConfigMap mounted as files."),
    secret: z
      .object({
        secretName: objectName.describe("Secret name."),
        optional: z.boolean().optional().describe("Whether the object may be missing."),
      })
      .optional()
      .describe("Secret mounted as files."),
    persistentVolumeClaim: z
      .object({
        claimName: objectName.describe("PersistentVolumeClaim name."),
        readOnly: z.boolean().optional().describe("Whether to mount read-only."),
      })
      .optional()
      .describe("Existing PersistentVolumeClaim."),
  }),
  {
    cel: `[${SOURCES.map((source) => `has(self.${source})`).join(", ")}].exists_one(given, given)`,
    message: `a volume must have exactly one source of ${SOURCES.join(", ")}`,
    holds: (value) => SOURCES.filter((source) => value[source] !== undefined).length === 1,
  },
);

const volumeMount = z.object({
  name: z.string().min(1).max(63).describe("Volume name."),
  mountPath: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^\/[^:]*$/)
    .describe("Absolute path in the container."),
  subPath: z.string().max(1024).optional().describe("Path in the volume."),
  readOnly: z.boolean().optional().describe("Whether to mount read-only."),
});

/** Volumes of a function's pod, by name. */
export const volumes = keyedList(volume, "name", 32);

/** Volume mounts of the container, by path. */
export const volumeMounts = keyedList(volumeMount, "mountPath", 32);
