import { z } from "zod";
import { absentNulls } from "../null-members.ts";

/** Group and version of all our kinds. */
export const GROUP = "oaas.io";
export const VERSION = "v1alpha1";
export const API_VERSION = `${GROUP}/${VERSION}` as const;

/** Names are used as label values, which have this limit. */
export const MAX_NAME_LENGTH = 63;

const text = z.record(z.string(), z.string());

/** The metadata that we read; other fields pass through. */
export const objectMeta = z.looseObject({
  name: z.string().min(1).max(MAX_NAME_LENGTH),
  namespace: z.string().optional(),
  uid: z.string().optional(),
  resourceVersion: z.string().optional(),
  generation: z.number().optional(),
  creationTimestamp: z.string().optional(),
  deletionTimestamp: z.string().optional(),
  labels: text.optional(),
  annotations: text.optional(),
  finalizers: z.array(z.string()).optional(),
});

/** The schema of an object of one of our kinds. */
export function kubernetesObject<K extends string, Spec extends z.ZodType, Status extends z.ZodType>(
  kind: K,
  spec: Spec,
  status: Status,
) {
  return z.object({
    apiVersion: z.literal(API_VERSION),
    kind: z.literal(kind),
    metadata: objectMeta,
    spec: absentNulls(spec),
    status: absentNulls(status).optional(),
  });
}

/** An object before parsing; `Schema` is the result of `kubernetesObject`. */
export type ObjectInput<Schema extends ReturnType<typeof kubernetesObject>> = Omit<
  z.input<Schema>,
  "spec" | "status"
> & {
  readonly spec: z.input<Schema["shape"]["spec"]["out"]>;
  readonly status?: z.input<ReturnType<Schema["shape"]["status"]["unwrap"]>["out"]>;
};
