import { DATA_KEY, FILE_FIELD_PATH, VOLUME_FILE_PATH, MOUNT_PATH, VOLUME_NAME } from "@oaas/models";
import { z } from "zod";
import { keyedList } from "../crd/collections.ts";
import { exactlyOneOf, withRules } from "../crd/rule.ts";
import { intOrQuantity } from "../crd/v1alpha1/scalars.ts";
import { objectName, optional } from "./env.ts";
import { ruledText, wholeNumber } from "./text.ts";

const mode = wholeNumber(0, 0o777).optional();
const defaultMode = mode.describe("Permission bits of the files, as a decimal number.");
const filePath = ruledText(VOLUME_FILE_PATH);

const items = z
  .array(
    z.object({
      key: ruledText(DATA_KEY).describe("Key."),
      path: filePath.describe("Path of the file in the volume."),
      mode: mode.describe("Permission bits of the file, as a decimal number."),
    }),
  )
  .max(64)
  .optional()
  .describe("Keys to write as files. Default: all.");

const PROJECTIONS = ["secret", "configMap", "downwardAPI", "serviceAccountToken"] as const;

const projection = withRules(
  z.object({
    secret: z
      .object({ name: objectName.describe("Name of the Secret."), items, optional })
      .optional()
      .describe("Keys of a Secret."),
    configMap: z
      .object({ name: objectName.describe("Name of the ConfigMap."), items, optional })
      .optional()
      .describe("Keys of a ConfigMap."),
    downwardAPI: z
      .object({
        items: z
          .array(
            z.object({
              path: filePath.describe("Path of the file in the volume."),
              fieldRef: z
                .object({ fieldPath: ruledText(FILE_FIELD_PATH).describe("Path of the field.") })
                .describe("Field of the pod."),
            }),
          )
          .min(1)
          .max(32)
          .describe("Files."),
      })
      .optional()
      .describe("Fields of the pod."),
    serviceAccountToken: z
      .object({
        path: filePath.describe("Path of the file in the volume."),
        audience: z.string().min(1).max(253).optional().describe("Audience of the token."),
        expirationSeconds: wholeNumber(600).optional().describe("Lifetime of the token. Default: 3600."),
      })
      .optional()
      .describe("Token of the service account."),
  }),
  exactlyOneOf("a source", PROJECTIONS),
);

const SOURCES = ["secret", "configMap", "emptyDir", "persistentVolumeClaim", "projected"] as const;

const volume = withRules(
  z.object({
    name: ruledText(VOLUME_NAME).describe("Name of the volume, referenced by volumeMounts."),
    secret: z
      .object({ secretName: objectName.describe("Name of the Secret."), items, defaultMode, optional })
      .optional()
      .describe("Secret mounted as files."),
    configMap: z
      .object({ name: objectName.describe("Name of the ConfigMap."), items, defaultMode, optional })
      .optional()
      .describe("ConfigMap mounted as files."),
    emptyDir: z
      .object({
        medium: z.enum(["", "Memory"]).optional().describe("Storage medium; Memory for tmpfs."),
        sizeLimit: intOrQuantity.optional().describe("Size limit."),
      })
      .optional()
      .describe("Empty directory with the lifetime of the pod."),
    persistentVolumeClaim: z
      .object({
        claimName: objectName.describe("Name of the PersistentVolumeClaim."),
        readOnly: z.boolean().optional().describe("Whether to mount read-only."),
      })
      .optional()
      .describe("Existing PersistentVolumeClaim."),
    projected: z
      .object({ sources: z.array(projection).min(1).max(16).describe("Sources."), defaultMode })
      .optional()
      .describe("Several sources in one directory."),
  }),
  exactlyOneOf("a volume", SOURCES),
);

const volumeMount = z.object({
  name: ruledText(VOLUME_NAME).describe("Name of the volume."),
  mountPath: ruledText(MOUNT_PATH).describe("Absolute path in the container."),
  subPath: filePath.optional().describe("Path in the volume."),
  readOnly: z.boolean().optional().describe("Whether to mount read-only."),
});

/** Volumes of the pod, by name. */
export const volumes = keyedList(volume, "name", 32);

/** Volume mounts of the container, by path. */
export const volumeMounts = keyedList(volumeMount, "mountPath", 32);
