import { z } from "zod";
import type { Codec } from "./resource.ts";
import { WireScalar } from "./wire-scalar.ts";

/** A value in the shape of Kubernetes, by a schema that the custom resources share. As there, null means absent. */
export function kubernetesValue<Value>(schema: z.ZodType<Value>): Codec<Value, z.ZodType<Value>> {
  return { read: z.preprocess(plainValue, schema), view: schema, write: (value) => value };
}

/** YAML scalars by their value: as in Kubernetes, a number is not a string. */
function plainValue(value: unknown): unknown {
  if (value instanceof WireScalar) return value.value;
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, plainValue(member)]));
}
